/* A kernel as a job of a mapping. */
#include "validation/job_kernel.h"

#include "cost/attention.h"
#include "cost/kernel.h"
#include "cost/product.h"
#include "cost/transfer.h"
#include "hardware/gpu.h"
#include "hardware/gpu_rule.h"
#include "hardware/instance.h"
#include "validation/job_experts.h"
#include "validation/job_release.h"

#include <inttypes.h>
#include <string.h>

struct kernel_files {
    struct cfg_loader *hardware;
    struct cfg where; /* at which the loader reports a name it does not know */
};

enum kernel_kind { KERNEL_GEMM, KERNEL_ATTENTION, KERNEL_TRANSFER, KERNEL_EXPERTS };

static const struct name_value kernel_names[] = { { "gemm", KERNEL_GEMM },
                                                  { "attention", KERNEL_ATTENTION },
                                                  { "transfer", KERNEL_TRANSFER },
                                                  { "experts", KERNEL_EXPERTS },
                                                  { NULL, 0 } };

struct kernel {
    const char *gpu, *software, *format;
    int op, dtype;
    int64_t m, n, k, batch, heads, kv_heads, sequence, head_dim;
    struct transfer_shape tokens; /* of a transfer */
    bool causal, backward, burst, loop, paged;
};

enum { KERNEL_SIZE_MAX = 1 << 30 };

static const struct cfg_field kernel_fields[] = {
    CFG_ROW("gpu", CFG_T_STRING, struct kernel, gpu, .required = true),
    CFG_ROW("op", CFG_T_ENUM, struct kernel, op, .required = true,
            .names = kernel_names),
    CFG_ENUM("dtype", struct kernel, dtype, dtype_names),
    CFG_STRING("software", struct kernel, software),
    CFG_STRING("format", struct kernel, format),
    CFG_INT("m", struct kernel, m, 1, KERNEL_SIZE_MAX),
    CFG_INT("n", struct kernel, n, 1, KERNEL_SIZE_MAX),
    CFG_INT("k", struct kernel, k, 1, KERNEL_SIZE_MAX),
    CFG_INT("batch", struct kernel, batch, 1, KERNEL_SIZE_MAX),
    CFG_INT("heads", struct kernel, heads, 1, KERNEL_SIZE_MAX),
    CFG_INT("kv_heads", struct kernel, kv_heads, 1, KERNEL_SIZE_MAX),
    CFG_INT("sequence", struct kernel, sequence, 1, KERNEL_SIZE_MAX),
    CFG_INT("head_dim", struct kernel, head_dim, 1, 4096),
    CFG_INT("ranks", struct kernel, tokens.ranks, 2, INSTANCE_GPUS_MAX),
    CFG_INT("tokens", struct kernel, tokens.tokens, 1, KERNEL_SIZE_MAX),
    CFG_INT("hidden", struct kernel, tokens.hidden, 1, KERNEL_SIZE_MAX),
    CFG_INT("topk", struct kernel, tokens.topk, 1, 1024),
    CFG_INT("experts", struct kernel, tokens.experts, 1, 1 << 20),
    CFG_INT("sms", struct kernel, tokens.sms, 1, 1024),
    CFG_BOOL("causal", struct kernel, causal),
    CFG_BOOL("backward", struct kernel, backward),
    CFG_BOOL("burst", struct kernel, burst),
    CFG_BOOL("loop", struct kernel, loop),
    CFG_BOOL("paged", struct kernel, paged),
    CFG_END,
};

/* Whether products of the software were measured in the format. */
static int check_product(const struct kernel *k, const struct products *all,
                         const char *gpu, struct err *err)
{
    struct job_releases r;
    char what[80];
    job_releases_start(&r, k->software);
    for (int64_t i = 0; i < all->n; i++)
        if (strcmp(all->v[i].format->name, k->format) == 0)
            job_releases_add(&r, all->v[i].software);
    snprintf(what, sizeof(what), "%.40s products", k->format);
    return job_releases_end(&r, what, gpu, err);
}

static int check_attention(const struct kernel *k, const struct attentions *all,
                           const char *gpu, struct err *err)
{
    struct job_releases r;
    job_releases_start(&r, k->software);
    for (int64_t i = 0; i < all->n; i++)
        job_releases_add(&r, all->v[i].software);
    return job_releases_end(&r, "attention kernels", gpu, err);
}

static int check_transfer(const struct kernel *k, const struct transfers *all,
                          const char *gpu, struct err *err)
{
    struct job_releases r;
    job_releases_start(&r, k->software);
    for (int64_t i = 0; i < all->n; i++)
        job_releases_add(&r, all->v[i].software);
    return job_releases_end(&r, "transfers", gpu, err);
}

