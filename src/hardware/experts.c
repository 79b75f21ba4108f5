#include "hardware/experts.h"

#include "config/cache.h"
#include "config/datadir.h"

#include <string.h>

struct experts_raw {
    struct experts_kernels all;
    struct cfg rows;
};

static const struct cfg_field file_fields[] = {
    CFG_ROW("experts", CFG_T_CHILD, struct experts_raw, rows, .required = true),
    CFG_STRING("provenance", struct experts_raw, all.provenance),
    CFG_END,
};

/* A row of the file. */
struct row {
    struct experts_kernel kernel;
    int format;
};

#define TIME(k, m, most) CFG_QUANTITY(k, struct row, kernel.m, UNIT_SECONDS, 0, most)

static const struct cfg_field row_fields[] = {
    CFG_ROW("software", CFG_T_STRING, struct row, kernel.software, .required = true),
    CFG_ROW("format", CFG_T_ENUM, struct row, format, .names = product_format_names,
            .required = true),
    CFG_ROW("eta", CFG_T_REAL, struct row, kernel.eta, .min = 0.01, .max = 1.5,
            .required = true),
    CFG_ROW("port", CFG_T_QUANTITY, struct row, kernel.port_Bps,
            .unit = UNIT_BYTES_PER_S, .min = 1e9, .max = 1e13, .required = true),
    CFG_ROW("hbm_frac", CFG_T_REAL, struct row, kernel.hbm_frac, .min = 0.01, .max = 1,
            .required = true),
    CFG_REAL("epilogue", struct row, kernel.epilogue, 0, 10),
    CFG_REAL("partial_waves", struct row, kernel.partial_waves, 0, 1),
    TIME("start", start_s, 1e-2),
    CFG_REAL("local_passes", struct row, kernel.local_passes, 0, 100),
    CFG_REAL("all_passes", struct row, kernel.all_passes, 0, 100),
    TIME("slot", slot_s, 1e-3),
    TIME("expert", expert_s, 1e-3),
    CFG_REAL("foreign", struct row, kernel.foreign, 0, 1),
    CFG_END,
};

static int read_row(struct experts_kernel *kernel, struct cfg cfg)
{
    struct row row = { .kernel = { .epilogue = 1 } };
    if (cfg_read(cfg, row_fields, &row))
        return -1;
    *kernel = row.kernel;
    kernel->format = &product_formats[row.format];
    return 0;
}

static int read_experts(struct experts_raw *raw, struct arena *arena, struct cfg file)
{
    if (cfg_read(file, file_fields, raw))
        return -1;
    if (!cfg_is_array(raw->rows) || cfg_len(raw->rows) == 0)
        return cfg_error(raw->rows, DIAG_WRONG_TYPE,
                         "should be an array of objects, one for a software's release "
                         "and a number format");
    int64_t n = cfg_len(raw->rows);
    struct experts_kernel *v = ARENA_ARRAY(arena, n, struct experts_kernel);
    int rc = 0;
    for (int64_t i = 0; i < n; i++)
        rc |= read_row(&v[i], cfg_at(raw->rows, i));
    raw->all.n = n;
    raw->all.v = v;
    return rc;
}

static const void *make_experts(struct cfg_loader *loader, const char *name,
                                struct cfg where)
{
    struct experts_raw *raw = ARENA_NEW(&loader->arena, struct experts_raw);
    struct cfg file = datadir_load(loader, "topologies/experts", name, where);
    if (!cfg_present(file) || read_experts(raw, &loader->arena, file))
        return NULL;
    return &raw->all;
}

const struct experts_kernels *experts_get(struct cfg_loader *loader, const char *gpu,
                                          struct cfg where)
{
    return cache_get(loader, "experts", gpu, where, make_experts);
}

/* 3: that release, 2: another of the same software, 1: other software, 0: no such
 * format. */
static int likeness(const struct experts_kernel *k, const char *software,
                    const char *format)
{
    size_t n = strcspn(software, " ");
    if (strcmp(k->format->name, format) != 0)
        return 0;
    if (strcmp(k->software, software) == 0)
        return 3;
    return strncmp(k->software, software, n) == 0 && k->software[n] == ' ' ? 2 : 1;
}

const struct experts_kernel *experts_find(const struct experts_kernels *all,
                                          const char *software, const char *format)
{
    const struct experts_kernel *best = NULL;
    int most = 0;
    for (int64_t i = 0; i < all->n; i++) {
        int is = likeness(&all->v[i], software, format);
        if (is > most) {
            most = is;
            best = &all->v[i];
        }
    }
    return best;
}

/* Models whose experts have no gate (relu squared): Nemotron-3 Nano, Super and Ultra
 * (NVIDIA, their config.json, mlp_hidden_act). Tables do not say it. */
static const struct {
    int64_t hidden, ffn;
} ungated[] = { { 2688, 1856 }, { 4096, 2688 }, { 2048, 5120 }, { 8192, 5120 } };

bool experts_are_gated(int64_t hidden, int64_t ffn)
{
    for (size_t i = 0; i < sizeof(ungated) / sizeof(ungated[0]); i++)
        if (hidden == ungated[i].hidden && ffn == ungated[i].ffn)
            return false;
    return true;
}
