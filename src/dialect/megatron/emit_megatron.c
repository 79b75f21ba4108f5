/* A scenario as a shell script that starts Megatron-LM (megatron/training/arguments.py),
 * which megatron*.c read back: each option as its row says. */
#include "dialect/emit/emit_parts.h"
#include "dialect/megatron/megatron.h"
#include "model/graphs.h"
#include "model/recipe.h"
#include "model/regions.h"
#include "scenario/libraries.h"
#include "scenario/states.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What no field says alone --------------------------------------------------------- */

static json_t *flag(bool on)
{
    return on ? json_true() : NULL;
}

/* fp8 is in addition to bf16. */
json_t *megatron_give_bf16(const struct scenario *s)
{
    enum op_precision p = s->training.precision;
    return flag(p == OP_BF16 || op_recipe_of(p) || p == OP_AMP_BF16);
}

json_t *megatron_give_fp16(const struct scenario *s)
{
    enum op_precision p = s->training.precision;
    return flag(p == OP_FP16 || p == OP_AMP_FP16);
}

/* Own layers have the fused softmax, where nothing else is said, and are those of
 * Megatron-LM before Megatron-Core. */
json_t *megatron_give_layers(const struct scenario *s)
{
    bool softmax = s->training.attention == OP_ATTENTION_FUSED_SOFTMAX,
         before = strcmp(s->training.framework->name, "megatron-2022") == 0;
    return softmax || before ? json_string("local") : NULL;
}

/* Its own size is the rule's, unless an option says another, in elements. */
json_t *megatron_give_bucket(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    double wire_B = states_wire_B(s);
    int64_t own = library_bucket_B(library_of(p), p->data * p->context, wire_B);
    bool given =
        p->reduce.overlap && p->reduce.bucket_B > 0 && p->reduce.bucket_B != own;
    return given ? json_integer((json_int_t)((double)p->reduce.bucket_B / wire_B))
                 : NULL;
}

/* fp16 alone sums in fp16 unless set. */
json_t *megatron_give_wide(const struct scenario *s)
{
    return flag(s->training.precision == OP_FP16 &&
                s->training.gradient_dtype != DTYPE_FP16);
}

json_t *megatron_give_instances(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    int64_t n = p->shard.strategy == SHARDING_OPTIMIZER && p->shard.degree > 0
                    ? p->data * p->context / p->shard.degree
                    : 1;
    return n > 1 ? json_integer((json_int_t)n) : NULL;
}

json_t *megatron_give_captures(const struct scenario *s)
{
    return s->training.graphs ? json_string("transformer_engine") : NULL;
}