/* A product as a software's release runs it, with quantization and host as it measures
 * them. */
static json_t *run_product(const struct kernel_files *w, const struct kernel *k,
                           struct err *err)
{
    const struct gpu *gpu = gpu_get(w->hardware, k->gpu, cfg_get(w->where, "gpu"));
    if (!gpu || !k->software || k->dtype >= 0 || k->batch != 1) {
        if (gpu)
            err_set(err, "\"format\" is for single products of a \"software\", "
                         "without \"dtype\"");
        return NULL;
    }
    const struct products *all =
        gpu_rule_products(w->hardware, k->gpu, cfg_get(w->where, "gpu"));
    if (!all) {
        if (!w->hardware->diags.n_errors)
            err_set(err, "no GPU's products were measured that are like %s's",
                    gpu->name);
        return NULL;
    }
    const struct product *p = products_find(all, k->software, k->format);
    if (!p || product_peak_flops(gpu, p->format) <= 0) {
        err_set(err, "no %s products of %s were measured", k->format, gpu->name);
        return NULL;
    }
    if (check_product(k, all, gpu->name, err))
        return NULL;
    return json_pack("{s:f}", "time_s", product_s(gpu, p, k->m, k->n, k->k, k->loop));
}

/* Attention as a software's release runs it. */
static json_t *run_attention(const struct kernel_files *w, const struct kernel *k,
                             struct err *err)
{
    const struct gpu *gpu = gpu_get(w->hardware, k->gpu, cfg_get(w->where, "gpu"));
    const struct attentions *all =
        gpu ? attentions_get(w->hardware, gpu->name, cfg_get(w->where, "software"))
            : NULL;
    if (!all)
        return NULL;
    if (k->dtype != DTYPE_BF16 || !k->causal || k->backward || k->paged || k->loop) {
        err_set(err, "attention with \"software\" was measured in bf16, forward and "
                     "causal: \"paged\" and \"loop\" are not for it");
        return NULL;
    }
    if (check_attention(k, all, gpu->name, err))
        return NULL;
    if (k->kv_heads && k->heads % k->kv_heads) {
        err_set(err, "%" PRId64 " kv_heads do not divide %" PRId64 " heads",
                k->kv_heads, k->heads);
        return NULL;
    }
    const struct attention_shape shape = { .batch = k->batch,
                                           .sequence = k->sequence,
                                           .heads = k->heads,
                                           .kv_heads =
                                               k->kv_heads ? k->kv_heads : k->heads,
                                           .head_dim = k->head_dim };
    const struct attention *a = attentions_find(all, k->software);
    return json_pack("{s:f}", "time_s", attention_s(gpu, a, &shape));
}

/* Dispatch and combine inside an NVLink domain as a release of DeepEP runs them. */
static json_t *run_transfer(const struct kernel_files *w, const struct kernel *k,
                            struct err *err)
{
    const struct transfer_shape *shape = &k->tokens;
    const struct gpu *gpu = gpu_get(w->hardware, k->gpu, cfg_get(w->where, "gpu"));
    const struct transfers *all =
        gpu ? transfers_get(w->hardware, gpu->name, cfg_get(w->where, "gpu")) : NULL;
    if (!all)
        return NULL;
    if (!shape->ranks || !shape->tokens || !shape->hidden || !shape->sms ||
        shape->topk < 1 || shape->topk > shape->experts ||
        shape->experts % shape->ranks != 0) {
        err_set(err, "a transfer needs ranks, tokens, hidden, sms, topk and experts, "
                     "which are at least topk and a multiple of ranks");
        return NULL;
    }
    if (check_transfer(k, all, gpu->name, err))
        return NULL;
    const struct transfer *to = transfers_find(all, k->software, TRANSFER_DISPATCH);
    const struct transfer *back = transfers_find(all, k->software, TRANSFER_COMBINE);
    if (!to || !back) {
        err_set(err, "dispatch and combine of %s were not both measured", gpu->name);
        return NULL;
    }
    return json_pack("{s:f, s:f}", "dispatch_s", transfer_s(to, shape), "combine_s",
                     transfer_s(back, shape));
}

