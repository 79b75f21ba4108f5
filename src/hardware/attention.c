#include "hardware/attention.h"

#include "config/cache.h"
#include "config/datadir.h"

#include <string.h>

struct attentions_raw {
    struct attentions all;
    struct cfg rows;
};

static const struct cfg_field file_fields[] = {
    CFG_ROW("attentions", CFG_T_CHILD, struct attentions_raw, rows, .required = true),
    CFG_STRING("provenance", struct attentions_raw, all.provenance),
    CFG_END,
};

#define TIME(k, m, most) CFG_QUANTITY(k, struct attention, m, UNIT_SECONDS, 0, most)

static const struct cfg_field attention_fields[] = {
    CFG_ROW("software", CFG_T_STRING, struct attention, software, .required = true),
    CFG_STRING("kernel", struct attention, kernel),
    CFG_ROW("products", CFG_T_QUANTITY, struct attention, product_flops,
            .unit = UNIT_FLOP_PER_S, .min = 1e9, .max = 1e18, .required = true),
    TIME("softmax", softmax_s, 1e-6),
    CFG_REAL("tail", struct attention, tail, 0, 100),
    CFG_INT("half_blocks", struct attention, half_blocks, 1, 4096),
    TIME("start", start_s, 1e-2),
    CFG_ROW("moved", CFG_T_QUANTITY, struct attention, moved_Bps,
            .unit = UNIT_BYTES_PER_S, .min = 1e9, .max = 1e15, .required = true),
    TIME("block", block_s, 1e-2),
    CFG_QUANTITY("keys", struct attention, keys_Bps, UNIT_BYTES_PER_S, 1e9, 1e15),
    TIME("token", token_s, 1e-3),
    CFG_END,
};

static int read_attentions(struct attentions_raw *raw, struct arena *arena,
                           struct cfg file)
{
    if (cfg_read(file, file_fields, raw))
        return -1;
    if (!cfg_is_array(raw->rows) || cfg_len(raw->rows) == 0)
        return cfg_error(raw->rows, DIAG_WRONG_TYPE,
                         "should be an array of objects, one for a software's release");
    int64_t n = cfg_len(raw->rows);
    struct attention *v = ARENA_ARRAY(arena, n, struct attention);
    int rc = 0;
    for (int64_t i = 0; i < n; i++)
        rc |= cfg_read(cfg_at(raw->rows, i), attention_fields, &v[i]);
    raw->all.n = n;
    raw->all.v = v;
    return rc;
}

static const void *make_attentions(struct cfg_loader *loader, const char *name,
                                   struct cfg where)
{
    struct attentions_raw *raw = ARENA_NEW(&loader->arena, struct attentions_raw);
    struct cfg file = datadir_load(loader, "topologies/attention", name, where);
    if (!cfg_present(file) || read_attentions(raw, &loader->arena, file))
        return NULL;
    return &raw->all;
}

const struct attentions *attentions_get(struct cfg_loader *loader, const char *gpu,
                                        struct cfg where)
{
    return cache_get(loader, "attention", gpu, where, make_attentions);
}

/* 2: that release, 1: another of the same software. */
static int likeness(const struct attention *a, const char *software)
{
    size_t n = strcspn(software, " ");
    if (strcmp(a->software, software) == 0)
        return 2;
    return strncmp(a->software, software, n) == 0 && a->software[n] == ' ';
}

const struct attention *attentions_find(const struct attentions *all,
                                        const char *software)
{
    const struct attention *best = all->n > 0 ? &all->v[0] : NULL;
    for (int64_t i = 0; i < all->n; i++)
        if (likeness(&all->v[i], software) > likeness(best, software))
            best = &all->v[i];
    return best;
}
