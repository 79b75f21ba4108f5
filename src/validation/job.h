/* One thing to be predicted for a row: a scenario's step, a collective, or a kernel. */
#ifndef VALIDATION_JOB_H
#define VALIDATION_JOB_H

#include "base/err.h"
#include "validation/mapping.h"

/* What one thread keeps between jobs: hardware already read, the net of the last
 * cluster. It has no influence on results. */
struct job_worker;

struct job_worker *validation_worker_new(void);
void validation_worker_free(struct job_worker *w);

/* Runs a job that a mapping's subject came to, at `flow` fidelity. Yields the
 * quantities by name as a new tree: simulate's JSON; {"time_s", "algbw_Bps",
 * "busbw_Bps"} of a collective; {"time_s"} of a kernel. NULL with err set to the job's
 * first error.
 *
 * A collective: "cluster" ("dgx-1v-16gb:1"), "op", "bytes" (nccl-tests' size), and
 * optional "gpus" ([0, 1], of each instance) or "n_gpus" (the first so many of each),
 * "fabric", "nccl" (version), "algorithm", "gpus_per_thread" (nccl-tests' -g). A kernel: "gpu", "op" ("gemm": m, n, k,
 * batch; "attention": batch, heads, sequence, head_dim, causal, backward), "dtype", and
 * "burst" (true, the default: clocks of a short benchmark; false: those of long
 * training), "loop" (false; true: of a benchmark that repeats the kernel until the
 * power limit is felt), "paged" (false; true: attention over a server's paged
 * cache). A gemm with "software" ("vllm 0.24.0") and "format" ("fp8", "nvfp4") instead of
 * "dtype" is a product as that software runs it, by topologies/products: with
 * quantization and host as it measures them. A "transfer" of experts' tokens has
 * "ranks", "tokens" of each, "hidden", "topk", "experts", "sms" and maybe "software"
 * (topologies/transfers), and gives {"dispatch_s", "combine_s"}. "experts": "software",
 * "format", tokens, hidden, ffn, experts, experts_per_token, tensor, expert_parallel,
 * exponent, gated, by topologies/experts. A "software" of which nothing was measured in
 * that format on the GPU is refused: other releases are not taken for it. */
json_t *validation_job_run(struct job_worker *w, enum mapping_kind kind, json_t *tree,
                           struct err *err);

#endif
