#include "hardware/product.h"

#include "base/vec.h"
#include "config/cache.h"
#include "config/datadir.h"

#include <string.h>

const struct product_format product_formats[] = {
    { "bf16", DTYPE_BF16 },           { "fp8", DTYPE_FP8 },
    { "fp8_block", DTYPE_FP8_BLOCK }, { "mxfp8", DTYPE_MXFP8 },
    { "nvfp4", DTYPE_NVFP4 },         { NULL, DTYPE_BF16 },
};

const struct name_value product_format_names[] = {
    { "bf16", 0 },  { "fp8", 1 },   { "fp8_block", 2 },
    { "mxfp8", 3 }, { "nvfp4", 4 }, { NULL, 0 },
};

const struct name_value gemm_tiles_names[] = {
    { "cublas-ampere", GEMM_TILES_AMPERE },
    { "cublas-hopper", GEMM_TILES_HOPPER },
    { "cutlass", GEMM_TILES_CUTLASS },
    { "cutlass-ada", GEMM_TILES_CUTLASS_ADA },
    { "cutlass-hopper", GEMM_TILES_CUTLASS_HOPPER },
    { "cutlass-blackwell", GEMM_TILES_CUTLASS_BLACKWELL },
    { NULL, 0 },
};

struct products_raw {
    struct products products;
    struct cfg rows;
};

static const struct cfg_field file_fields[] = {
    CFG_ROW("products", CFG_T_CHILD, struct products_raw, rows, .required = true),
    CFG_STRING("provenance", struct products_raw, products.provenance),
    CFG_END,
};

/* A row of the file. */
struct product_raw {
    struct product product;
    int format;
};

#define TIME(k, m, most) \
    CFG_QUANTITY(k, struct product_raw, product.m, UNIT_SECONDS, 0, most)

static const struct cfg_field product_fields[] = {
    CFG_ROW("software", CFG_T_STRING, struct product_raw, product.software,
            .required = true),
    CFG_ROW("format", CFG_T_ENUM, struct product_raw, format,
            .names = product_format_names, .required = true),
    CFG_ROW("tiles", CFG_T_ENUM, struct product_raw, product.tiles,
            .names = gemm_tiles_names, .required = true),
    CFG_ROW("eta", CFG_T_REAL, struct product_raw, product.gemm.eta, .min = 0.01,
            .max = 1.5, .required = true),
    CFG_ROW("port", CFG_T_QUANTITY, struct product_raw, product.gemm.port_Bps,
            .unit = UNIT_BYTES_PER_S, .min = 1e9, .max = 1e13, .required = true),
    CFG_REAL("port_gain", struct product_raw, product.gemm.port_gain, 1, 16),
    CFG_ROW("hbm_frac", CFG_T_REAL, struct product_raw, product.gemm.hbm_frac,
            .min = 0.01, .max = 1, .required = true),
    CFG_ROW("launch", CFG_T_QUANTITY, struct product_raw, product.gemm.launch_s,
            .unit = UNIT_SECONDS, .min = 0, .max = 1e-3, .required = true),
    CFG_REAL("epilogue", struct product_raw, product.gemm.epilogue, 0, 1),
    CFG_REAL("partial_waves", struct product_raw, product.gemm.partial_waves, 0, 1),
    TIME("split", gemm.split_s, 1e-3),
    TIME("latency", gemm.latency_s, 1e-6),
    CFG_REAL("loop_loss", struct product_raw, product.loop_loss, 0, 10),
    TIME("loop_half", loop_half_s, 1),
    CFG_REAL("quantize_frac", struct product_raw, product.quantize_frac, 0.01, 10),
    TIME("quantize_row", quantize_row_s, 1e-3),
    CFG_INT("quantize_step", struct product_raw, product.quantize_step, 1, 1 << 20),
    TIME("host", host_s, 1e-1),
    CFG_END,
};

const struct product_format *product_format_find(const char *name)
{
    const struct product_format *f = product_formats;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name ? f : NULL;
}

double product_element_B(const struct product_format *format)
{
    return dtype_element_B(format->dtype);
}

double product_quantize_B(const struct product_format *format)
{
    return dtype_is_quantized(format->dtype) ? 2 + dtype_element_B(format->dtype) : 0;
}

double product_peak_flops(const struct gpu *gpu, const struct product_format *format)
{
    return gpu->peak_flops[format->dtype];
}

static int read_product(struct product *p, struct cfg row)
{
    struct product_raw raw = { .product = { .gemm = { .sustained = 1,
                                                      .epilogue = 1,
                                                      .misaligned = 1,
                                                      .misaligned_batch = 1 } } };
    if (cfg_read(row, product_fields, &raw))
        return -1;
    *p = raw.product;
    p->format = &product_formats[raw.format];
    if (p->quantize_row_s > 0 && p->quantize_frac <= 0)
        return cfg_error(
            row, DIAG_MISSING,
            "\"quantize_row\" is given without \"quantize_frac\" (say both, "
            "or none where the input comes quantized)");
    if (p->loop_loss > 0 && p->loop_half_s <= 0)
        return cfg_error(row, DIAG_MISSING,
                         "\"loop_loss\" is given without \"loop_half\" (the length to "
                         "which half of it is added)");
    return 0;
}

static int read_products(struct products_raw *raw, struct arena *arena, struct cfg file)
{
    if (cfg_read(file, file_fields, raw))
        return -1;
    if (!cfg_is_array(raw->rows))
        return cfg_error(raw->rows, DIAG_WRONG_TYPE,
                         "should be an array of objects, one for a software's release "
                         "and a number format");
    int64_t n = cfg_len(raw->rows);
    struct product *v = ARENA_ARRAY(arena, n + 1, struct product);
    int rc = 0;
    for (int64_t i = 0; i < n; i++)
        rc |= read_product(&v[i], cfg_at(raw->rows, i));
    raw->products.n = n;
    raw->products.v = v;
    return rc;
}

static const void *make_products(struct cfg_loader *loader, const char *name,
                                 struct cfg where)
{
    struct products_raw *raw = ARENA_NEW(&loader->arena, struct products_raw);
    struct cfg file = datadir_load(loader, "topologies/products", name, where);
    if (!cfg_present(file) || read_products(raw, &loader->arena, file))
        return NULL;
    return &raw->products;
}

const struct products *products_get(struct cfg_loader *loader, const char *gpu,
                                    struct cfg where)
{
    return cache_get(loader, "products", gpu, where, make_products);
}

/* 3: that release, 2: another of the same software, 1: other software, 0: no such
 * format. */
static int likeness(const struct product *p, const char *software, const char *format)
{
    size_t n = strcspn(software, " ");
    if (strcmp(p->format->name, format) != 0)
        return 0;
    if (strcmp(p->software, software) == 0)
        return 3;
    bool alike = strncmp(p->software, software, n) == 0 && p->software[n] == ' ';
    return alike ? 2 : 1;
}

const struct product *products_find(const struct products *products,
                                    const char *software, const char *format)
{
    const struct product *best = NULL;
    int most = 0;
    for (int64_t i = 0; i < products->n; i++) {
        int is = likeness(&products->v[i], software, format);
        if (is > most) {
            most = is;
            best = &products->v[i];
        }
    }
    return best;
}
