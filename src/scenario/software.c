/* The "software" section: versions, and the environment that steers NCCL. */
#include "scenario/libraries.h"
#include "scenario/nccl_environment.h"
#include "scenario/releases.h"
#include "scenario/versions.h"

#include <string.h>

/* clang-format off */
static const struct cfg_field software_fields[] = {
    CFG_STRING("pytorch", struct software, pytorch),
    CFG_STRING("transformers", struct software, transformers),
    CFG_STRING("nccl", struct software, nccl),
    CFG_STRING("smddp", struct software, smddp),
    CFG_STRING("horovod", struct software, horovod),
    CFG_STRING("smp", struct software, smp),
    CFG_STRING("efa", struct software, efa),
    CFG_STRING("sagemaker_sdk", struct software, sagemaker_sdk),
    CFG_CHILD("environment", struct software, environment),
    CFG_END,
};
/* clang-format on */

static int read_variable(struct parse_context *r, struct cfg c, const char *name)
{
    const char *value;
    if (!cfg_present(c))
        return 0;
    if (cfg_is_number(c))
        return cfg_error(c, DIAG_WRONG_TYPE,
                         "the environment holds strings (write it in quotes)");
    if (cfg_string(c, &value))
        return -1;
    return strcmp(name, "comment") == 0 ? 0 : environment_take(r, c, name, value);
}

/* mpirun's -x goes before the estimator's environment. */
static int read_exports(struct parse_context *r)
{
    int rc = 0;
    for (int32_t i = 0; i < r->n_exports; i++) {
        const struct parse_export *e = &r->exports[i];
        struct cfg other = cfg_get(r->s->software.environment, e->name);
        const char *value = json_string_value(other.json);
        if (value && strcmp(value, e->value) != 0)
            cfg_warn(e->at, DIAG_OVERRIDDEN,
                     "%s=%s goes before the \"%s\" of /software/environment", e->name,
                     e->value, value);
        if (environment_take(r, e->at, e->name, e->value))
            rc = -1;
    }
    return rc;
}

/* SageMaker's launchers hold NCCL to Simple on EFA, and under torchrun and SMP
 * everywhere; SMP v1 on PyTorch 2 to rings, too. */
static void apply_launcher(struct parse_context *r)
{
    struct software *w = &r->s->software;
    const struct fabric *fabric = r->s->fabric;
    bool efa = fabric && fabric->kind == FABRIC_EFA;
    bool torch2 = w->pytorch && release_has(RELEASE_PYTORCH_2, w->pytorch);
    if (library_of(&r->s->parallel)->smp.rings && torch2 && !w->has_algorithm)
        w->limits.no_algorithm[NCCL_ALL_REDUCE] = NCCL_ALGORITHMS & ~NCCL_RING;
    if (w->no_nvls)
        w->limits.no_algorithm[NCCL_ALL_REDUCE] |= NCCL_NVLS | NCCL_NVLS_TREE;
    struct cfg benchmark = cfg_get(w->environment, "NANOTRON_BENCHMARK");
    if (w->node_group && !library_of(&r->s->parallel)->node_group)
        parse_note(r, cfg_present(benchmark) ? benchmark : r->software,
                   "NANOTRON_BENCHMARK is nanotron's alone");
    w->simple_on_efa = r->launched && !w->has_protocol;
    if (w->has_protocol || !r->launched || !(efa || r->launch_simple))
        return;
    w->protocol = FABRIC_PROTO_SIMPLE;
}

/* Versions ------------------------------------------------------------------------- */

static int check_version(const struct parse_context *r, const char *key,
                         const char *value)
{
    struct cfg at = cfg_get(r->software, key);
    if (!value)
        return 0;
    if (!version_valid(value))
        return cfg_error(at, DIAG_SYNTAX,
                         "\"%.40s\" is no version (write numbers and dots: \"1.13.1\")",
                         value);
    const char *unsure = release_unsure(&r->loader->arena, key, value);
    if (unsure)
        cfg_warn(at, DIAG_UNKNOWN_VERSION, "%s", unsure);
    return 0;
}

/* A release of SMP that data does not name takes the nearest below. */
static int check_smp(struct parse_context *r)
{
    const char *v = r->s->software.smp;
    struct cfg at = cfg_get(r->software, "smp");
    if (!v)
        return 0;
    const char *near = release_smp_nearest(v);
    if (!near)
        return cfg_error(at, DIAG_UNKNOWN_VERSION,
                         "there was no SMP %s (write \"%s\" or newer)", v,
                         release_smp_first(1));
    if (version_compare(near, v) != 0)
        cfg_warn(at, DIAG_NEAREST_VERSION, "SMP %s is not known: taken for %s", v,
                 near);
    r->smp.version = near;
    return 0;
}

int software_versions(struct parse_context *r)
{
    struct software *w = &r->s->software;
    *w = (struct software) { .protocol = -1 };
    int rc = cfg_read(r->software, software_fields, w);
    const struct {
        const char *key, *value;
    } all[] = { { "pytorch", w->pytorch }, { "transformers", w->transformers },
                { "nccl", w->nccl },       { "horovod", w->horovod },
                { "smddp", w->smddp },     { "smp", w->smp },
                { "efa", w->efa },         { "sagemaker_sdk", w->sagemaker_sdk } };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (check_version(r, all[i].key, all[i].value))
            return -1;
    return check_smp(r) ? -1 : rc;
}

int software_read(struct parse_context *r)
{
    struct cfg env = r->s->software.environment;
    int rc = 0;
    if (cfg_present(env) && !cfg_is_object(env))
        return cfg_error(env, DIAG_WRONG_TYPE,
                         "not an object (write { \"NCCL_PROTO\": \"simple\" })");
    for (void *it = cfg_first(env); it; it = cfg_next(env, it))
        if (read_variable(r, cfg_member(env, it), cfg_key(it)))
            rc = -1;
    if (read_exports(r))
        rc = -1;
    if (r->s->software.efa)
        parse_note(r, cfg_get(r->software, "efa"),
                   "the version of EFA's installer does not change the simulation: "
                   "fabrics do not differ by it");
    apply_launcher(r);
    return rc;
}

/* 256 MiB before the first kernel on RTX 3090 (invoke-ai/InvokeAI, issue 9413) and 426 MiB
 * on RTX 6000 Ada (unslothai/unsloth-zoo, pull request 1053), 300 to 400 MB of nets that run
 * (pytorch/pytorch, issues 107667 and 109888); with room for kernels of training. */
static const int64_t lazy_context_B = 512 << 20;

int64_t scenario_context_B(const struct scenario *s, const struct gpu *gpu,
                           int64_t ranks)
{
    bool lazy = ranks == 1 && !s->training.framework->kernels.all_loaded &&
                release_has(RELEASE_PYTORCH_LAZY, s->software.pytorch);
    return lazy && gpu->context_B > lazy_context_B ? lazy_context_B : gpu->context_B;
}
