#include "validation/job_experts.h"

#include "cost/experts.h"
#include "validation/job_release.h"

#include <string.h>

enum { SIZE_MAX_HERE = 1 << 30 };

struct job {
    const char *gpu, *op, *software, *format;
    int64_t tokens, hidden, ffn, experts, experts_per_token, tensor, ranks;
    double exponent;
    struct cfg gated;
};

#define COUNT(k, m, most) \
    CFG_ROW(k, CFG_T_INT, struct job, m, .min = 1, .max = (most), .required = true)

static const struct cfg_field fields[] = {
    CFG_ROW("gpu", CFG_T_STRING, struct job, gpu, .required = true),
    CFG_ROW("op", CFG_T_STRING, struct job, op, .required = true),
    CFG_ROW("software", CFG_T_STRING, struct job, software, .required = true),
    CFG_ROW("format", CFG_T_STRING, struct job, format, .required = true),
    COUNT("tokens", tokens, SIZE_MAX_HERE),
    COUNT("hidden", hidden, SIZE_MAX_HERE),
    COUNT("ffn", ffn, SIZE_MAX_HERE),
    COUNT("experts", experts, LOAD_EXPERTS_MAX),
    COUNT("experts_per_token", experts_per_token, LOAD_EXPERTS_MAX),
    CFG_INT("tensor", struct job, tensor, 1, SIZE_MAX_HERE),
    CFG_INT("expert_parallel", struct job, ranks, 1, LOAD_EXPERTS_MAX),
    CFG_REAL("exponent", struct job, exponent, 0, 10),
    CFG_CHILD("gated", struct job, gated),
    CFG_END,
};

bool job_is_experts(struct cfg root)
{
    const char *op = NULL;
    struct cfg named = cfg_get(root, "op");
    return cfg_present(named) && cfg_is_string(named) && cfg_string(named, &op) == 0 &&
           strcmp(op, "experts") == 0;
}

static int check(const struct job *j, struct err *err)
{
    if (j->experts % j->ranks != 0 || j->experts_per_token > j->experts ||
        j->ffn % j->tensor != 0)
        return err_set(err,
                       "experts should be a multiple of expert_parallel and at least "
                       "experts_per_token; ffn a multiple of tensor");
    return 0;
}

static struct experts_shape shape_of(const struct job *j, bool gated)
{
    const struct expert_routing routing = { .tokens = (double)j->tokens,
                                            .experts = j->experts,
                                            .experts_per_token = j->experts_per_token,
                                            .ranks = j->ranks,
                                            .exponent = j->exponent };
    return (struct experts_shape) { .hidden = j->hidden,
                                    .width = j->ffn / j->tensor,
                                    .gated = gated,
                                    .tokens = (double)j->tokens,
                                    .experts = j->experts / j->ranks,
                                    .load = expert_load_of(&routing) };
}

/* Whether experts of the software were measured in the format. */
static int check_software(const struct job *j, const struct experts_kernels *all,
                          const char *gpu, struct err *err)
{
    struct job_releases r;
    char what[80];
    job_releases_start(&r, j->software);
    for (int64_t i = 0; i < all->n; i++)
        if (strcmp(all->v[i].format->name, j->format) == 0)
            job_releases_add(&r, all->v[i].software);
    snprintf(what, sizeof(what), "%.40s experts", j->format);
    return job_releases_end(&r, what, gpu, err);
}

json_t *job_experts_run(struct cfg_loader *hardware, struct cfg where, struct cfg root,
                        struct err *err)
{
    struct job j = { .tensor = 1, .ranks = 1 };
    if (cfg_read(root, fields, &j) || check(&j, err))
        return NULL;
    bool gated = experts_are_gated(j.hidden, j.ffn);
    if (cfg_present(j.gated) && cfg_bool(j.gated, &gated))
        return NULL;
    const struct gpu *gpu = gpu_get(hardware, j.gpu, cfg_get(where, "gpu"));
    const struct experts_kernels *all =
        gpu ? experts_get(hardware, gpu->name, cfg_get(where, "software")) : NULL;
    if (!all)
        return NULL;
    const struct experts_kernel *k = experts_find(all, j.software, j.format);
    if (!k || product_peak_flops(gpu, k->format) <= 0) {
        err_set(err, "no %s experts of %s were measured", j.format, gpu->name);
        return NULL;
    }
    if (check_software(&j, all, gpu->name, err))
        return NULL;
    const struct experts_shape shape = shape_of(&j, gated);
    return json_pack("{s:f}", "time_s", experts_s(gpu, k, &shape));
}
