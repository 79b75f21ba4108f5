#include "hardware/gpu.h"

#include "base/file.h"
#include "config/cache.h"
#include "config/datadir.h"
#include "hardware/gpu_rule.h"
#include "hardware/instance.h"
#include "hardware/product.h"

#include <math.h>
#include <string.h>
#include <strings.h>

const struct name_value gpu_flash_names[] = {
    { "flash", GPU_FLASH_ANY },
    { "flash2", GPU_FLASH_2 },
    { "flash3", GPU_FLASH_3 },
    { NULL, 0 },
};

struct gpu_raw {
    struct gpu gpu;
    struct cfg peak, gemm, nvlink;
};

struct gemm_rows {
    struct cfg row[DTYPE_N];
};

#define GPU_INT(k, m, lo, hi)                                              \
    CFG_ROW(k, CFG_T_INT, struct gpu_raw, gpu.m, .min = (lo), .max = (hi), \
            .required = true)
#define GPU_BYTES(k, m, lo, hi)                                                     \
    CFG_ROW(k, CFG_T_BYTES, struct gpu_raw, gpu.m, .unit = UNIT_BYTES, .min = (lo), \
            .max = (hi), .required = true)
#define GPU_QUANTITY(k, m, u, lo, hi)                                           \
    CFG_ROW(k, CFG_T_QUANTITY, struct gpu_raw, gpu.m, .unit = (u), .min = (lo), \
            .max = (hi), .required = true)
#define GPU_CHILD(k, m, need) \
    CFG_ROW(k, CFG_T_CHILD, struct gpu_raw, m, .required = (need))

#define FLASH(k, version)                                                             \
    CFG_REAL(k "_forward_frac", struct gpu_raw, gpu.flash_frac[version][false], 0.01, \
             1),                                                                      \
        CFG_REAL(k "_backward_frac", struct gpu_raw, gpu.flash_frac[version][true],   \
                 0.01, 1)

static const struct cfg_field gpu_fields[] = {
    GPU_INT("sm_arch", sm_arch, 50, 999),
    GPU_INT("sms", n_sms, 1, 1024),
    GPU_BYTES("memory", memory_B, 1 << 20, 1e14),
    CFG_BYTES("context", struct gpu_raw, gpu.context_B, 0, 1e11),
    GPU_QUANTITY("memory_bandwidth", hbm_Bps, UNIT_BYTES_PER_S, 1e9, 1e15),
    GPU_BYTES("l2", l2_B, 1 << 10, 1e11),
    GPU_QUANTITY("tdp", tdp_w, UNIT_WATTS, 1, 1e5),
    CFG_QUANTITY("sustained_clock", struct gpu_raw, gpu.long_clock_Hz, UNIT_HERTZ, 1e8,
                 1e10),
    CFG_REAL("limit_clock", struct gpu_raw, gpu.limit_clock, 0.1, 1),
    GPU_CHILD("peak", peak, true),
    GPU_CHILD("gemm", gemm, false),
    CFG_REAL("stream_frac", struct gpu_raw, gpu.stream_frac, 0.01, 1),
    CFG_QUANTITY("kernel", struct gpu_raw, gpu.kernel_s, UNIT_SECONDS, 0, 1e-3),
    FLASH("flash", GPU_FLASH_ANY),
    FLASH("flash2", GPU_FLASH_2),
    FLASH("flash3", GPU_FLASH_3),
    CFG_REAL("flash_sustained", struct gpu_raw, gpu.flash_sustained, 0.01, 1.5),
    CFG_REAL("loop_loss", struct gpu_raw, gpu.loop_loss, 0, 1),
    CFG_QUANTITY("loop_half", struct gpu_raw, gpu.loop_half_s, UNIT_SECONDS, 0, 1),
    GPU_CHILD("nvlink", nvlink, false),
    CFG_STRING("provenance", struct gpu_raw, gpu.provenance),
    CFG_PROVENANCE(struct gpu_raw, gpu.provenance_kind),
    CFG_END,
};

#define PEAK(k, t) \
    CFG_QUANTITY(k, struct gpu, peak_flops[t], UNIT_FLOP_PER_S, 1e9, 1e18)

static const struct cfg_field peak_fields[] = {
    PEAK("fp32", DTYPE_FP32),
    PEAK("tf32", DTYPE_TF32),
    PEAK("fp16", DTYPE_FP16),
    PEAK("bf16", DTYPE_BF16),
    PEAK("fp8", DTYPE_FP8),
    PEAK("fp4", DTYPE_NVFP4),
    CFG_END,
};

#define GEMM(k, t) CFG_CHILD(k, struct gemm_rows, row[t])

