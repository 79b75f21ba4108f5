/* The "parallelism" section: what the script itself does, in smsim's own words. */
#include "base/units.h"
#include "layout/layout.h"
#include "scenario/libraries.h"
#include "scenario/parse.h"
#include "scenario/states.h"
#include "scenario/versions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct name_value compression_names[] = {
    { "none", COMPRESSION_NONE }, { "fp16", COMPRESSION_FP16 },
    { "int8", COMPRESSION_INT8 }, { NULL, 0 },
};
static const struct name_value forward_policy_names[] = {
    { "eager", FORWARD_EAGER }, { "paced", FORWARD_PACED }, { NULL, 0 },
};
static const struct name_value context_comm_names[] = {
    { "ring", OP_CONTEXT_RING },
    { "all-gather", OP_CONTEXT_GATHER },
    { "alltoall", OP_CONTEXT_HEADS },
    { NULL, 0 },
};
static const struct name_value outputs_names[] = {
    { "none", OUTPUTS_NONE }, { "loss", OUTPUTS_LOSS }, { "logits", OUTPUTS_LOGITS },
    { NULL, 0 },
};

/* The default framework of each library; default_framework knows the exceptions. */
static const char *const library_frameworks[] = {
    [LIBRARY_DDP] = "pytorch-ddp",
    [LIBRARY_FSDP] = "fsdp-torch2",
    [LIBRARY_DEEPSPEED] = "pytorch-ddp",
    [LIBRARY_MEGATRON] = "megatron-2022",
    [LIBRARY_SMP] = "smp-v1",
    [LIBRARY_HOROVOD] = "horovod-pytorch",
    [LIBRARY_PARAMETER_SERVER] = "pytorch-ddp",
};
static const char fsdp_torch1_framework[] = "fsdp-torch1";
static const char zero3_framework[] = "deepspeed-zero3";
static const char megatron_deepspeed_framework[] = "megatron-deepspeed";
static const char megatron_core_framework[] = "megatron-core";
static const char smddp_framework[] = "smddp";
static const char smp_v2_framework[] = "fsdp-torch2"; /* SMP v2 needs PyTorch 2 */

/* Horovod's defaults by version: threshold and cycle (docs/tensor-fusion.rst). */
static const struct {
    const char *first;
    int64_t threshold_B;
    double cycle_s;
} horovod_versions[] = {
    { "0.22", 128 << 20, 1e-3 },
    { "0", 64 << 20, 5e-3 }, /* 0.15 to 0.19 */
};

/* SMDDP's fusion buffers; the size is not documented, the Herring paper tunes tens of
 * MB. */
enum { SMDDP_BUFFER_B = 32 << 20 };

#define DEGREE_MAX 1048576.0
#define BUCKET_MAX 1e13

/* The section as written. Sizes and times that are not given are negative. */
struct raw_section {
    struct parallelism p;
    struct cfg sharding, partition, script;
    const char *placement;
    int64_t servers;
    int library; /* of library_words */
    bool has_library, has_backend, has_overlap, has_param_gather, has_servers,
        has_overlap_tensor, overlap_tensor;
    bool aligned; /* all stages begin to gather updated parameters at once */
};

#define W struct raw_section
#define HAS(k, t, m, h) \
    .key = (k), .type = (t), .at = offsetof(W, m), .has = offsetof(W, h)
