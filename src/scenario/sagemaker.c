#include "scenario/sagemaker.h"

#include "scenario/releases.h"

/* clang-format off */
const char *const sagemaker_smddp_instances[] = {
    "p3.16xlarge", "p3dn.24xlarge", "p4d.24xlarge", "p4de.24xlarge", NULL,
};
const char *const sagemaker_smp1_instances[] = {
    "g4dn.12xlarge", "p3.16xlarge", "p3dn.24xlarge", "p4d.24xlarge", "p4de.24xlarge", NULL,
};
/* Those for which SMDDP has a mesh. */
static const char *const gather_instances[] = { "p4d.24xlarge", "p4de.24xlarge", NULL };
/* Those on which steps with its AllReduce were published (docs/validation/smddp.md). */
static const char *const reduce_instances[] = { "p3dn.24xlarge", NULL };
/* clang-format on */

static bool has_mesh(const struct cluster *c)
{
    for (int32_t i = 0; i < c->n_groups; i++)
        if (!names_listed(gather_instances, c->groups[i].instance->name))
            return false;
    return true;
}

const char *sagemaker_reduce_unmeasured(const struct cluster *c)
{
    for (int32_t i = 0; i < c->n_groups; i++)
        if (!names_listed(reduce_instances, c->groups[i].instance->name))
            return c->groups[i].instance->name;
    return NULL;
}

const char *sagemaker_gather_lacks(const struct cluster *c, const struct software *s,
                                   const char *smp)
{
    const struct {
        const char *version;
        enum release_fact needs;
    } releases[] = {
        { s->pytorch, RELEASE_PYTORCH_SMDDP_GATHER },
        { s->smddp, RELEASE_SMDDP_GATHER },
        { smp, RELEASE_SMP_GATHER },
    };
    if (c->n_instances < 2)
        return "there is one instance";
    if (!has_mesh(c))
        return "only p4d.24xlarge and p4de.24xlarge have it";
    for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
        if (!release_has(releases[i].needs, releases[i].version))
            return release_needs(releases[i].needs);
    return NULL;
}