static const struct cfg_field gemm_rows_fields[] = {
    GEMM("fp32", DTYPE_FP32),
    GEMM("tf32", DTYPE_TF32),
    GEMM("fp16", DTYPE_FP16),
    GEMM("bf16", DTYPE_BF16),
    GEMM("fp8", DTYPE_FP8),
    GEMM("fp8_block", DTYPE_FP8_BLOCK),
    GEMM("mxfp8", DTYPE_MXFP8),
    GEMM("nvfp4", DTYPE_NVFP4),
    CFG_END,
};

struct gemm_raw {
    struct gpu_gemm gemm;
    bool fractional;
    const char *measured;
};

static const struct cfg_field gemm_fields[] = {
    CFG_STRING("measured", struct gemm_raw, measured),
    CFG_REAL("eta", struct gemm_raw, gemm.eta, 0.01, 1.5),
    CFG_REAL("sustained", struct gemm_raw, gemm.sustained, 0.01, 1.5),
    CFG_QUANTITY("port", struct gemm_raw, gemm.port_Bps, UNIT_BYTES_PER_S, 1e9, 1e13),
    CFG_REAL("hbm_frac", struct gemm_raw, gemm.hbm_frac, 0.01, 1),
    CFG_QUANTITY("launch", struct gemm_raw, gemm.launch_s, UNIT_SECONDS, 0, 1e-3),
    CFG_REAL("epilogue", struct gemm_raw, gemm.epilogue, 0, 1),
    CFG_BOOL("fractional", struct gemm_raw, fractional),
    CFG_REAL("misaligned", struct gemm_raw, gemm.misaligned, 1, 100),
    CFG_REAL("misaligned_batch", struct gemm_raw, gemm.misaligned_batch, 1, 100),
    CFG_QUANTITY("split", struct gemm_raw, gemm.split_s, UNIT_SECONDS, 0, 1e-3),
    CFG_QUANTITY("latency", struct gemm_raw, gemm.latency_s, UNIT_SECONDS, 0, 1e-6),
    CFG_END,
};

static const struct cfg_field nvlink_fields[] = {
    CFG_ROW("links", CFG_T_INT, struct gpu, nvlink_links, .min = 1, .max = 64,
            .required = true),
    CFG_ROW("rate", CFG_T_QUANTITY, struct gpu, nvlink_Bps, .unit = UNIT_BYTES_PER_S,
            .min = 1e9, .max = 1e13, .required = true),
    CFG_END,
};

/* The format whose row replaces one that the file leaves out: the 16-bit ones run
 * alike, the others must be given. */
static const enum dtype alike[DTYPE_N] = {
    [DTYPE_FP32] = DTYPE_FP32, [DTYPE_TF32] = DTYPE_TF32, [DTYPE_FP16] = DTYPE_BF16,
    [DTYPE_BF16] = DTYPE_FP16, [DTYPE_FP8] = DTYPE_FP8,   [DTYPE_FP8_BLOCK] = DTYPE_FP8,
    [DTYPE_MXFP8] = DTYPE_FP8, [DTYPE_NVFP4] = DTYPE_FP8,
};

/* The main loop of MXFP8's products over that of one scale a tensor: pre-quantized they
 * take 7.161 and 6.812 ms on B300, with the scales' swizzle (TransformerEngine @d0067d0d,
 * docs/examples/gemm_profiling/gemm_profiling.rst). */
static const double mxfp8_eta = 6.812 / 7.161;

/* What a row without "measured" has to say. */
static int check_gemm_row(struct cfg row)
{
    static const char *const keys[] = { "eta", "port", "launch" };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!cfg_present(cfg_get(row, keys[i])))
            return cfg_error(row, DIAG_MISSING,
                             "\"%s\" is missing (give it, or \"measured\": the "
                             "software of topologies/products whose constants hold)",
                             keys[i]);
    return 0;
}

/* "SOFTWARE of GPU"; without the GPU, this one's. */
static const struct product *measured_product(struct cfg_loader *loader,
                                              const struct gpu *gpu, const char *text,
                                              enum dtype dtype, struct cfg at)
{
    const char *of = strstr(text, " of ");
    size_t n = of ? (size_t)(of - text) : strlen(text);
    const char *software = arena_strndup(&loader->arena, text, n);
    const struct products *all = products_get(loader, of ? of + 4 : gpu->name, at);
    if (!all)
        return NULL;
    const char *format = names_of(dtype_names, (int)dtype);
    const struct product *p = products_find(all, software, format);
    if (p && strcmp(p->software, software) == 0)
        return p;
    cfg_error(at, DIAG_UNKNOWN_NAME, "%s's products in %s were not measured", software,
              format);
    return NULL;
}