static const struct cfg_field parallelism_fields[] = {
    CFG_INT("tensor", W, p.tensor, 1, DEGREE_MAX),
    CFG_BOOL("sequence_parallel", W, p.sequence_parallel),
    CFG_ENUM("tensor_policy", W, p.tensor_policy, tensor_policy_names),
    CFG_INT("pipeline", W, p.pipeline, 1, DEGREE_MAX),
    CFG_INT("virtual_stages", W, p.virtual_stages, 1, DEGREE_MAX),
    CFG_ENUM("schedule", W, p.schedule, schedule_names),
    CFG_CHILD("partition", W, partition),
    CFG_INT("context", W, p.context, 1, DEGREE_MAX),
    CFG_ENUM("context_comm", W, p.context_comm, context_comm_names),
    CFG_INT("expert", W, p.expert, 1, DEGREE_MAX),
    CFG_REAL("expert_imbalance", W, p.expert_imbalance, 1, 1e6),
    CFG_REFUSED("data", "data is what remains of the GPUs; leave it out"),
    CFG_INT("active_microbatches", W, p.active_microbatches, 1, DEGREE_MAX),
    CFG_ENUM("forward_policy", W, p.forward_policy, forward_policy_names),
    CFG_ENUM("broadcast_outputs", W, p.broadcast_outputs, outputs_names),
    CFG_CHILD("sharding", W, sharding),
    { HAS("library", CFG_T_ENUM, library, has_library), .names = library_words },
    { HAS("backend", CFG_T_ENUM, p.backend, has_backend), .names = backend_names },
    CFG_BYTES("bucket_size", W, p.bucket_B, 1, BUCKET_MAX),
    { HAS("overlap", CFG_T_BOOL, p.overlap, has_overlap) },
    { HAS("overlap_tensor", CFG_T_BOOL, overlap_tensor, has_overlap_tensor) },
    { HAS("overlap_param_gather", CFG_T_BOOL, p.overlap_param_gather,
          has_param_gather) },
    CFG_BOOL("align_param_gather", W, aligned),
    CFG_BOOL("gradient_as_bucket_view", W, p.gradient_as_bucket_view),
    CFG_ENUM("gradient_compression", W, p.compression, compression_names),
    CFG_QUANTITY("fusion_cycle", W, p.fusion_cycle_s, UNIT_SECONDS, 0, 10),
    { HAS("servers", CFG_T_INT, servers, has_servers), .min = 1, .max = DEGREE_MAX },
    CFG_BOOL("asynchronous", W, p.asynchronous),
    CFG_INT("server_replicas", W, p.server_replicas, 0, 15),
    CFG_BOOL("broadcast_buffers", W, p.broadcast_buffers),
    CFG_STRING("placement", W, placement),
    CFG_BOOL("offload_activations", W, p.offload_activations),
    CFG_INT("activation_loading_horizon", W, p.activation_loading_horizon, 1, DEGREE_MAX),
    CFG_CHILD("smp_script", W, script),
    CFG_END,
};
#undef W
/* clang-format on */

/* --- rules ------------------------------------------------------------------- */

/* The library by its word; "smddp" names the backend, too. */
static int name_library(struct parse_context *r, struct raw_section *w)
{
    struct cfg at = cfg_get(r->parallelism, "library");
    const char *word = json_string_value(at.json);
    bool smddp = w->library == LIBRARY_WORD_SMDDP, second;
    if (!w->has_library)
        return 0;
    second = strcmp(word, "smp-v2") == 0;
    if (second && w->p.pipeline > 1)
        return cfg_error(cfg_get(r->parallelism, "pipeline"),
                         "SMP v2 has no pipelines (write 1, or library \"smp-v1\")");
    if (second)
        parse_say(r, at,
                  "SMP v2 trains with FSDP, which is simulated (its dictionary "
                  "goes into /distribution)");
    w->p.library = smddp ? LIBRARY_DDP : (enum library)w->library;
    if (smddp && w->has_backend && w->p.backend != BACKEND_SMDDP)
        return cfg_error(
            cfg_get(r->parallelism, "backend"),
            "library \"smddp\" is ddp over SMDDP (leave this out, or write "
            "library \"ddp\")");
    if (smddp && !r->has_backend) {
        w->p.backend = BACKEND_SMDDP;
        w->has_backend = true;
    }
    return 0;
}

/* What only one library does, or not with another. */
static int check_choices(const struct parse_context *r, const struct raw_section *w)
{
    const struct parallelism *p = &w->p;
    bool own_transport = p->library == LIBRARY_HOROVOD ||
                         p->library == LIBRARY_PARAMETER_SERVER ||
                         p->library == LIBRARY_MEGATRON;
    int rc = 0;
    if (p->backend == BACKEND_SMDDP && own_transport)
        rc = cfg_error(cfg_get(r->parallelism, w->has_backend ? "backend" : "library"),
                       "SMDDP moves the bytes of ddp, fsdp, deepspeed and smp, not of "
                       "%s (write \"ddp\", or the backend \"nccl\")",
                       names_of(library_names, (int)p->library));
    if (p->library == LIBRARY_PARAMETER_SERVER && w->has_servers && r->has_cluster &&
        w->servers != r->s->cluster.n_instances)
        rc = cfg_error(cfg_get(r->parallelism, "servers"),
                       "parameter servers run one on each instance (write %" PRId64
                       ", or leave it out)",
                       r->s->cluster.n_instances);
    if (p->asynchronous && r->has_cluster && !cluster_is_uniform(&r->s->cluster))
        rc = cfg_error(cfg_get(r->parallelism, "asynchronous"),
                       "asynchronous training on unlike instances is not simulated yet "
                       "(write false)");
    if (!w->aligned)
        rc = cfg_error(cfg_get(r->parallelism, "align_param_gather"),
                       "gathers that each stage begins by itself are not simulated "
                       "(write true, Megatron-LM's default, or leave it out)");
    return rc;
}

