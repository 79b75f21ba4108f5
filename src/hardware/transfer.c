#include "hardware/transfer.h"

#include "config/cache.h"
#include "config/datadir.h"

#include <string.h>

const struct name_value transfer_kind_names[] = { { "dispatch", TRANSFER_DISPATCH },
                                                  { "combine", TRANSFER_COMBINE },
                                                  { NULL, 0 } };

/* "Hybrid-EP" of NVIDIA's developer blog (Feb 2026): 8 SMs fill the NVLinks of 8 H100,
 * 16 those of 36 Grace Blackwell GPUs: 45 GB/s an SM. The rate is left to the links. Start:
 * as DeepEP's (inferred). */
const struct transfer transfer_hybrid = { .software = "hybridep",
                                          .start_s = 35e-6,
                                          .token_Bps = 1e15,
                                          .copy_Bps = 45e9,
                                          .rate_Bps = 1e15 };

struct transfers_raw {
    struct transfers all;
    struct cfg rows;
};

static const struct cfg_field file_fields[] = {
    CFG_ROW("transfers", CFG_T_CHILD, struct transfers_raw, rows, .required = true),
    CFG_STRING("provenance", struct transfers_raw, all.provenance),
    CFG_END,
};

#define TIME(k, m) CFG_QUANTITY(k, struct transfer, m, UNIT_SECONDS, 0, 1e-2)
#define RATE(k, m)                                                           \
    CFG_ROW(k, CFG_T_QUANTITY, struct transfer, m, .unit = UNIT_BYTES_PER_S, \
            .min = 1e6, .max = 1e18, .required = true)

static const struct cfg_field transfer_fields[] = {
    CFG_ROW("software", CFG_T_STRING, struct transfer, software, .required = true),
    CFG_ROW("of", CFG_T_ENUM, struct transfer, kind, .required = true,
            .names = transfer_kind_names),
    TIME("start", start_s),
    TIME("token", token_s),
    RATE("token_rate", token_Bps),
    TIME("copy", copy_s),
    RATE("copy_rate", copy_Bps),
    RATE("rate", rate_Bps),
    CFG_END,
};

static int read_transfers(struct transfers_raw *raw, struct arena *arena,
                          struct cfg file)
{
    if (cfg_read(file, file_fields, raw))
        return -1;
    if (!cfg_is_array(raw->rows) || cfg_len(raw->rows) == 0)
        return cfg_error(raw->rows, DIAG_WRONG_TYPE,
                         "should be an array of objects, one for each direction of a "
                         "software's release");
    int64_t n = cfg_len(raw->rows);
    struct transfer *v = ARENA_ARRAY(arena, n, struct transfer);
    int rc = 0;
    for (int64_t i = 0; i < n; i++)
        rc |= cfg_read(cfg_at(raw->rows, i), transfer_fields, &v[i]);
    raw->all.n = n;
    raw->all.v = v;
    return rc;
}

static const void *make_transfers(struct cfg_loader *loader, const char *name,
                                  struct cfg where)
{
    struct transfers_raw *raw = ARENA_NEW(&loader->arena, struct transfers_raw);
    struct cfg file = datadir_load(loader, "topologies/transfers", name, where);
    if (!cfg_present(file) || read_transfers(raw, &loader->arena, file))
        return NULL;
    return &raw->all;
}

const struct transfers *transfers_get(struct cfg_loader *loader, const char *gpu,
                                      struct cfg where)
{
    return cache_get(loader, "transfers", gpu, where, make_transfers);
}

const struct transfer *transfers_find(const struct transfers *all, const char *software,
                                      enum transfer_kind kind)
{
    const struct transfer *found = NULL;
    for (int64_t i = 0; i < all->n; i++) {
        const struct transfer *t = &all->v[i];
        if (t->kind == (int)kind &&
            (!found || (software && strcmp(t->software, software) == 0)))
            found = t;
    }
    return found;
}
