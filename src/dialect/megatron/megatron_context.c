/* How a context group exchanges keys, values and heads: --cp-comm-type and
 * --hierarchical-context-parallel-sizes (megatron/training/arguments.py,
 * megatron/core/parallel_state.py, core_v0.19.0: the first size is that of the
 * all-to-all, the second that of the ring). */
#include "dialect/megatron/megatron.h"

#include <inttypes.h>
#include <string.h>

#define WIDE "/parallelism/"

/* A word, alone or of a list whose words are all the same; NULL: neither. */
static const char *word_of(const struct value *v)
{
    const char *word = v->kind == VALUE_STRING ? v->text : NULL;
    for (int32_t i = 0; v->kind == VALUE_LIST && i < v->n; i++) {
        const struct value *each = v->items[i].value;
        if (each->kind != VALUE_STRING || (word && strcmp(word, each->text) != 0))
            return NULL;
        word = each->text;
    }
    return word;
}

/* Ranks of the all-to-all; 0: the sizes are not two whose product is the group. */
static int64_t inner_of(struct launch_context *t, const struct value_item *sizes)
{
    int64_t n[2] = { 0 }, context = launch_number(t, WIDE "context", 1);
    const struct value *v = sizes ? sizes->value : NULL;
    bool ok = v && v->kind == VALUE_LIST && v->n == 2;
    for (int i = 0; i < 2 && ok; i++)
        ok = launch_whole(v->items[i].value, &n[i]) && n[i] > 0 && n[i] <= context;
    return ok && n[0] * n[1] == context ? n[0] : 0;
}

void megatron_take_context(struct launch_context *t, const struct value_item *how,
                           const struct value_item *sizes)
{
    static const struct dialect_word words[] = {
        { "p2p", "ring" },     { "all_gather", "all-gather" },
        { "a2a", "alltoall" }, { "a2a+p2p", "alltoall+ring" },
        { NULL, NULL },
    };
    launch_hear(t, how);
    launch_hear(t, sizes);
    bool given = how && how->value->kind != VALUE_NONE && launch_has(t, WIDE "context");
    const char *word = given ? word_of(how->value) : NULL;
    if (sizes && sizes->value->kind != VALUE_NONE &&
        (!given || (word && strcmp(word, "a2a+p2p") != 0)))
        launch_note(t->l, sizes->line, DIAG_WITHOUT_EFFECT,
                    "%s acts with --cp-comm-type a2a+p2p over context groups alone",
                    sizes->key);
    if (!given)
        return;
    const struct dialect_word *w = words;
    while (word && w->word && strcmp(w->word, word) != 0)
        w++;
    if (!word || !w->word) {
        launch_unresolved_item(
            t, WIDE "context_comm", how,
            "exchange of all layers (p2p, all_gather, a2a, a2a+p2p)");
        return;
    }
    if (strcmp(word, "a2a+p2p") == 0) {
        int64_t inner = inner_of(t, sizes);
        if (inner == 0) {
            launch_wrong_option(t, sizes ? sizes : how, DIAG_CONTRADICTION,
                                "a2a+p2p needs two sizes whose product is the context "
                                "group of %" PRId64 " ranks "
                                "(--hierarchical-context-parallel-sizes)",
                                launch_number(t, WIDE "context", 1));
            return;
        }
        launch_decide(t, WIDE "context_inner", json_integer((json_int_t)inner), sizes,
                      "");
    }
    launch_decide(t, WIDE "context_comm", json_string(w->value), how, "");
}
