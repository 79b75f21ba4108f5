/* What the readers of a scenario's sections share while they read; private to
 * the files of scenario/ that read. */
#ifndef SCENARIO_PARSE_H
#define SCENARIO_PARSE_H

#include "scenario/scenario.h"

#define PARSE_GLOBAL_MAX 1099511627776.0 /* sequences of a global batch: 2^40 */

/* The training section as written, before defaults and arithmetic. */
struct raw_training {
    struct training t;
    struct cfg checkpointing, muon, graphs, lora, frozen, sequence, layers_16bit,
        states, formats, chunks, tiles;
    int task;      /* a row of the table of tasks; -1: none */
    int reference; /* enum reference_model; -1: not given */
    const char *framework;
    bool has_micro, has_microbatches, has_accumulation, has_global;
    bool has_epochs, has_sequence;
    bool master; /* master_weights */
    bool cast_logits;
};

enum { PARSE_EXPORTS_MAX = 32 };

/* A variable that mpirun exports. */
struct parse_export {
    struct cfg at;
    const char *name, *value;
};

/* Keys that a section has, so that no default takes their place. */
struct parse_written {
    bool library, overlap, overlap_param_gather; /* of parallelism */
    bool overlap_tensor, reshard, backward_prefetch, adapter_units;
    bool backend; /* set by the dictionary */
    bool degree;  /* of sharding; written, or set by the dictionary */
};

/* What SMP's dictionary sets, and a script under SMP. */
struct parse_smp {
    struct cfg parameters;       /* absent without SMP */
    const char *version;         /* as far as known; NULL: not */
    int64_t microbatches;        /* 0: not set */
    enum op_precision precision; /* where has_precision */
    bool has_precision, has_clipping;
    struct cfg precision_at;
    double clipping;
    bool auto_partition;
    bool replicates; /* ddp or horovod is on */
    /* by a script */
    enum checkpointing checkpointing; /* NONE: not set */
    int64_t checkpoint_group;
    int64_t accumulation; /* 0: not set */
    bool fused_softmax;   /* in SMP's tensor-parallel layers, or by the script */
};

/* What a section set, so that no other sets it again. */
struct parse_context {
    struct scenario *s;
    struct cfg_loader *loader;
    const char *name;
    struct cfg root, cluster, model, training, software, distribution, parallelism,
        background;
    struct scenario_sections sections;
    struct raw_training words;
    struct parse_written written;
    bool overlap_tensor;
    bool launched;      /* by SageMaker, through the dictionary */
    bool launch_simple; /* its launcher holds NCCL to Simple whatever the network */
    bool has_cluster;   /* the cluster was read: counts and GPUs are known */
    bool has_model;
    bool has_typos; /* keys or values of training were not understood */
    bool strict;    /* what only earns a warning is an error */
    struct parse_export exports[PARSE_EXPORTS_MAX]; /* by custom_mpi_options */
    int32_t n_exports;
    struct parse_smp smp;
};

/* Notes a parameter that is accepted without effect: "/pointer: without effect:
 * why". */
void parse_note(struct parse_context *r, struct cfg c, const char *why);

/* Notes a default that was taken for what the file leaves open (scenario/assumed.h).
 * The texts are kept, not copied. */
void parse_assume(struct parse_context *r, const char *pointer, const char *value,
                  const char *why);

/* Notes how a parameter is taken: "/pointer: what". */
void parse_say(struct parse_context *r, struct cfg c, enum diag_code code,
               const char *what);

/* Reports what a job would run with, but hardly as meant: a warning, and an error when
 * checking. The result is what reading should go on with: 0 or -1. */
int parse_unsure(struct parse_context *r, struct cfg c, enum diag_code code,
                 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Whether the script trains with TensorFlow, as far as /training/framework says so,
 * which a launch script's TensorFlow estimator sets. */
bool parse_is_tensorflow(const struct parse_context *r);

/* Jobs of "background", after the scenario itself; -1 after reporting. */
int background_read(struct parse_context *r);

/* Each returns -1 after reporting. The order: software_versions, distribution_read
 * (scenario/distribution/), parallelism_read, training_read, parallelism_framework,
 * training_batch, training_attention, rules_check, software_read. What needs the model or the cluster is left out where those could not
 * be read. */
int software_versions(struct parse_context *r);
int training_read(struct parse_context *r);
int training_batch(struct parse_context *r);
int training_attention(struct parse_context *r);
int parallelism_read(struct parse_context *r);
int parallelism_framework(struct parse_context *r);
int software_read(struct parse_context *r);

/* Part of parallelism_framework: the size of a bucket, and Horovod's cycle. */
void bucket_defaults(struct parse_context *r);

/* Parts of parallelism_read: sharding, partition, and the arithmetic of degrees, which
 * needs the cluster. */
int sharding_read(struct parse_context *r, struct cfg c);
void sharding_defaults(struct parse_context *r); /* the library's, when that is known */
int stage_partition_words(struct parse_context *r, struct cfg c);
int degrees_read(struct parse_context *r);
int dispatch_read(struct parse_context *r); /* after these */

/* A sequence length, or a mean and longest one; with the micro-batch and attention
 * known, the length that is computed. The mean longest of n lengths, and the length of
 * the document that the mean token is in. */
int lengths_read(struct parse_context *r, struct cfg c);
int lengths_resolve(struct parse_context *r);
double lengths_longest(double mean, double max, double n);
double lengths_attended(double mean, double max);

/* The keys "activation_checkpointing" and "cuda_graphs" of training. */
int checkpointing_read(struct training *t, struct cfg c);
int graphs_read(struct training *t, struct cfg c);

/* The section "lora" of training, after the precision is known; the precision in which
 * the frozen model's own operators run under it. */
int lora_read(struct parse_context *r);
int lora_read_frozen(struct parse_context *r);
enum op_precision lora_list_precision(const struct training *t);

/* What GPUs compute in, layers in 16 bits, formats of optimizer states; part of
 * training_read. Parameters held quantized: part of rules_check. */
int precision_read(struct parse_context *r);
int precision_check(const struct parse_context *r);

/* Part of rules_check: whether the profile fuses their products, and what adapters do
 * not go with. */
int lora_check(struct parse_context *r);

/* muon.c: how Muon's updates are made, and where it is simulated. */
int muon_read(struct training *t, struct cfg c);
int muon_check(const struct parse_context *r);

/* saved.c: modules whose saved tensors go to the host, and what they need. */
int saved_read(struct parallelism *p, struct cfg c);
int saved_check(const struct parse_context *r);
int saved_check_layers(const struct parse_context *r);

/* mtp.c: modules that predict further tokens, put into the model; their rules. */
void mtp_read(struct parse_context *r);

/* training.c: number formats of gradients, and of adapters. */
extern const struct name_value training_dtypes[];

/* Parts of training_read: what is trained. The head that the task puts on the model, and
 * what its samples are and are compared with, which needs the adapters. */
extern const struct name_value task_names[];
int task_apply(struct parse_context *r);
int task_read_preference(struct parse_context *r);
int task_check(const struct parse_context *r); /* part of rules_check */
int mtp_check(const struct parse_context *r);

/* Warns of degrees that are simulated otherwise than the library has them. */
void degrees_note(const struct parse_context *r);

/* Rules that join sections; after training_batch, when all was read. */
int rules_check(struct parse_context *r);

/* Part of rules_check: what a replay would have to hold (buffers, passes) is
 * bounded. */
int work_check(const struct parse_context *r);

/* Notes what was written and nothing heeds; after all else, of a scenario without
 * errors. */
void heed_note(struct parse_context *r);

#endif