/* "cluster", "spread", or a permutation of D, P and T. */
static int read_placement(const struct parse_context *r, const char *word,
                          char placement[4])
{
    struct layout l;
    if (!word)
        return 0;
    if (strcmp(word, "cluster") == 0)
        word = "DPT";
    if (strcmp(word, "spread") == 0)
        word = "TPD";
    if (layout_init(&l, word, 1, 1, 1))
        return cfg_error(
            cfg_get(r->parallelism, "placement"),
            "\"%.40s\" is no placement (write \"cluster\", \"spread\" or an "
            "order of the letters D, P and T such as \"DPT\")",
            word);
    memcpy(placement, word, 4);
    return 0;
}

/* The dictionary, read before, may have set these. */
static int check_set_twice(const struct parse_context *r, const struct raw_section *w)
{
    /* clang-format off */
    static const char *const smp[] = {
        "tensor", "pipeline", "virtual_stages", "schedule", "context", "expert",
        "active_microbatches", "placement", "library", "offload_activations",
        "activation_loading_horizon", "sequence_parallel", NULL,
    };
    /* clang-format on */
    int rc = 0;
    if (r->has_backend && w->has_backend)
        rc = cfg_error(cfg_get(r->parallelism, "backend"),
                       "the backend is set by /distribution (leave it out here)");
    for (int i = 0; r->s->parallel.smp && smp[i]; i++)
        if (cfg_present(cfg_get(r->parallelism, smp[i])))
            rc = cfg_error(cfg_get(r->parallelism, smp[i]),
                           "this is for SMP's dictionary in /distribution to say "
                           "(leave it out here)");
    return rc;
}

/* What the strategy and the degrees need, where no library is named. */
static void infer_library(struct parse_context *r, const struct raw_section *w)
{
    struct parallelism *p = &r->s->parallel;
    if (w->has_library || p->smp || p->library != LIBRARY_DDP)
        return;
    if (p->sharding == SHARDING_FULL)
        p->library = LIBRARY_FSDP;
    else if (p->tensor > 1 || p->pipeline > 1 || p->context > 1 || p->expert > 1)
        p->library = LIBRARY_MEGATRON;
    else if (p->sharding != SHARDING_NONE)
        p->library = LIBRARY_DEEPSPEED;
    r->has_library |= p->library != LIBRARY_DDP;
}

int parallelism_read(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    struct raw_section w = { .p = *p, .library = (int)p->library, .aligned = true };
    w.p.bucket_B = -1;
    w.p.fusion_cycle_s = -1;
    int rc = cfg_read(r->parallelism, parallelism_fields, &w);
    if (name_library(r, &w) | check_choices(r, &w) | check_set_twice(r, &w) |
        read_placement(r, w.placement, w.p.placement))
        rc = -1;
    r->has_library |= w.has_library;
    r->has_overlap = w.has_overlap;
    r->has_param_gather = w.has_param_gather;
    r->has_overlap_tensor = w.has_overlap_tensor;
    r->overlap_tensor = w.overlap_tensor;
    *p = w.p;
    if (partition_words(r, w.partition) | sharding_read(r, w.sharding) |
        smp_script_read(r, w.script))
        rc = -1;
    infer_library(r, &w);
    sharding_defaults(r);
    if (r->has_cluster && degrees_read(r))
        rc = -1;
    return rc;
}

/* --- the framework, and what it decides where nothing is written -------------- */

/* Megatron-LM before Transformer Engine never ran on Hopper. */
static bool all_hopper(const struct cluster *c)
{
    enum { HOPPER = 90 };
    for (int i = 0; i < c->n_groups; i++)
        if (c->groups[i].instance->gpu->sm_arch < HOPPER)
            return false;
    return c->n_groups > 0;
}

/* FSDP before PyTorch 2 is another stack. DeepSpeed splits models as Megatron-DeepSpeed
 * does; full sharding is its ZeRO-3; else it runs the script's own kernels. */
