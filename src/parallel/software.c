/* The "software" section: versions, and the environment that steers NCCL. */
#include "parallel/reading.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* clang-format off */
static const struct cfg_field software_fields[] = {
    CFG_STRING("pytorch", struct software, pytorch),
    CFG_STRING("nccl", struct software, nccl),
    CFG_STRING("smddp", struct software, smddp),
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

/* Lists and exclusions ("Ring,Tree", "^LL") leave NCCL a choice that is not simulated. */
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
        w->protocol_why = "NCCL_PROTO in the environment";
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

static int read_variable(struct reading *r, struct cfg c, const char *name)
{
    const char *value;
    if (!cfg_present(c))
        return 0;
    if (cfg_is_number(c))
        return cfg_error(c, "the environment holds strings (write it in quotes)");
    if (cfg_string(c, &value))
        return -1;
    if (strcmp(name, "NCCL_PROTO") == 0)
        return read_protocol(r, c, value);
    if (strcmp(name, "NCCL_ALGO") == 0)
        return read_algorithm(r, c, value);
    if (strcmp(name, "comment") != 0)
        reading_note(r, c, "this variable does not change the simulation");
    return 0;
}

/* SageMaker's launchers hold NCCL to Simple on EFA, and under torchrun everywhere. */
static void apply_launcher(struct reading *r)
{
    struct software *w = &r->s->software;
    const struct fabric *fabric = r->s->fabric;
    bool efa = fabric && fabric->kind == FABRIC_EFA;
    if (w->protocol >= 0 || !r->launched || !(efa || r->launch_simple))
        return;
    w->protocol = FABRIC_PROTO_SIMPLE;
    w->protocol_why = "SageMaker's launcher sets NCCL_PROTO=simple";
}

int software_read(struct reading *r)
{
    struct software *w = &r->s->software;
    *w = (struct software) { .protocol = -1 };
    int rc = cfg_read(r->software, software_fields, w);
    struct cfg env = w->environment;
    if (cfg_present(env) && !cfg_is_object(env))
        return cfg_error(env, "not an object (write { \"NCCL_PROTO\": \"simple\" })");
    for (void *it = cfg_first(env); it; it = cfg_next(env, it))
        if (read_variable(r, cfg_member(env, it), cfg_key(it)))
            rc = -1;
    apply_launcher(r);
    return rc;
}
