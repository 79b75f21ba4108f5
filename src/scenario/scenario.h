/* A scenario: one training job on one cluster, read from the file a user writes, with
 * every default filled in and every rule checked. What it says stays as it is after
 * loading.
 *
 * The job's parallelism comes from the SageMaker dictionary ("distribution"), from
 * smsim's own words ("parallelism"), or both, translated into one `struct parallelism`.
 * Numbers of ranks: world = data x context x pipeline x tensor. What describes a step
 * is read and checked here; what the replay does not simulate yet, it refuses.
 *
 * Files of this folder:
 *     parse, training, batch, software, degrees: sections and the batch's arithmetic
 *     parallelism, sharding, stages, states:
 *         what is sharded and how many bytes that leaves
 *     libraries, library_defaults, bucket_defaults, versions, attention:
 *         what a library and release do
 *     rules, heed*, work:
 *         rules that join sections; keys that nothing heeds; size of a replay
 *     distribution/: SageMaker's dictionary; sagemaker: where its libraries run
 *     nccl_environment, variable_effects, horovod_environment:
 *         variables of NCCL; those that hurt; of Horovod
 *     allocator_environment: those of PyTorch's allocator
 *     background: other jobs on the same fabric
 *     assumed: defaults that were taken */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "hardware/cluster.h"
#include "hardware/nccl_limits.h"
#include "layout/parallelism.h"
#include "scenario/assumed.h"

struct software { /* versions; NULL: not given */
    const char *pytorch, *transformers, *nccl, *smddp, *horovod, *smp, *efa,
        *sagemaker_sdk;
    struct cfg environment; /* object of strings, or absent */
    int protocol; /* the one FABRIC_PROTO_* that NCCL is held to; -1: its own choice */
    struct nccl_limits limits;        /* what NCCL_ALGO, NCCL_PROTO and launchers take
                                         from that choice */
    bool has_protocol, has_algorithm; /* NCCL_PROTO, NCCL_ALGO are set */
    bool no_nvls;                     /* NCCL_NVLS_ENABLE=0 */
    bool expandable_segments;         /* PYTORCH_CUDA_ALLOC_CONF has them */
    bool node_group;                  /* NANOTRON_BENCHMARK=1 */
    bool checks_collectives;          /* TORCH_DISTRIBUTED_DEBUG=DETAIL */
    bool simple_on_efa;               /* the launcher holds NCCL to Simple there */
};

/* What lies beyond a step; read by the campaign layer. Absent where not written. */
struct scenario_sections {
    struct cfg storage, input, job, uncertainty;
};

/* Other jobs on the fabric (scenario/background.c). */
struct background {
    struct scenario *jobs; /* [n] */
    int32_t n;
    bool acts; /* flows of several jobs can meet on it */
};

struct scenario {
    const char *name;
    struct cluster cluster;
    struct model model;
    struct training training;
    struct parallelism parallel;
    struct software software;
    const struct fabric *fabric; /* between nodes; NULL when one node */
    struct scenario_sections sections;
    struct diag *notes; /* parameters without effect, or interpreted in a way to be
                           reported */
    int32_t n_notes;
    struct assumptions assumed; /* what the file leaves open, as it was decided */
    struct background background;
    const struct made_operators *operators; /* what reading has made; NULL: nothing */
};

/* Reads a scenario from the root of a document. All memory lives in the loader. Every
 * error of the file is reported; -1 when there was any. */
int scenario_read(struct scenario *s, struct cfg_loader *loader, struct cfg root);

/* The same, where what a job would run with, but hardly as meant, is an error, too: two
 * names of one parameter that disagree, parameters next to "parameters". */
int scenario_check(struct scenario *s, struct cfg_loader *loader, struct cfg root);

int64_t scenario_world(const struct scenario *s); /* ranks */

/* Those of a framework where the environment asks for them, else 0 (MODEL.md, 4.5). */
struct check_times scenario_checks(const struct scenario *s,
                                   const struct framework *fw);

/* Whether SMP's execution servers run the passes: a stage may be visited twice. */
bool schedule_is_smp(enum schedule schedule);

/* Updates of an epoch, the last of which may be short of samples; 0 when the file names
 * no samples. */
int64_t scenario_epoch_steps(const struct scenario *s);

/* Updates of one job by samples x epochs or steps; 0 when the file names neither. */
int64_t scenario_job_steps(const struct scenario *s);

/* Passes of a step that accumulate gradients; a pipeline's fill is one. */
int64_t scenario_passes(const struct scenario *s);
int64_t scenario_sm_arch(const struct scenario *s); /* the least of its GPUs' */

/* Whether the loss of a task ("dpo") compares with a reference model's; NULL: it does
 * not. */
bool scenario_task_compares(const char *task);

/* The settings under which the operator list of one GPU is made. */
struct op_settings scenario_op_settings(const struct scenario *s);

/* That list: the one that reading the scenario has made, unless the scenario was changed
 * since, or else made in the arena. As op_list_make. */
int scenario_op_list(struct op_list *list, struct arena *arena,
                     const struct scenario *s, struct err *err);

/* Memory of a process's CUDA context on a GPU with the kernels that it has loaded: of the
 * GPU's file, which is of libraries that load all of theirs; of a job of one rank what is
 * left where each is loaded when it is first called (MODEL.md, 5.4). */
int64_t scenario_context_B(const struct scenario *s, const struct gpu *gpu,
                           int64_t ranks);

#endif