/* The constants of measured software as the row's defaults. */
static int read_measured(struct cfg_loader *loader, struct gemm_raw *raw,
                         const struct gpu *gpu, enum dtype dtype, struct cfg row)
{
    const struct product *p =
        measured_product(loader, gpu, raw->measured, dtype, cfg_get(row, "measured"));
    if (!p)
        return -1;
    double sustained = raw->gemm.sustained, batch = raw->gemm.misaligned_batch;
    raw->gemm = p->gemm;
    raw->gemm.tiles = p->tiles;
    raw->gemm.sustained = sustained;
    raw->gemm.misaligned_batch = batch;
    return cfg_read(row, gemm_fields, raw); /* what it says itself */
}

/* `without_tensor_cores`: how much slower plain fp32 is, which represents
 * "misaligned_batch" where the row does not say it. */
static int read_gemm_row(struct cfg_loader *loader, struct gpu *gpu, enum dtype dtype,
                         enum dtype as, struct cfg row)
{
    double without_tensor_cores =
        fmax(1, gpu->peak_flops[dtype] / gpu->peak_flops[DTYPE_FP32]);
    struct gemm_raw raw = { .gemm = { .sustained = 1,
                                      .hbm_frac = 0.8,
                                      .epilogue = 1,
                                      .misaligned = 1,
                                      .misaligned_batch = without_tensor_cores } };
    int rc = cfg_read(row, gemm_fields, &raw);
    struct gpu_gemm *g = &gpu->gemm[dtype];
    if (rc == 0)
        rc = raw.measured ? read_measured(loader, &raw, gpu, as, row)
                          : check_gemm_row(row);
    *g = raw.gemm;
    if (dtype == DTYPE_MXFP8 && as != dtype)
        g->eta *= mxfp8_eta;
    if (raw.fractional || !raw.measured)
        g->partial_waves = raw.fractional;
    if (!raw.measured && !cfg_present(cfg_get(row, "split")))
        g->split_s = g->launch_s;
    return rc;
}

/* The format whose row holds: its own, else that of its like. */
static enum dtype row_of(const struct gemm_rows *rows, enum dtype t)
{
    return cfg_present(rows->row[t]) ? t : alike[t];
}

static int read_gemm(struct cfg_loader *loader, struct gpu *gpu, struct cfg object)
{
    struct gemm_rows rows = { 0 };
    int rc = cfg_read(object, gemm_rows_fields, &rows);

    for (int t = 0; t < DTYPE_N && rc == 0; t++) {
        const char *name = names_of(dtype_names, t);
        enum dtype as = row_of(&rows, (enum dtype)t);

        if (gpu->peak_flops[t] <= 0) {
            if (cfg_present(rows.row[t]))
                rc = cfg_error(rows.row[t], DIAG_MISSING,
                               "\"peak\" names no rate for %s (add it there)", name);
            continue;
        }
        if (!cfg_present(rows.row[as]))
            rc = cfg_error(object, DIAG_MISSING,
                           "\"%s\" is missing (\"peak\" names its rate, so say how "
                           "matrix products reach it)",
                           name);
        else
            rc = read_gemm_row(loader, gpu, (enum dtype)t, as, rows.row[as]);
    }
    return rc;
}

/* What a file without rates of fused attention has. */
static void set_flash(struct gpu *gpu)
{
    static const double frac[2] = { 0.5, 0.4 };
    for (int backward = 0; backward < 2; backward++)
        if (gpu->flash_frac[GPU_FLASH_ANY][backward] <= 0)
            gpu->flash_frac[GPU_FLASH_ANY][backward] = frac[backward];
}

/* Kernels as the file has them, or by rule. */
static int read_kernels(struct cfg_loader *loader, struct gpu_raw *raw, struct cfg file)
{
    if (!cfg_present(raw->gemm))
        return gpu_rule_fill(loader, &raw->gpu, file);
    if (raw->gpu.long_clock_Hz > 0)
        return cfg_error(cfg_get(file, "sustained_clock"), DIAG_UNSUPPORTED,
                         "\"sustained_clock\" is of GPUs without \"gemm\" (its rows "
                         "have \"sustained\")");
    if (!cfg_present(cfg_get(file, "context")))
        return cfg_error(file, DIAG_MISSING, "\"context\" is missing");
    set_flash(&raw->gpu);
    return read_gemm(loader, &raw->gpu, raw->gemm);
}

/* Blocks of fp8 are scaled by other instructions on any GPU that has fp8, those of
 * MXFP8 by the tensor cores of Blackwell and later alone. */
