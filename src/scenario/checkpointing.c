/* The key "activation_checkpointing" of training: a word, or which layers or modules are
 * computed again;
 * and "cuda_graphs", what of them is replayed. */
#include "model/graphs.h"
#include "model/regions.h"
#include "scenario/parse.h"

enum { CHECKPOINT_CONTIGUOUS = 100 }; /* one group: all layers of a stage */

/* clang-format off */
static const struct name_value words[] = {
    { "none", CHECKPOINT_NONE }, { "selective", CHECKPOINT_SELECTIVE },
    { "full", CHECKPOINT_FULL }, { "operators", CHECKPOINT_OPERATORS },
    { "contiguous", CHECKPOINT_CONTIGUOUS }, { NULL, 0 },
};
/* clang-format on */

struct raw_layers {
    int64_t group, every, block;
    struct cfg modules;
};

/* ["core_attn", "moe_act"] */
static int read_modules(struct training *t, struct cfg c)
{
    if (!cfg_is_array(c) || cfg_len(c) == 0)
        return cfg_error(c, DIAG_CONTRADICTION,
                         "should be a list of modules (write [\"core_attn\"])");
    for (int64_t i = 0; i < cfg_len(c); i++) {
        int v;
        if (cfg_enum(cfg_at(c, i), op_region_names, &v))
            return -1;
        t->recompute_modules |= 1u << v;
    }
    t->checkpointing = CHECKPOINT_SELECTIVE;
    return 0;
}

/* {"group": n}, one input for n layers; {"every": n}, one layer in n; {"block": n}, the
 * first n of a chunk; {"modules": [...]}, of each layer. */
static int read_object(struct training *t, struct cfg c)
{
    static const struct cfg_field fields[] = {
        CFG_INT("group", struct raw_layers, group, 1, 100000),
        CFG_INT("every", struct raw_layers, every, 1, 100000),
        CFG_INT("block", struct raw_layers, block, 1, 100000),
        CFG_CHILD("modules", struct raw_layers, modules),
        CFG_END,
    };
    static const char *const keys[] = { "group", "every", "block", "modules" };
    struct raw_layers w = { .group = 1, .every = 1 };
    int given = 0;
    for (int i = 0; i < 4; i++)
        given += cfg_present(cfg_get(c, keys[i]));
    t->checkpointing =
        cfg_present(cfg_get(c, "group")) ? CHECKPOINT_GROUP : CHECKPOINT_FULL;
    if (cfg_read(c, fields, &w))
        return -1;
    t->checkpoint_group = w.group;
    t->checkpoint_every = w.every;
    t->checkpoint_block = w.block;
    if (given != 1)
        return cfg_error(
            c, DIAG_CONTRADICTION,
            "should have one of \"group\" (layers that keep one input), "
            "\"every\" (one layer in so many is computed again), \"block\" "
            "(the first so many of a stage's chunk) and \"modules\"");
    return cfg_present(w.modules) ? read_modules(t, w.modules) : 0;
}

int checkpointing_read(struct training *t, struct cfg c)
{
    int v;
    t->checkpoint_group = 1;
    t->checkpoint_every = 1;
    if (!cfg_present(c))
        return 0;
    if (cfg_is_object(c))
        return read_object(t, c);
    if (cfg_enum(c, words, &v))
        return -1;
    if (v == CHECKPOINT_CONTIGUOUS) {
        v = CHECKPOINT_GROUP;
        t->checkpoint_group = INT64_MAX;
    }
    t->checkpointing = (enum checkpointing)v;
    if (v == CHECKPOINT_SELECTIVE)
        t->recompute_modules = 1u << OP_REGION_CORE;
    return 0;
}

/* One of the words, or several. */
int graphs_read(struct training *t, struct cfg c)
{
    int64_t n = cfg_is_array(c) ? cfg_len(c) : cfg_present(c);
    for (int64_t i = 0; i < n; i++) {
        int v;
        if (cfg_enum(cfg_is_array(c) ? cfg_at(c, i) : c, op_graph_names, &v))
            return -1;
        t->graphs |= 1u << v;
    }
    return 0;
}