static const char *default_framework(const struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    const char *torch = r->s->software.pytorch;
    if (p->backend == BACKEND_SMDDP && p->library == LIBRARY_DDP)
        return smddp_framework;
    if (p->smp == 2)
        return smp_v2_framework;
    if (p->library == LIBRARY_FSDP && torch && version_compare(torch, "2") < 0)
        return fsdp_torch1_framework;
    if (p->library == LIBRARY_DEEPSPEED && (p->tensor > 1 || p->pipeline > 1))
        return megatron_deepspeed_framework;
    if (p->library == LIBRARY_DEEPSPEED && p->sharding == SHARDING_FULL)
        return zero3_framework;
    if (p->library == LIBRARY_MEGATRON && r->has_cluster && all_hopper(&r->s->cluster))
        return megatron_core_framework;
    return library_frameworks[p->library];
}

static int read_framework(struct parse_context *r)
{
    struct training *t = &r->s->training;
    struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->training, "framework");
    const char *name = r->words.framework;
    if (!name)
        name = default_framework(r);
    t->framework = name ? framework_get(r->loader, name, at) : NULL;
    if (!t->framework)
        return -1;
    int library = LIBRARY_DDP;
    const char *word = t->framework->library;
    if (word && names_find(library_names, word, &library))
        return cfg_error(at, "\"%s\" names the unknown library \"%s\"", name, word);
    if (!r->has_library)
        p->library = (enum library)library;
    bool smddp =
        t->framework->backend && strcmp(t->framework->backend, smddp_framework) == 0;
    if (smddp && !r->has_backend && !cfg_present(cfg_get(r->parallelism, "backend")))
        p->backend = BACKEND_SMDDP;
    return 0;
}

/* The threshold and cycle of the Horovod that is named in /software/horovod. */
static void apply_horovod(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    const char *version = r->s->software.horovod;
    size_t i = 0;
    if (!version)
        return;
    while (version_compare(version, horovod_versions[i].first) < 0)
        i++;
    if (p->bucket_B < 0)
        p->bucket_B = horovod_versions[i].threshold_B;
    if (p->fusion_cycle_s < 0)
        p->fusion_cycle_s = horovod_versions[i].cycle_s;
}

bool library_reduces_behind(enum library library, enum sharding sharding)
{
    return library == LIBRARY_DEEPSPEED && sharding == SHARDING_NONE;
}

/* What a library fuses where the framework's profile says something else. */
static void apply_library(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    const struct training *t = &r->s->training;
    if (p->library == LIBRARY_HOROVOD)
        apply_horovod(r);
    if (p->backend == BACKEND_SMDDP && p->library == LIBRARY_DDP && p->bucket_B < 0)
        p->bucket_B = SMDDP_BUFFER_B;
    bool of_ddp = t->framework->bucket_B > 0; /* DeepSpeed's own profiles have none */
    if (p->bucket_B < 0 && of_ddp && p->library == LIBRARY_DEEPSPEED &&
        p->sharding != SHARDING_FULL)
        p->bucket_B = DEEPSPEED_BUCKET_ELEMENTS *
                      (int64_t)dtype_bytes(op_parameter_dtype(t->precision));
}

/* What passes within products that are cut into pieces: the profile's share. */
static int read_tensor_hidden(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    const struct framework *f = r->s->training.framework;
    p->tensor_hidden_frac = f->tensor_hidden_frac;
    if (r->has_overlap_tensor && !r->overlap_tensor)
        p->tensor_hidden_frac = 0;
    if (r->has_overlap_tensor && r->overlap_tensor && f->tensor_hidden_frac <= 0)
        return cfg_error(cfg_get(r->parallelism, "overlap_tensor"),
                         "what share \"%s\" hides is not known (write false, or leave "
                         "it out)",
                         f->name);
    return 0;
}

/* Who reduces, whose kernels run and what goes into a bucket, where nobody says. */
static void assume_stack(struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    char size[UNITS_TEXT_MAX];
    bool has_library = cfg_present(cfg_get(r->parallelism, "library")) ||
                       r->has_backend || p->smp ||
                       (r->words.framework && !r->has_library);
    bool has_bucket = cfg_present(cfg_get(r->parallelism, "bucket_size"));
    if (!has_library)
        parse_assume(r, "/parallelism/library",
                     names_of(library_names, (int)p->library), "");
    if (!r->words.framework)
        parse_assume(r, "/training/framework", r->s->training.framework->name, "");
    if (!has_bucket && p->bucket_B > 0 && p->replicas > 1 &&
        p->sharding != SHARDING_FULL)
        parse_assume(r, "/parallelism/bucket_size",
                     arena_strdup(&r->loader->arena,
                                  units_bytes_text(size, (double)p->bucket_B)),
                     "");
}