/* "attn moe_router"; without one the whole layer. */
json_t *megatron_give_scope(const struct scenario *s)
{
    uint32_t graphs = s->training.graphs & ~(1u << OP_GRAPH_LAYER);
    struct strbuf b;
    if (!graphs)
        return NULL;
    strbuf_init(&b);
    for (int g = 0; g < OP_GRAPHS; g++)
        if (graphs >> g & 1)
            strbuf_printf(&b, "%s%s", b.len ? " " : "", names_of(op_graph_names, g));
    json_t *text = json_string(strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

/* A layout says how many chunks there are. */
json_t *megatron_give_virtual(const struct scenario *s)
{
    const struct parallelism_stages *p = &s->parallel.stages;
    bool written = p->virtual_stages > 1 && p->partition != PARTITION_MANUAL;
    return written ? json_integer((json_int_t)p->virtual_stages) : NULL;
}

json_t *megatron_give_exchange(const struct scenario *s)
{
    static const char *const words[] = { [OP_CONTEXT_RING] = "p2p",
                                         [OP_CONTEXT_GATHER] = "all_gather",
                                         [OP_CONTEXT_HEADS] = "a2a",
                                         [OP_CONTEXT_BOTH] = "a2a+p2p" };
    return s->parallel.context > 1 ? json_string(words[s->parallel.context_comm])
                                   : NULL;
}

/* "2 4": the all-to-all's and the ring's. */
json_t *megatron_give_levels(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    char text[64];
    if (p->context == 1 || p->context_comm != OP_CONTEXT_BOTH)
        return NULL;
    snprintf(text, sizeof(text), "%" PRId64 " %" PRId64, p->context_inner,
             p->context / p->context_inner);
    return json_string(text);
}

/* "Ettt|tttt|tttL". */
json_t *megatron_give_layout(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    int64_t n = p->pipeline * p->stages.virtual_stages;
    struct strbuf b;
    if (p->pipeline == 1 || p->stages.partition != PARTITION_MANUAL)
        return NULL;
    strbuf_init(&b);
    strbuf_addch(&b, 'E');
    for (int64_t i = 0; i < n; i++) {
        if (i > 0)
            strbuf_addch(&b, '|');
        if (p->stages.layers[i] > 0)
            strbuf_printf(&b, "t*%" PRId64, p->stages.layers[i]);
        bool further = p->stages.mtp_part < 0 ? i == n - 1 : i == p->stages.mtp_part;
        for (int64_t k = 0; further && k < s->training.mtp_layers; k++)
            strbuf_addch(&b, 'm');
    }
    strbuf_addch(&b, 'L');
    json_t *text = json_string(strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

json_t *megatron_give_embedding(const struct scenario *s)
{
    enum partition_method m = s->parallel.stages.partition;
    return flag(s->parallel.pipeline > 1 &&
                (m == PARTITION_UNIFORM_EMBEDDING || m == PARTITION_UNIFORM_BOTH));
}

json_t *megatron_give_loss(const struct scenario *s)
{
    enum partition_method m = s->parallel.stages.partition;
    return flag(s->parallel.pipeline > 1 &&
                (m == PARTITION_UNIFORM_HEAD || m == PARTITION_UNIFORM_BOTH));
}

/* Megatron's own default is to gather. */
json_t *megatron_give_dispatcher(const struct scenario *s)
{
    static const char *const types[] = { [DISPATCHER_ALLTOALL] = "alltoall",
                                         [DISPATCHER_ALLGATHER] = "allgather",
                                         [DISPATCHER_DEEPEP] = "flex",
                                         [DISPATCHER_HYBRIDEP] = "flex" };
    return s->parallel.expert > 1 ? json_string(types[s->parallel.dispatch.kind])
                                  : NULL;
}

static bool moves_by(const struct scenario *s, enum dispatcher kind)
{
    return s->parallel.expert > 1 && s->parallel.dispatch.kind == kind;
}

json_t *megatron_give_backend(const struct scenario *s)
{
    return moves_by(s, DISPATCHER_DEEPEP)     ? json_string("deepep")
           : moves_by(s, DISPATCHER_HYBRIDEP) ? json_string("hybridep")
                                              : NULL;
}

json_t *megatron_give_deepep_sms(const struct scenario *s)
{
    return moves_by(s, DISPATCHER_DEEPEP)
               ? json_integer((json_int_t)s->parallel.dispatch.sms)
               : NULL;
}

json_t *megatron_give_hybridep_sms(const struct scenario *s)
{
    return moves_by(s, DISPATCHER_HYBRIDEP)
               ? json_integer((json_int_t)s->parallel.dispatch.sms)
               : NULL;
}

json_t *megatron_give_shared_overlap(const struct scenario *s)
{
    return flag(s->parallel.expert > 1 &&
                s->parallel.dispatch.overlap == EXPERT_OVERLAP_SHARED);
}

json_t *megatron_give_pairs(const struct scenario *s)
{
    return flag(s->parallel.expert > 1 &&
                s->parallel.dispatch.overlap == EXPERT_OVERLAP_MICROBATCHES);
}

json_t *megatron_give_grouped(const struct scenario *s)
{
    return flag(s->model.attention.kv_heads != s->model.attention.heads);
}

/* Megatron pads to a multiple a tensor rank. */
json_t *megatron_give_padding(const struct scenario *s)
{
    int64_t padding = emit_whole(s, "/training/vocab_padding"),
            tensor = s->parallel.tensor;
    return json_integer((json_int_t)(padding >= tensor ? padding / tensor : 1));
}

/* Layers of one checkpoint; 0: not by layers. */
static int64_t recomputed(const struct training *t)
{
    if (t->checkpointing == CHECKPOINT_FULL && t->checkpoint_every == 1)
        return t->checkpoint_block > 0 ? t->checkpoint_block : 1;
    bool group =
        t->checkpointing == CHECKPOINT_GROUP && t->checkpoint_group < INT64_MAX;
    return group ? t->checkpoint_group : 0;
}

json_t *megatron_give_granularity(const struct scenario *s)
{
    if (s->training.checkpointing == CHECKPOINT_SELECTIVE)
        return json_string("selective");
    return recomputed(&s->training) ? json_string("full") : NULL;
}

json_t *megatron_give_method(const struct scenario *s)
{
    bool block = s->training.checkpointing == CHECKPOINT_FULL &&
                 s->training.checkpoint_block > 0;
    return recomputed(&s->training) ? json_string(block ? "block" : "uniform") : NULL;
}

/* "moe_act layernorm"; attention alone is the default. */
json_t *megatron_give_modules(const struct scenario *s)
{
    const struct training *t = &s->training;
    struct strbuf b;
    if (t->checkpointing != CHECKPOINT_SELECTIVE ||
        t->recompute_modules == 1u << OP_REGION_CORE)
        return NULL;
    strbuf_init(&b);
    for (int r = 0; r < OP_REGIONS; r++)
        if (t->recompute_modules >> r & 1)
            strbuf_printf(&b, "%s%s", b.len ? " " : "", names_of(op_region_names, r));
    json_t *text = json_string(strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

json_t *megatron_give_group(const struct scenario *s)
{
    int64_t n = recomputed(&s->training);
    return n ? json_integer((json_int_t)n) : NULL;
}

/* The script ----------------------------------------------------------------------- */

/* A line of the command; flags stand alone. */
static void put_option(void *arg, const char *path, const char *name, json_t *value)
{
    struct strbuf *out = arg;
    char *text = json_is_string(value)
                     ? NULL
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    (void)path;
    strbuf_printf(out, " \\\n    %s", name);
    const char *word = text ? text : json_string_value(value);
    bool quoted = word && strpbrk(word, "|*");
    if (!json_is_true(value))
        strbuf_printf(out, quoted ? " '%s'" : " %s", word);
    free(text);
    json_decref(value);
}

int emit_megatron(struct strbuf *out, const struct emit_source *e, struct err *err)
{
    const struct scenario *s = e->s;
    const struct parallelism *p = &s->parallel;
    if (library_of(p) != &library_megatron)
        return err_set(err,
                       "Megatron's arguments are for the library megatron, not for "
                       "%s (--emit scenario has any)",
                       library_of(p)->name);
    if (s->model.arch == MODEL_ENCODER_DECODER)
        return err_set(err,
                       "Megatron's models of an encoder and a decoder are not "
                       "simulated (--emit scenario has %s)",
                       s->model.label);
    emit_exports(out, s);
    strbuf_addstr(out, "export CUDA_DEVICE_MAX_CONNECTIONS=1\n");
    if (emit_torchrun(out, s,
                      s->model.arch == MODEL_ENCODER ? "pretrain_bert.py"
                                                     : "pretrain_gpt.py",
                      err))
        return -1;
    emit_options(megatron_tables, s, put_option, out);
    strbuf_addch(out, '\n');
    return 0;
}
