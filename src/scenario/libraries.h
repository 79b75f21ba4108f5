/* The libraries that train: one table, a row each, of all that a library decides.
 *
 * Rules, the step, memory, the search and writers ask the row (library_of) for what
 * they need to know, by the name of that property; none of them asks which library it
 * is. What depends on the kernels and the host that run below a library is in the
 * profiles of models/frameworks.
 *
 * To add a library: a name in enum library, its word in library_names and library_words,
 * and a row in libraries.c. A property that no library had before gets a member here,
 * false or 0 for all others, and its one reader. For `smsim plan`, a row of
 * search/space/stacks.c too. Dialects set the library of a file by its name. What a row
 * gives where a scenario says nothing is in library_defaults.c. */
#ifndef SCENARIO_LIBRARIES_H
#define SCENARIO_LIBRARIES_H

#include "scenario/scenario.h"

enum library {
    LIBRARY_DDP,
    LIBRARY_FSDP,
    LIBRARY_DEEPSPEED,
    LIBRARY_MEGATRON,
    LIBRARY_SMP,
    LIBRARY_HOROVOD,
    LIBRARY_PARAMETER_SERVER,
    LIBRARY_NANOTRON,
    LIBRARY_MEGATRON_FSDP,
    LIBRARY_INTERNEVO
};
enum backend { BACKEND_NCCL, BACKEND_SMDDP };
extern const struct name_value library_names[], backend_names[];

/* Who moves the bytes. */
struct backend_row {
    bool
        buffers; /* gradients go in buffers that cut tensors, to servers on the hosts */
    bool gathers; /* it has an AllGather of its own for sharded parameters */
};

/* A bucket of gradients: bytes, or elements, of which each rank may ask for more. */
enum library_bucket_use {
    BUCKET_OVERLAPPED, /* where reductions overlap and the profile has no bucket */
    BUCKET_OVER,       /* and in place of the profile's */
    BUCKET_ALWAYS      /* and without overlap */
};
struct library_bucket {
    int64_t size_B, elements, each_rank;
    enum library_bucket_use use;
};

/* Defaults of full sharding, in elements; 0: it has none. */
struct library_shards {
    int64_t in_flight, bucket, persistence, live, reuse;
};

/* When a profile of models/frameworks is the default. */
enum library_profile_when {
    PROFILE_ALWAYS,
    PROFILE_OLD_PYTORCH, /* older than 2 */
    PROFILE_MODEL_SPLIT, /* with tensor or pipeline parallelism */
    PROFILE_FULL,        /* with full sharding */
    PROFILE_RECENT       /* of 2023 and later: by its GPUs, or by its model */
};
struct library_profile {
    enum library_profile_when when;
    const char *framework;
};

/* What releases changed, from `first` on; the newest is first, "0" ends them. */
struct library_release {
    const char *first;
    int64_t bucket_B;
    double cycle_s;
};

enum { LIBRARY_PROFILES_MAX = 3 };

/* What SageMaker's model parallel library is under its dictionary in /distribution. */
struct library_smp {
    bool dictionary;     /* what it sets is not written in /parallelism as well */
    bool script;         /* scripts call it: smp.step cuts the batch, and the model is
                            traced before the first step */
    bool sharding;       /* the dictionary says all of sharding, and clips */
    bool precision;      /* it may convert the model, too */
    bool merges_batches; /* the ranks of a tensor group bring a batch each, unless they
                            are fed the same ("prescaled_batch") */
    bool whole_modules;  /* those that the tensor degree does not divide stay whole */
    bool whole_ends;     /* so do embedding and head, unless the script splits them */
    bool engine;         /* layers of a tensor group are Transformer Engine's */
    bool rings;          /* on PyTorch 2 its launcher holds NCCL to rings */
    bool sdk_rules;      /* the SDK looks at the dictionary */
};

