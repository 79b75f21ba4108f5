#include "scenario/sagemaker.h"

#include "scenario/versions.h"

/* clang-format off */
const char *const sagemaker_smddp_instances[] = {
    "p3.16xlarge", "p3dn.24xlarge", "p4d.24xlarge", "p4de.24xlarge", NULL,
};
const char *const sagemaker_smp1_instances[] = {
    "g4dn.12xlarge", "p3.16xlarge", "p3dn.24xlarge", "p4d.24xlarge", "p4de.24xlarge", NULL,
};
/* Those for which SMDDP has a mesh. */
static const char *const gather_instances[] = { "p4d.24xlarge", "p4de.24xlarge", NULL };
/* clang-format on */

static bool has_mesh(const struct cluster *c)
{
    for (int32_t i = 0; i < c->n_groups; i++)
        if (!names_listed(gather_instances, c->groups[i].instance->name))
            return false;
    return true;
}

const char *sagemaker_gather_lacks(const struct cluster *c, const struct software *s,
                                   const char *smp)
{
    const struct {
        const char *version, *first, *why;
    } releases[] = {
        { s->pytorch, "1.12.1", "it needs PyTorch 1.12.1" },
        { s->smddp, "1.6", "it needs SMDDP 1.6" },
        { smp, "1.13", "it needs SMP 1.13" },
    };
    if (c->n_instances < 2)
        return "there is one instance";
    if (!has_mesh(c))
        return "only p4d.24xlarge and p4de.24xlarge have it";
    for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
        if (releases[i].version &&
            version_compare(releases[i].version, releases[i].first) < 0)
            return releases[i].why;
    return NULL;
}
