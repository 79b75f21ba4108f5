/* Releases of software, in one place: which are known, what changed with which, and what
 * a container brings. A const table; messages form the numbers that they name from it.
 * Two tables keep a column of their own, as each row's release is there once: the
 * parameters of SMP's dictionaries (dialect/sagemaker/smp_v1.c, smp_v2.c) and the rows of
 * NCCL's constants (cost/nccl.c).
 *
 * To add a release: a row in releases.c; tests hold its range to NCCL's table. */
#ifndef SCENARIO_RELEASES_H
#define SCENARIO_RELEASES_H

#include "base/arena.h"

#include <stdbool.h>

/* What one release has and others do not. */
enum release_fact {
    RELEASE_PYTORCH_2,              /* FSDP as it is since, and NCCL held to rings */
    RELEASE_PYTORCH_LAZY,           /* loads a kernel when it is first called */
    RELEASE_PYTORCH_SDPA,           /* scaled_dot_product_attention */
    RELEASE_PYTORCH_SDPA_TAKEN,     /* transformers calls it from this PyTorch on */
    RELEASE_PYTORCH_CUDNN,          /* its SDPA takes cuDNN's kernel first */
    RELEASE_PYTORCH_CUDNN_ONCE,     /* likewise, on Hopper alone */
    RELEASE_TRANSFORMERS_MASKS,     /* hands some families' SDPA a mask, always */
    RELEASE_PYTORCH_SMDDP_GATHER,   /* SMDDP's AllGather of sharded parameters */
    RELEASE_SMDDP_GATHER,           /* likewise */
    RELEASE_SMP_GATHER,             /* likewise */
    RELEASE_SMP_FUSED_SOFTMAX,      /* in its tensor-parallel layers, by default */
    RELEASE_SMP_SHARDS_WITH_TENSOR, /* sharded data parallelism with tensor ranks */
    RELEASE_SMP_OFFLOAD_BROKEN,     /* of activations */
    RELEASE_SDK_NEEDS_PARTITIONS,   /* its check of SMP v1's dictionary */
    RELEASE_NCCL_FUNCTION_LISTS,    /* NCCL_ALGO "allreduce:tree;..." */
    RELEASE_FACTS
};

/* Whether a release has it; those that are not known (NULL) do. */
bool release_has(enum release_fact fact, const char *version);

/* The first and the last release that has it; NULL: from the first, to the newest. */
const char *release_first(enum release_fact fact);
const char *release_last(enum release_fact fact);

/* "it needs PyTorch 1.12.1". */
const char *release_needs(enum release_fact fact);

/* Why a version is not known: no release that the model knows is like it ("NCCL 9.9 is
 * not known (2.4 to 2.30 are): taken for the newest of these"). `key` is its name in
 * the section "software". NULL: it is known, or the key is not. */
const char *release_unsure(struct arena *arena, const char *key, const char *version);

/* The newest release of `key` that is known, as far as it is written ("2" is any 2.x);
 * NULL: there is no such key. */
const char *release_newest(const char *key);

/* Which generation of SageMaker's model parallel library a release is: 1 or 2. */
int release_smp_generation(const char *version);

/* The release of that library, with parameters that data names, at or below the version;
 * NULL: none was. */
const char *release_smp_nearest(const char *version);

/* The first release of a generation. */
const char *release_smp_first(int generation);

/* What SageMaker's container of a PyTorch brings. `what` is "smp" (SMP v2's containers),
 * "transformers" (Hugging Face's) or "python" ("py310"). Of a PyTorch between two, the
 * older's; before the first, NULL for "smp" and the first's for the others. *exact, where
 * not NULL, says whether that PyTorch is named. */
const char *release_brought(const char *what, const char *pytorch, bool *exact);

/* The first PyTorch whose container brings it. */
const char *release_brought_first(const char *what);

/* The PyTorch of a new job's container, where none is written. `second`: PyTorch 2 is
 * needed; else one in which SMP v1 runs, too. */
const char *release_pytorch_default(bool second);

/* The first release of transformers whose modules of a model's family call PyTorch's SDPA
 * by default; NULL: none is known. */
const char *release_sdpa_since(const char *family);

/* Whether transformers' modules of a family hand PyTorch's SDPA a mask for every batch,
 * padded or not. */
bool release_masks_all(const char *family, const char *transformers);

#endif
