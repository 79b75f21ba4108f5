/* What is said of degrees that a job may have and a library has otherwise. */
#include "scenario/libraries.h"
#include "scenario/parse.h"

#include <inttypes.h>

/* BigCode's Megatron-LM has the keys of multi-query attention whole on each rank
 * (multi-query-attention, megatron/model/transformer.py: get_linear_layer), Megatron-
 * Core of 2025 those of a group on each of its ranks. */
static void note_copies(const struct parse_context *r)
{
    int64_t copies = op_keys_copies(
        &r->s->model, &(struct op_settings) {
                          .tensor = r->s->parallel.tensor,
                          .copies_keys = library_of(&r->s->parallel)->copies_keys });
    if (copies > 1)
        cfg_warn(cfg_get(r->parallelism, "tensor"), DIAG_APPROXIMATE,
                 "%" PRId64 " ranks hold a copy of each of the %" PRId64
                 " key-value heads, and the sum of the copies' gradients is left out",
                 copies, r->s->model.attention.kv_heads);
}

/* Degrees that a library has none of in its row: what is simulated is Megatron's. */
static void note_foreign(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const struct library_row *l = library_of(p);
    const struct {
        const char *key;
        int64_t degree;
        bool own;
    } rows[] = {
        { "tensor", p->tensor, l->tensor },
        { "pipeline", p->pipeline, l->pipeline },
        { "context", p->context,
          l->context || p->context_comm == OP_CONTEXT_HEADS }, /* DeepSpeed's Ulysses */
        { "expert", p->expert, l->expert || l->expert_tensor || l->dispatchers },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].degree > 1 && !rows[i].own)
            cfg_warn(cfg_get(r->parallelism, rows[i].key), DIAG_APPROXIMATE,
                     "no groups of %s's own are simulated: those of Megatron are, next "
                     "to its data parallelism",
                     l->title);
}

void degrees_note(const struct parse_context *r)
{
    note_copies(r);
    note_foreign(r);
}