static void set_block_peaks(struct gpu *gpu)
{
    gpu->peak_flops[DTYPE_FP8_BLOCK] = gpu->peak_flops[DTYPE_FP8];
    gpu->peak_flops[DTYPE_MXFP8] = gpu->sm_arch >= 100 ? gpu->peak_flops[DTYPE_FP8] : 0;
}

static int read_gpu(struct cfg_loader *loader, struct gpu_raw *raw, struct cfg file)
{
    struct gpu *gpu = &raw->gpu;

    gpu->limit_clock = 1;
    gpu->stream_frac = 0.8;
    gpu->kernel_s = 3e-6;
    if (cfg_read(file, gpu_fields, raw) || cfg_read(raw->peak, peak_fields, gpu))
        return -1;
    if (gpu->peak_flops[DTYPE_FP32] <= 0)
        return cfg_error(raw->peak, DIAG_MISSING,
                         "\"fp32\" is missing (every GPU computes in fp32)");
    set_block_peaks(gpu);
    if (cfg_present(raw->nvlink) && cfg_read(raw->nvlink, nvlink_fields, gpu))
        return -1;
    if (read_kernels(loader, raw, file))
        return -1;
    if (gpu->context_B >= gpu->memory_B)
        return cfg_error(cfg_get(file, "context"), DIAG_OUT_OF_RANGE,
                         "the context fills the whole memory");
    return 0;
}

static const void *make_gpu(struct cfg_loader *loader, const char *name,
                            struct cfg where)
{
    const char *path = datadir_file(&loader->arena, "topologies/gpus", name),
               *why = !file_is_there(path) ? instance_absent(loader, name) : NULL;
    if (why) {
        cfg_error_at(loader, where, DIAG_UNSUPPORTED, "%s is not simulated: %s", name,
                     why);
        return NULL;
    }
    struct gpu_raw *raw = ARENA_NEW(&loader->arena, struct gpu_raw);
    struct cfg file = datadir_load(loader, "topologies/gpus", name, where);

    raw->gpu.name = cache_basename(&loader->arena, name);
    if (!cfg_present(file) || read_gpu(loader, raw, file) < 0)
        return NULL;
    provenance_check(file, raw->gpu.provenance_kind);
    return &raw->gpu;
}

/* Words before a model's name, as nvidia-smi prints it: "NVIDIA GeForce RTX 4090". */
static const char *without_maker(const char *name)
{
    static const char *const words[] = { "NVIDIA ", "GeForce ", "Tesla " };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncasecmp(name, words[i], strlen(words[i])) == 0)
            name += strlen(words[i]);
    return name;
}

/* The one GPU whose name begins with that and "-": "H200"; NULL: none, or several. */
static const char *only_one(struct arena *arena, const char *name)
{
    const char **list = datadir_list(arena, "topologies/gpus"), *found = NULL;
    const size_t n = strlen(name);
    int number = 0;
    for (size_t i = 0; list[i]; i++)
        if (strncasecmp(list[i], name, n) == 0 && list[i][n] == '-') {
            found = list[i];
            number++;
        }
    return number == 1 ? found : NULL;
}

/* The name as the folder has it; what it leaves open is said. */
static const char *spelled(struct cfg_loader *loader, const char *name,
                           struct cfg where)
{
    static const char dir[] = "topologies/gpus";
    struct arena *arena = &loader->arena;
    if (file_is_there(datadir_file(arena, dir, name)))
        return name;
    const char *bare = without_maker(name), *found = datadir_spelling(arena, dir, bare),
               *only = only_one(arena, bare);
    if (found != bare || file_is_there(datadir_file(arena, dir, bare)))
        return found;
    if (!only || !where.doc)
        return name; /* nowhere to say it */
    cfg_warn(where, DIAG_ASSUMED, "%s is taken to be %s", name, only);
    return only;
}

const struct gpu *gpu_get(struct cfg_loader *loader, const char *name, struct cfg where)
{
    const void *known;
    if (!cache_find(loader, "gpu", name, &known))
        name = spelled(loader, name, where);
    return cache_get(loader, "gpu", name, where, make_gpu);
}

/* CUDA C++ Programming Guide, arithmetic instructions: 64 multiply-adds a cycle up to
 * 8.0, 128 from 8.6 on. */
double gpu_clock_Hz(const struct gpu *gpu)
{
    double lanes = gpu->sm_arch <= 80 ? 64 : 128;
    return gpu->peak_flops[DTYPE_FP32] / (2 * lanes * (double)gpu->n_sms);
}
