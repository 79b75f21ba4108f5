/* The "software" section: versions, and the environment that steers NCCL. */
#include "parallel/reading.h"
#include "parallel/versions.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* clang-format off */
static const struct cfg_field software_fields[] = {
    CFG_STRING("pytorch", struct software, pytorch),
    CFG_STRING("nccl", struct software, nccl),
    CFG_STRING("smddp", struct software, smddp),
    CFG_STRING("horovod", struct software, horovod),
    CFG_STRING("smp", struct software, smp),
    CFG_STRING("efa", struct software, efa),
    CFG_STRING("sagemaker_sdk", struct software, sagemaker_sdk),
    CFG_CHILD("environment", struct software, environment),
    CFG_END,
};
static const struct name_value protocols[] = { /* as NCCL_PROTO spells them */
    { "simple", FABRIC_PROTO_SIMPLE }, { "ll", FABRIC_PROTO_LL },
    { "ll128", FABRIC_PROTO_LL128 }, { NULL, 0 },
};
static const char *const algorithms[][2] = { /* NCCL_ALGO's, and smsim's word */
    { "ring", "ring" }, { "tree", "tree" }, { "nvls", "nvls" },
    { "nvlstree", "nvls-tree" },
};
/* clang-format on */

/* Lists and exclusions ("Ring,Tree", "^LL") leave NCCL a choice that is not
 * simulated. */
static bool is_list(const char *value)
{
    return strpbrk(value, ",^:;") != NULL;
}

static int read_protocol(struct reading *r, struct cfg c, const char *value)
{
    struct software *w = &r->s->software;
    if (is_list(value)) {
        cfg_warn(c,
                 "a choice of protocols is not simulated yet: NCCL chooses among all");
        return 0;
    }
    for (const struct name_value *p = protocols; p->name; p++) {
        if (strcasecmp(p->name, value) != 0)
            continue;
        w->protocol = p->value;
        return 0;
    }
    return cfg_error(c,
                     "\"%.40s\" is no protocol of NCCL (write \"Simple\", \"LL\" or "
                     "\"LL128\")",
                     value);
}

static int read_algorithm(struct reading *r, struct cfg c, const char *value)
{
    if (is_list(value)) {
        cfg_warn(c,
                 "a choice of algorithms is not simulated yet: NCCL chooses among all");
        return 0;
    }
    for (size_t i = 0; i < sizeof(algorithms) / sizeof(algorithms[0]); i++) {
        if (strcasecmp(algorithms[i][0], value) != 0)
            continue;
        r->s->software.algorithm = algorithms[i][1];
        return 0;
    }
    return cfg_error(c,
                     "\"%.40s\" is no algorithm of NCCL that is simulated (write "
                     "\"Ring\", \"Tree\", \"NVLS\" or \"NVLSTree\")",
                     value);
}

/* SMP holds its NCCL operations to so many at once (8 by default; -1: no limit). A step
 * never has as many under way: every group runs one after the other. */
static int read_throttle(struct reading *r, struct cfg c, const char *value)
{
    char *end;
    long n = strtol(value, &end, 10);
    if (end == value || *end || n < -1 || n == 0 || n > 1000000)
        return cfg_error(c,
                         "\"%.40s\" is no limit of operations (write \"8\", or "
                         "\"-1\" for none)",
                         value);
    reading_note(r, c,
                 r->s->parallel.smp
                     ? "SMP_NCCL_THROTTLE_LIMIT does not change the simulation: each "
                       "group's operations run one after the other"
                     : "SMP_NCCL_THROTTLE_LIMIT is for SMP's jobs");
    return 0;
}

static const struct {
    const char *name;
    int (*read)(struct reading *r, struct cfg c, const char *value);
} variables[] = {
    { "NCCL_PROTO", read_protocol },
    { "NCCL_ALGO", read_algorithm },
    { "SMP_NCCL_THROTTLE_LIMIT", read_throttle },
};

static int apply_variable(struct reading *r, struct cfg c, const char *name,
                          const char *value)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (strcmp(variables[i].name, name) == 0)
            return variables[i].read(r, c, value);
    reading_note(
        r, c,
        arena_printf(&r->loader->arena, "%s does not change the simulation", name));
    return 0;
}

