/* SageMaker's model parallel library in the dictionary: whether it is switched on,
 * which of its two generations runs, and where its parameters are. */
#include "base/names.h"
#include "scenario/distribution/distribution.h"
#include "scenario/releases.h"
#include "scenario/sagemaker.h"

#include <string.h>

/* clang-format off */
/* Parameters that are next to "parameters" by mistake, where the SDK does not look. */
static const char *const misplaced[] = {
    "partitions", "pipeline_parallel_degree", "tensor_parallel_degree", "microbatches",
    "pipeline", "placement_strategy", "optimize", "ddp", "sharded_data_parallel_degree",
    "shard_optimizer_state", "active_microbatches", "hybrid_shard_degree",
    "context_parallel_degree", "expert_parallel_degree", "prescaled_batch", "fp16", "bf16",
    "offload_activations", "auto_partition", "default_partition", NULL,
};
/* clang-format on */

/* The SDK asks `enabled is True`: 1 and "True" leave the library off. */
static bool is_on(struct cfg enabled)
{
    if (json_is_true(enabled.json))
        return true;
    if (cfg_present(enabled) && !json_is_false(enabled.json))
        cfg_warn(enabled, DIAG_SDK_RULE,
                 "sdk rule: only True itself switches the library on, so it is "
                 "off (write True)");
    return false;
}

/* The SDK hands on "parameters" and nothing next to it. */
static int check_combined(struct parse_context *r, struct cfg c)
{
    int rc = 0;
    for (void *it = cfg_first(c); it; it = cfg_next(c, it)) {
        const char *key = cfg_key(it);
        if (strcmp(key, "enabled") == 0 || strcmp(key, "parameters") == 0 ||
            strcmp(key, "comment") == 0)
            continue;
        if (names_listed(misplaced, key))
            rc |= parse_unsure(r, cfg_member(c, it), DIAG_SDK_RULE,
                               "sdk rule: what is next to \"parameters\" is ignored "
                               "(move \"%s\" into \"parameters\")",
                               key);
        else
            cfg_warn(
                cfg_member(c, it), DIAG_SDK_RULE,
                "sdk rule: what is next to \"parameters\" is ignored (leave \"%s\" "
                "out, or give it next to \"smdistributed\")",
                key);
    }
    return rc ? -1 : 0;
}

/* "parameters" is a dictionary or the path of a JSON file that holds it. */
static int find_parameters(struct parse_context *r, struct cfg c)
{
    struct cfg p = cfg_get(c, "parameters");
    const char *file;
    if (cfg_is_string(p)) {
        if (cfg_string(p, &file))
            return -1;
        p = cfg_load(r->loader, file);
        if (!p.json)
            return -1;
    }
    if (cfg_present(p) && !cfg_is_object(p))
        return cfg_error(p, DIAG_WRONG_TYPE,
                         "not a dictionary of parameters, nor a path of a JSON file "
                         "(write { \"partitions\": 2 })");
    r->smp.parameters = p;
    return 0;
}

static void warn_instances(const struct parse_context *r, struct cfg at)
{
    const struct cluster *c = &r->s->cluster;
    for (int i = 0; r->has_cluster && i < c->n_groups; i++)
        if (!names_listed(sagemaker_smp1_instances, c->groups[i].instance->name))
            cfg_warn(
                at, DIAG_SMP_RULE,
                "smp rule: SMP v1 is for g4dn.12xlarge, p3.16xlarge, p3dn.24xlarge, "
                "p4d.24xlarge and p4de.24xlarge, not for %s: simulated all the same",
                c->groups[i].instance->name);
}

/* SMP v2's release follows from PyTorch's where it is not given. */
static int settle_version(struct parse_context *r, struct cfg at, bool second)
{
    const struct software *w = &r->s->software;
    bool exact;
    if (!r->smp.version && second && w->pytorch) {
        r->smp.version = release_brought("smp", w->pytorch, &exact);
        if (!r->smp.version)
            return cfg_error(at, DIAG_UNSUPPORTED,
                             "sdk rule: there is no SMP v2 for PyTorch %s (SMP v2 "
                             "needs %s or newer; SMP v1 is launched by \"mpi\")",
                             w->pytorch, release_brought_first("smp"));
        if (!exact)
            cfg_warn(at, DIAG_NEAREST_VERSION,
                     "sdk rule: no container of SMP v2 has PyTorch %s: taken for SMP "
                     "%s",
                     w->pytorch, r->smp.version);
    }
    if (r->smp.version && (release_smp_generation(r->smp.version) == 2) != second)
        return cfg_error(cfg_get(r->software, "smp"), DIAG_UNSUPPORTED,
                         "smp rule: \"%s\" launches SMP v%d, not %s (launch it with "
                         "\"%s\")",
                         second ? "torch_distributed" : "mpi", second ? 2 : 1,
                         r->smp.version, second ? "mpi" : "torch_distributed");
    return 0;
}

int smp_read(struct parse_context *r, struct cfg c, bool mpi, bool torch)
{
    if (!cfg_present(c))
        return 0;
    if (!cfg_is_object(c))
        return cfg_error(c, DIAG_WRONG_TYPE,
                         "not an object (write { \"enabled\": True, \"parameters\": "
                         "{ ... } })");
    int rc = check_combined(r, c);
    if (!is_on(cfg_get(c, "enabled")))
        return rc;
    if (!mpi && !torch)
        return cfg_error(c, DIAG_SMP_RULE,
                         "smp rule: the library needs a launcher next to "
                         "\"smdistributed\" (give \"mpi\": { \"enabled\": True, "
                         "\"processes_per_host\": ... } for SMP v1, "
                         "\"torch_distributed\": { \"enabled\": True } for v2)");
    if (find_parameters(r, c) || settle_version(r, c, torch))
        return -1;
    r->launched = r->launch_simple = r->written.library = true;
    r->s->parallel.smp = torch ? 2 : 1;
    if (mpi)
        warn_instances(r, c);
    if (torch ? smp_v2_read(r, r->smp.parameters) : smp_v1_read(r, r->smp.parameters))
        rc = -1;
    return rc;
}