struct library_row {
    enum library library;
    enum backend backend;
    const char *title;    /* in text: "Megatron" */
    const char *name;     /* as /parallelism/library has it: "smp-v1" */
    const char *launcher; /* of SageMaker's dictionary; NULL: none sets it up */
    bool pytorch2;        /* as it is simulated, it needs PyTorch 2 */
    struct library_smp smp;
    const struct library_row *planned_as; /* the row that plans take; NULL: itself */
    /* defaults */
    struct library_profile profiles[LIBRARY_PROFILES_MAX]; /* the first that holds */
    const struct library_release *releases;                /* NULL: none differ */
    struct library_bucket bucket;
    struct library_shards shards;
    enum sharding sharding;   /* where no strategy is written */
    bool gradients_mean_full; /* sharded gradients are full sharding that keeps what it
                                  gathered until backward */
    int64_t vocabulary_multiple; /* of the words of a tensor rank */
    const char *placement; /* order of its ranks; NULL: that of the scenario, DPT */
    /* degrees and schedules that plans ask of it; a scenario may have others, for a
     * script that brings them. Here and below bits are 1 << the enum's value */
    bool tensor, pipeline, context, expert, expert_tensor, sequence_parallel;
    bool ulysses; /* context groups that exchange heads; plans do not ask for them */
    bool part_shards; /* states may be sharded over a part of the replicas */
    uint32_t schedules, offloads;
    uint32_t dispatchers; /* of experts' tokens, in addition to all-to-all */
    /* what it has */
    uint32_t shardings, pipeline_shardings;
    const char *shardings_mend; /* what to write instead of a strategy it has not */
    const char *wrapped_by;     /* the library that shards the same script fully */
    bool smp_extensions;        /* SMP's schedules and tensor policies */
    bool smddp;                 /* SMDDP can move its bytes */
    bool own_models;            /* it trains models of its own code */
    bool script_models;         /* the script's model runs as the script wrote it */
    /* states */
    bool reduces_sums;    /* gradients are reduced as they were added up */
    bool fp32_weights;    /* its optimizers always keep them */
    bool states_at_start; /* made before the first step */
    bool flat_shards;     /* a sharded optimizer's states are flat buffers */
    bool
        sums_flat; /* sums of gradients are one buffer, and master weights another, both
                       made before the first step; what a microbatch's backward makes is
                       added when it has ended */
    double host_update; /* of the rate of a host's memory, what an update there reaches
                             in steps; 0: what one process alone does */
    uint32_t
        saves_shards; /* bits of sharding: each rank saves its part, never one all */
    /* gradients */
    bool copies_gradients;   /* into buckets and out of them, */
    bool sums_in_hook;       /* which add them to sums that are reduced in place, */
    bool bucket_views;       /* unless gradients are views of them, as may be asked */
    bool first_bucket;       /* the first bucket has a size of its own */
    bool buckets_by_overlap; /* without overlap there is one bucket */
    bool buckets_by_chunk;   /* a chunk of layers ends its buckets, and only those of
                                  the first chunk are limited */
    bool reduces_units;      /* a layer's gradients at once */
    bool reduces_head;       /* those of the modules after the layers once backward has
                                left these, not with the embedding's */
    bool overlaps_linear; /* "overlap_tensor" is about what overlaps with gradients, not
                                about pieces of products */
    uint32_t reduces_after; /* bits of sharding: all gradients after backward */
    uint32_t
        reduces_to_owner;   /* bits of sharding: a tensor to the rank that updates it */
    uint32_t sums_whole;    /* bits of sharding: on all ranks, whoever updates them */
    uint32_t reduces_each;  /* bits of sharding: in every accumulation step */
    bool early_updates;     /* the optimizer can run within backward */
    bool no_sync;           /* full sharding can leave that to the last step */
    bool gathers_logits;    /* its tensor groups can have all words on each rank */
    uint32_t gathers_lists; /* bits of sharding: updated parameters come as lists of a
                               piece a tensor and rank, which are copied one by one */
    bool fuses_by_cycle;    /* at each cycle, what is ready */
    bool servers;           /* sums are made by parameter servers */
    /* passes */
    enum partition_method partition; /* of a pipeline's stages, where none is written */
    bool stage_counts;        /* or the layers of each: plans write them where layers do
                                  not come out even */
    bool fills_once;          /* accumulation steps of a pipeline are microbatches of
                                  one fill; else each step fills and drains it */
    bool fill_needs_stages;   /* 1F1B: as many microbatches as stages but one */
    bool waits_for_sends;     /* between stages */
    bool keeps_stage_outputs; /* until the stage's backward */
    bool message_buffers;     /* one for each microbatch's activation and gradient
                                    that come, from the first step on */
    bool interleaves_all_first; /* interleaved: with as many microbatches as stages, all
                                   forwards come first */
    bool shares_on_one_stage;   /* modules that share a parameter */
    bool broadcasts_buffers;    /* the model's, before every forward */
    bool broadcasts_outputs;    /* what forward returns, to all ranks of the group */
    bool graphs;                /* it captures parts of layers in CUDA graphs */
    bool copies_keys;           /* ranks beyond key-value heads hold copies of them */
    bool defers_wgrads;         /* of the head, to the end of a pipeline's passes */
    bool scatters_messages;     /* between stages, unless "scatter_gather" is off */
    bool offloads_modules;      /* what they save, to the host */
    bool offloads_layers;       /* all that the first ones save */
    bool muon_owners;           /* Muon's matrices have an owner each among replicas,
                                    and tensor groups work on them together */
    bool muon_tf32;             /* its products are TF32, not bf16 */
    bool mtp;                   /* it trains modules that predict further tokens */
    bool streams;               /* buffers on streams of their own */
    /* NCCL's communicators */
    int32_t worlds;  /* of all ranks; 0: one where a job has several groups */
    bool pairs;      /* one for each pair of stages that send to each other */
    bool node_group; /* benchmarks make one of each node's GPUs */
};

