/* HyperPod's own files of a job, which are no manifests: their command as a container's,
 * for manifest.c. */
#ifndef DIALECT_SOURCE_MANIFEST_HYPERPOD_H
#define DIALECT_SOURCE_MANIFEST_HYPERPOD_H

#include "dialect/source/value.h"

struct manifest_job {
    const char *kind;              /* NULL: it is none */
    const struct value *container; /* its command, args and env */
    const struct value *pods, *gpus,
        *instance; /* as they are written; NULL: not said */
};

/* False: the document is none. */
bool manifest_hyperpod(struct manifest_job *job, struct arena *arena,
                       const struct value *root);

#endif