/* Keys that not every kernel has. */
static const struct {
    const char *key;
    unsigned of; /* kinds, as bits */
} kernel_keys[] = {
    { "m", 1U << KERNEL_GEMM },
    { "n", 1U << KERNEL_GEMM },
    { "k", 1U << KERNEL_GEMM },
    { "format", 1U << KERNEL_GEMM },
    { "heads", 1U << KERNEL_ATTENTION },
    { "kv_heads", 1U << KERNEL_ATTENTION },
    { "sequence", 1U << KERNEL_ATTENTION },
    { "head_dim", 1U << KERNEL_ATTENTION },
    { "causal", 1U << KERNEL_ATTENTION },
    { "backward", 1U << KERNEL_ATTENTION },
    { "paged", 1U << KERNEL_ATTENTION },
    { "ranks", 1U << KERNEL_TRANSFER },
    { "tokens", 1U << KERNEL_TRANSFER },
    { "hidden", 1U << KERNEL_TRANSFER },
    { "topk", 1U << KERNEL_TRANSFER },
    { "experts", 1U << KERNEL_TRANSFER },
    { "sms", 1U << KERNEL_TRANSFER },
    { "dtype", 1U << KERNEL_GEMM | 1U << KERNEL_ATTENTION },
    { "batch", 1U << KERNEL_GEMM | 1U << KERNEL_ATTENTION },
    { "burst", 1U << KERNEL_GEMM | 1U << KERNEL_ATTENTION },
    { "loop", 1U << KERNEL_GEMM | 1U << KERNEL_ATTENTION },
};

static int read_kernel(struct kernel *k, struct cfg root)
{
    *k = (struct kernel) { .batch = 1, .heads = 1, .burst = true, .dtype = -1 };
    int rc = cfg_read(root, kernel_fields, k);
    for (size_t i = 0; rc == 0 && i < sizeof(kernel_keys) / sizeof(kernel_keys[0]); i++)
        if (cfg_present(cfg_get(root, kernel_keys[i].key)) &&
            !(kernel_keys[i].of >> k->op & 1))
            return cfg_error(cfg_get(root, kernel_keys[i].key), DIAG_REFUSED_KEY,
                             "is no key of %s", names_of(kernel_names, k->op));
    return rc;
}

/* By the GPU's own terms. */
static json_t *run_plain(const struct kernel_files *w, const struct kernel *k,
                         struct err *err)
{
    const struct gpu *gpu = gpu_get(w->hardware, k->gpu, cfg_get(w->where, "gpu"));
    if (!gpu)
        return NULL;
    enum dtype dtype = (enum dtype)k->dtype;
    if (gpu->peak_flops[dtype] <= 0) {
        err_set(err, "%s has no %s arithmetic", gpu->name,
                names_of(dtype_names, k->dtype));
        return NULL;
    }
    const struct kernel_flash flash = { .dtype = dtype,
                                        .m = k->sequence,
                                        .n = k->sequence,
                                        .head_dim = k->head_dim,
                                        .heads = k->batch * k->heads,
                                        .causal = k->causal,
                                        .backward = k->backward,
                                        .sustained = !k->burst };
    double time_s = k->op == KERNEL_GEMM
                        ? kernel_gemm_s(gpu, dtype, k->m, k->n, k->k, k->batch,
                                        !k->burst, kernel_alone)
                        : kernel_flash_s(gpu, &flash, kernel_alone);
    if (k->paged)
        time_s += kernel_paged_s((double)k->batch * (double)k->sequence, k->heads);
    if (k->loop)
        time_s = kernel_looped_s(gpu, time_s);
    return json_pack("{s:f}", "time_s", time_s);
}

json_t *job_kernel_run(struct cfg_loader *hardware, struct cfg where, struct cfg root,
                       struct err *err)
{
    const struct kernel_files files = { hardware, where };
    struct kernel k;
    if (job_is_experts(root))
        return job_experts_run(hardware, where, root, err);
    if (read_kernel(&k, root))
        return NULL;
    bool gemm = k.op == KERNEL_GEMM;
    if (k.op == KERNEL_TRANSFER)
        return run_transfer(&files, &k, err);
    if (gemm ? !k.m || !k.n || !k.k : !k.sequence || !k.head_dim) {
        err_set(err, gemm ? "a gemm needs m, n and k"
                          : "attention needs sequence and head_dim");
        return NULL;
    }
    if (k.format)
        return run_product(&files, &k, err);
    if (!gemm && k.software)
        return run_attention(&files, &k, err);
    if (k.dtype < 0 || k.software || k.kv_heads) {
        err_set(err, "a kernel needs \"dtype\"; \"software\" and \"format\" of a "
                     "gemm go together, \"kv_heads\" is for attention with "
                     "\"software\"");
        return NULL;
    }
    return run_plain(&files, &k, err);
}