/* Words of /parallelism/library in addition to library_names: what plans, --for and
 * estimators call the same. "smddp" is ddp whose backend is smddp. */
extern const struct name_value library_words[];
const struct library_row *library_of_word(int word);

/* The rows. */
extern const struct library_row library_ddp, library_smddp, library_fsdp,
    library_smp_v2, library_deepspeed, library_megatron, library_smp, library_horovod,
    library_parameter_server, library_nanotron, library_megatron_fsdp,
    library_internevo;

/* The row of a job: ddp over SMDDP and the generations of SMP have rows of their own. */
const struct library_row *library_of(const struct parallelism *p);

/* The row of the backend of a job, and whether that is SMDDP's. */
const struct backend_row *backend_of(const struct parallelism *p);
bool backend_is_smddp(const struct parallelism *p);

/* The row of a word of library_names. */
const struct library_row *library_named(const char *word);

/* The word of a job's library: "ddp". */
const char *library_word(const struct parallelism *p);

/* Sets the library of a job by its word of library_names, NULL: the default; likewise the
 * backend. -1: there is no such word. */
int library_set(struct parallelism *p, const char *word);
int backend_set(struct parallelism *p, const char *word);

/* Where nobody names a library: the one that the strategy and the degrees need. Whether it
 * is another than before. */
bool library_infer(struct parallelism *p);

/* The launcher of SageMaker's dictionary that starts a job; NULL: none does. */
const char *library_launcher(const struct parallelism *p);

/* Whether bits of an enum have a value. */
static inline bool library_has(uint32_t bits, int value)
{
    return bits >> value & 1;
}

/* Shards as a library's word says: sharded gradients may mean full sharding that keeps
 * what it gathered until backward (then true). */
bool library_shard(struct parallelism *p, enum sharding how);

/* Workers of parameter servers that do not wait for each other. */
bool library_is_asynchronous(const struct parallelism *p);

/* The default profile of a job that is parallel as p says. Of the scenario its model,
 * GPUs and release of PyTorch count, as far as they are known. */
const char *library_framework(const struct parallelism *p, const struct scenario *s);

/* Bytes of a library's bucket, by default: the ranks over which gradients are summed,
 * and bytes of a gradient. 0: it reduces by units. */
int64_t library_bucket_B(const struct library_row *l, int64_t ranks, double gradient_B);

#endif