static int read_variable(struct reading *r, struct cfg c, const char *name)
{
    const char *value;
    if (!cfg_present(c))
        return 0;
    if (cfg_is_number(c))
        return cfg_error(c, "the environment holds strings (write it in quotes)");
    if (cfg_string(c, &value))
        return -1;
    return strcmp(name, "comment") == 0 ? 0 : apply_variable(r, c, name, value);
}

/* mpirun's -x goes before the estimator's environment. */
static int read_exports(struct reading *r)
{
    int rc = 0;
    for (int32_t i = 0; i < r->n_exports; i++) {
        const struct reading_export *e = &r->exports[i];
        struct cfg other = cfg_get(r->s->software.environment, e->name);
        const char *value = json_string_value(other.json);
        if (value && strcmp(value, e->value) != 0)
            cfg_warn(e->at, "%s=%s goes before the \"%s\" of /software/environment",
                     e->name, e->value, value);
        if (apply_variable(r, e->at, e->name, e->value))
            rc = -1;
    }
    return rc;
}

/* SageMaker's launchers hold NCCL to Simple on EFA, and under torchrun and SMP
 * everywhere; SMP v1 on PyTorch 2 to rings, too. */
static void apply_launcher(struct reading *r)
{
    struct software *w = &r->s->software;
    const struct fabric *fabric = r->s->fabric;
    bool efa = fabric && fabric->kind == FABRIC_EFA;
    bool torch2 = w->pytorch && version_compare(w->pytorch, "2") >= 0;
    if (r->s->parallel.smp == 1 && torch2 && !w->algorithm)
        w->algorithm = "ring";
    if (w->protocol >= 0 || !r->launched || !(efa || r->launch_simple))
        return;
    w->protocol = FABRIC_PROTO_SIMPLE;
}

/* --- versions ---------------------------------------------------------------- */

static int check_version(const struct reading *r, const char *key, const char *value)
{
    struct cfg at = cfg_get(r->software, key);
    if (!value)
        return 0;
    if (!version_valid(value))
        return cfg_error(
            at, "\"%.40s\" is no version (write numbers and dots: \"1.13.1\")", value);
    const char *doubt = version_doubt(&r->loader->arena, key, value);
    if (doubt)
        cfg_warn(at, "%s", doubt);
    return 0;
}

/* A release of SMP that data does not name takes the nearest below. */
static int check_smp(struct reading *r)
{
    const char *v = r->s->software.smp;
    struct cfg at = cfg_get(r->software, "smp");
    if (!v)
        return 0;
    bool second = version_compare(v, "2") >= 0;
    const char *near = version_nearest(second ? smp_v2_versions : smp_v1_versions, v);
    if (!near)
        return cfg_error(at, "there was no SMP %s (write \"1.0\" or newer)", v);
    if (version_compare(near, v) != 0)
        cfg_warn(at, "SMP %s is not known: taken for %s", v, near);
    r->smp_version = near;
    return 0;
}

int software_versions(struct reading *r)
{
    struct software *w = &r->s->software;
    *w = (struct software) { .protocol = -1 };
    int rc = cfg_read(r->software, software_fields, w);
    const struct {
        const char *key, *value;
    } all[] = { { "pytorch", w->pytorch },
                { "nccl", w->nccl },
                { "horovod", w->horovod },
                { "smddp", w->smddp },
                { "smp", w->smp },
                { "efa", w->efa },
                { "sagemaker_sdk", w->sagemaker_sdk } };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (check_version(r, all[i].key, all[i].value))
            return -1;
    return check_smp(r) ? -1 : rc;
}

int software_read(struct reading *r)
{
    struct cfg env = r->s->software.environment;
    int rc = 0;
    if (cfg_present(env) && !cfg_is_object(env))
        return cfg_error(env, "not an object (write { \"NCCL_PROTO\": \"simple\" })");
    for (void *it = cfg_first(env); it; it = cfg_next(env, it))
        if (read_variable(r, cfg_member(env, it), cfg_key(it)))
            rc = -1;
    if (read_exports(r))
        rc = -1;
    if (r->s->software.efa)
        reading_note(r, cfg_get(r->software, "efa"),
                     "the version of EFA's installer does not change the simulation: "
                     "fabrics are not told apart by it");
    apply_launcher(r);
    return rc;
}