/* Each library's own bucket, for profiles that have none: DistributedDataParallel's
 * bucket_cap_mb (torch/nn/parallel/distributed.py), which SMP takes over; Horovod's
 * fusion threshold (horovod/common/common.h); of elements, DeepSpeed's
 * reduce_bucket_size, and Megatron's, which grows with the replicas
 * (megatron/core/distributed/distributed_data_parallel.py). FSDP reduces its units. */
static const struct {
    int64_t size_B, elements, each_rank;
} library_buckets[] = {
    [LIBRARY_DDP] = { .size_B = 25 << 20 },
    [LIBRARY_DEEPSPEED] = { .elements = DEEPSPEED_BUCKET_ELEMENTS },
    [LIBRARY_MEGATRON] = { .elements = 40000000, .each_rank = 1000000 },
    [LIBRARY_SMP] = { .size_B = 25 << 20 },
    [LIBRARY_HOROVOD] = { .size_B = 128 << 20 },
    [LIBRARY_PARAMETER_SERVER] = { .size_B = 25 << 20 },
};

int64_t library_bucket_B(enum library library, int64_t ranks, double gradient_B)
{
    int64_t n = library_buckets[library].elements;
    int64_t by_ranks = ranks * library_buckets[library].each_rank;
    return library_buckets[library].size_B +
           (int64_t)((double)(by_ranks > n ? by_ranks : n) * gradient_B);
}

/* Megatron has no buckets without overlap, whatever their size. */
static bool drops_buckets(struct parse_context *r)
{
    const struct parallelism *p = &r->s->parallel;
    if (p->bucket_B < 0 || p->library != LIBRARY_MEGATRON || p->overlap)
        return false;
    struct cfg at = cfg_get(r->parallelism, "bucket_size");
    if (cfg_present(at))
        parse_note(r, at, "Megatron reduces all gradients at once without \"overlap\"");
    return true;
}

/* What a bucket holds, where the section leaves it open. */
static void fill_buckets(struct parse_context *r)
{
    enum { FIRST_BUCKET_B = 1 << 20 };
    struct parallelism *p = &r->s->parallel;
    const struct framework *f = r->s->training.framework;
    struct scenario plain = *r->s;
    plain.parallel.compression = COMPRESSION_NONE;
    bool open = p->bucket_B < 0 && f->bucket_B <= 0 && p->overlap;
    if (open && p->sharding != SHARDING_FULL)
        p->bucket_B =
            library_bucket_B(p->library, p->data * p->context, states_wire_B(&plain));
    if (drops_buckets(r))
        p->bucket_B = p->first_bucket_B = 0;
    if (p->bucket_B < 0) {
        p->bucket_B = f->bucket_B;
        p->first_bucket_B = f->first_bucket_B;
        return;
    }
    int64_t first_B = f->first_bucket_B > 0 ? f->first_bucket_B : FIRST_BUCKET_B;
    bool whole = p->library != LIBRARY_DDP || first_B > p->bucket_B;
    p->first_bucket_B = whole ? p->bucket_B : first_B;
}

int parallelism_framework(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    if (read_framework(r) || read_tensor_hidden(r))
        return -1;
    const struct framework *f = r->s->training.framework;
    if (!r->has_overlap)
        p->overlap = f->overlap && !library_reduces_behind(p->library, p->sharding);
    if (!r->has_param_gather)
        p->overlap_param_gather = f->overlap_param_gather && p->overlap;
    if (!r->has_backward_prefetch)
        p->shard_backward_prefetch = f->backward_prefetch;
    apply_library(r);
    if (p->fusion_cycle_s < 0)
        p->fusion_cycle_s = p->library == LIBRARY_HOROVOD ? f->cycle_s : 0;
    fill_buckets(r);
    struct cfg units =
        cfg_get(cfg_get(r->parallelism, "sharding"), "reduce_bucket_elements");
    if (cfg_present(units) && p->sharding == SHARDING_FULL && !f->shard_tensors)
        parse_note(r, units,
                   "gradients of a unit are scattered together, whatever the bucket");
    assume_stack(r);
    return 0;
}
