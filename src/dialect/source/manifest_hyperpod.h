/* Files of a job that are no manifests: HyperPod's own, SkyPilot's and dstack's tasks, Beaker's,
 * values of Helm charts.
 * Their command as a container's, for manifest.c. */
#ifndef DIALECT_SOURCE_MANIFEST_HYPERPOD_H
#define DIALECT_SOURCE_MANIFEST_HYPERPOD_H

#include "dialect/source/value.h"

struct manifest_job {
    const char *kind;              /* NULL: it is none */
    const struct value *container; /* its command, args and env */
    const struct value *pods, *gpus, *instance,
        *device;        /* as they are written; NULL: not said */
    const char *within; /* the folder next to the document that it runs in, or NULL */
};

/* False: the document is none. */
bool manifest_hyperpod(struct manifest_job *job, struct arena *arena,
                       const struct value *root);
bool manifest_cloud(struct manifest_job *job, struct arena *arena,
                    const struct value *root);

/* Values of a Helm chart with a command and GPUs. */
bool manifest_helm(struct manifest_job *job, struct arena *arena,
                   const struct value *root);

#endif
