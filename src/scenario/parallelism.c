/* The "parallelism" section: what the script itself does, in smsim's own words. */
#include "base/units.h"
#include "layout/layout.h"
#include "scenario/distribution/distribution.h"
#include "scenario/horovod_environment.h"
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
static const struct name_value outputs_names[] = {
    { "none", OUTPUTS_NONE }, { "loss", OUTPUTS_LOSS }, { "logits", OUTPUTS_LOGITS },
    { NULL, 0 },
};

#define DEGREE_MAX 1048576.0
#define BUCKET_MAX 1e13

/* The section as written. Sizes and times that are not given are negative. */
struct raw_section {
    struct parallelism p;
    struct cfg sharding, partition, script, load, offloaded;
    const char *placement;
    int64_t servers;
    int library; /* of library_words */
    bool has_library, has_backend, has_overlap, has_param_gather, has_servers,
        has_overlap_tensor, overlap_tensor;
    bool defers_wgrads, scatters, loss_parallel;
    int64_t deferral_limit;
    bool aligned; /* all stages begin to gather updated parameters at once */
};

#define W struct raw_section
#define HAS(k, t, m, h) \
    .key = (k), .type = (t), .at = offsetof(W, m), .has = offsetof(W, h)
static const struct cfg_field parallelism_fields[] = {
    CFG_INT("tensor", W, p.tensor, 1, DEGREE_MAX),
    CFG_BOOL("sequence_parallel", W, p.split.sequence_parallel),
    CFG_BOOL("loss_parallel", W, loss_parallel),
    CFG_ENUM("tensor_policy", W, p.split.tensor_policy, parallelism_tensor_names),
    CFG_INT("pipeline", W, p.pipeline, 1, DEGREE_MAX),
    CFG_INT("virtual_stages", W, p.stages.virtual_stages, 1, DEGREE_MAX),
    CFG_ENUM("schedule", W, p.stages.schedule, parallelism_schedule_names),
    CFG_CHILD("partition", W, partition),
    CFG_BOOL("defer_embedding_wgrad", W, defers_wgrads),
    CFG_INT("wgrad_deferral_limit", W, deferral_limit, 0, DEGREE_MAX),
    CFG_BOOL("scatter_gather", W, scatters),
    CFG_INT("mtp_part", W, p.stages.mtp_part, 0, DEGREE_MAX),
    CFG_INT("context", W, p.context, 1, DEGREE_MAX),
    CFG_ENUM("context_comm", W, p.context_comm, context_comm_names),
    CFG_INT("context_inner", W, p.context_inner, 1, DEGREE_MAX),
    CFG_INT("expert", W, p.expert, 1, DEGREE_MAX),
    CFG_ENUM("expert_dispatcher", W, p.dispatch.kind, parallelism_dispatcher_names),
    CFG_INT("expert_dispatch_sms", W, p.dispatch.sms, 1, 1024),
    CFG_BOOL("expert_dispatch_fp8", W, p.dispatch.fp8),
    CFG_ENUM("expert_overlap", W, p.dispatch.overlap, parallelism_expert_overlap_names),
    CFG_INT("expert_tensor", W, p.expert_tensor, 1, DEGREE_MAX),
    CFG_CHILD("expert_load", W, load),
    CFG_RENAMED("expert_imbalance", "expert_load"),
    CFG_REAL("expert_capacity", W, p.expert_capacity, 1e-3, 1e3),
    CFG_BOOL("expert_padding", W, p.expert_padding),
    CFG_REFUSED("data", "data is what remains of the GPUs; leave it out"),
    CFG_INT("active_microbatches", W, p.stages.active_microbatches, 1, DEGREE_MAX),
    CFG_ENUM("forward_policy", W, p.stages.forward_policy, forward_policy_names),
    CFG_ENUM("broadcast_outputs", W, p.stages.broadcast_outputs, outputs_names),
    CFG_CHILD("sharding", W, sharding),
    { HAS("library", CFG_T_ENUM, library, has_library), .names = library_words },
    { HAS("backend", CFG_T_ENUM, p.reduce.backend, has_backend), .names = backend_names },
    CFG_BYTES("bucket_size", W, p.reduce.bucket_B, 1, BUCKET_MAX),
    { HAS("overlap", CFG_T_BOOL, p.reduce.overlap, has_overlap) },
    { HAS("overlap_tensor", CFG_T_BOOL, overlap_tensor, has_overlap_tensor) },
    { HAS("overlap_param_gather", CFG_T_BOOL, p.reduce.overlap_param_gather,
          has_param_gather) },
    CFG_BOOL("align_param_gather", W, aligned),
    CFG_BOOL("gradient_as_bucket_view", W, p.reduce.gradient_as_bucket_view),
    CFG_ENUM("gradient_compression", W, p.reduce.compression, compression_names),
    CFG_QUANTITY("fusion_cycle", W, p.reduce.fusion_cycle_s, UNIT_SECONDS, 0, 10),
    { HAS("servers", CFG_T_INT, servers, has_servers), .min = 1, .max = DEGREE_MAX },
    CFG_BOOL("asynchronous", W, p.reduce.asynchronous),
    CFG_INT("server_replicas", W, p.reduce.server_replicas, 0, 15),
    CFG_BOOL("broadcast_buffers", W, p.reduce.broadcast_buffers),
    CFG_STRING("placement", W, placement),
    CFG_BOOL("offload_activations", W, p.offload_activations),
    CFG_CHILD("offload_modules", W, offloaded),
    CFG_INT("offload_layers", W, p.offload_layers, 0, DEGREE_MAX),
    CFG_INT("activation_loading_horizon", W, p.activation_loading_horizon, 1, DEGREE_MAX),
    CFG_CHILD("smp_script", W, script),
    CFG_END,
};
#undef W
/* clang-format on */

/* Rules ---------------------------------------------------------------------------- */

/* The library by its word; "smddp" names the backend, too. */
static int name_library(struct parse_context *r, struct raw_section *w)
{
    struct cfg at = cfg_get(r->parallelism, "library");
    const struct library_row *row = library_of_word(w->library);
    if (!w->has_library)
        return 0;
    bool dictionary = row->smp.dictionary;
    if (dictionary && !row->pipeline && w->p.pipeline > 1)
        return cfg_error(cfg_get(r->parallelism, "pipeline"), DIAG_UNSUPPORTED,
                         "%s has no pipelines (write 1, or library \"smp-v1\")",
                         row->name);
    if (dictionary)
        parse_say(r, at, DIAG_ASSUMED,
                  arena_printf(&r->loader->arena,
                               "%s trains with FSDP, which is simulated (its "
                               "dictionary goes into /distribution)",
                               row->name));
    w->p.reduce.library = (int)row->library;
    bool smddp = row->backend != 0;
    if (smddp && w->has_backend && w->p.reduce.backend != (int)row->backend)
        return cfg_error(
            cfg_get(r->parallelism, "backend"), DIAG_CONTRADICTION,
            "library \"smddp\" is ddp over SMDDP (leave this out, or write "
            "library \"ddp\")");
    if (smddp && !r->written.backend) {
        w->p.reduce.backend = (int)row->backend;
        w->has_backend = true;
    }
    return 0;
}

/* "balanced", "power-law", or the fullest rank's load over the mean. */
static int read_load(struct raw_section *w)
{
    static const double exponent = 1.2; /* the steeper of silicon_moe's */
    const char *word = NULL;
    if (!cfg_present(w->load))
        return 0;
    if (!cfg_is_string(w->load))
        return cfg_real(w->load, &w->p.expert_imbalance, 1, 1e6);
    if (cfg_string(w->load, &word))
        return -1;
    if (strcmp(word, "power-law") == 0)
        w->p.expert_exponent = exponent;
    else if (strcmp(word, "balanced") != 0)
        return cfg_error(w->load, DIAG_UNKNOWN_NAME,
                         "\"%.40s\" is no load of experts (write \"balanced\", "
                         "\"power-law\" or the fullest rank's load over the mean)",
                         word);
    return 0;
}

static int check_experts(const struct parse_context *r, const struct parallelism *p)
{
    if (p->expert_padding && p->expert_capacity <= 0)
        return cfg_error(cfg_get(r->parallelism, "expert_padding"), DIAG_REQUIRES,
                         "experts are padded to a capacity (write "
                         "\"expert_capacity\", too)");
    return 0;
}

/* What only one library does, or not with another. */
static int check_choices(const struct parse_context *r, const struct raw_section *w)
{
    const struct parallelism *p = &w->p;
    int rc = 0;
    if (backend_is_smddp(p) && !library_of(p)->smddp)
        rc = cfg_error(cfg_get(r->parallelism, w->has_backend ? "backend" : "library"),
                       DIAG_UNSUPPORTED,
                       "SMDDP moves the bytes of ddp, fsdp, deepspeed and smp, not of "
                       "%s (write \"ddp\", or the backend \"nccl\")",
                       library_word(p));
    if (library_of(p)->servers && w->has_servers && r->has_cluster &&
        w->servers != r->s->cluster.n_instances)
        rc = cfg_error(cfg_get(r->parallelism, "servers"), DIAG_REQUIRES,
                       "parameter servers run one on each instance (write %" PRId64
                       ", or leave it out)",
                       r->s->cluster.n_instances);
    if (p->reduce.asynchronous && r->has_cluster && !cluster_is_uniform(&r->s->cluster))
        rc = cfg_error(cfg_get(r->parallelism, "asynchronous"), DIAG_NOT_SIMULATED,
                       "asynchronous training on unlike instances is not simulated yet "
                       "(write false)");
    if (!w->aligned)
        rc =
            cfg_error(cfg_get(r->parallelism, "align_param_gather"), DIAG_NOT_SIMULATED,
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
            cfg_get(r->parallelism, "placement"), DIAG_UNKNOWN_NAME,
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
    if (r->written.backend && w->has_backend)
        rc = cfg_error(cfg_get(r->parallelism, "backend"), DIAG_REFUSED_KEY,
                       "the backend is set by /distribution (leave it out here)");
    if (r->written.overlap && w->has_overlap)
        rc = cfg_error(cfg_get(r->parallelism, "overlap"), DIAG_REFUSED_KEY,
                       "/distribution says whether sums of gradients overlap (leave it "
                       "out here)");
    for (int i = 0; library_of(&r->s->parallel)->smp.dictionary && smp[i]; i++)
        if (cfg_present(cfg_get(r->parallelism, smp[i])))
            rc = cfg_error(cfg_get(r->parallelism, smp[i]), DIAG_REFUSED_KEY,
                           "this is for SMP's dictionary in /distribution to say "
                           "(leave it out here)");
    return rc;
}

int parallelism_read(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    struct raw_section w = { .p = *p,
                             .library = p->reduce.library,
                             .aligned = true,
                             .loss_parallel = true,
                             .scatters = !p->stages.whole_messages };
    w.p.reduce.bucket_B = -1;
    w.p.reduce.fusion_cycle_s = -1;
    int rc = cfg_read(r->parallelism, parallelism_fields, &w);
    if (parallelism_schedule(w.p.stages.schedule)->folds && w.p.pipeline > 1 &&
        !cfg_present(cfg_get(r->parallelism, "virtual_stages")))
        w.p.stages.virtual_stages = 2;
    rc |= read_load(&w) | check_experts(r, &w.p);
    if (name_library(r, &w) | check_choices(r, &w) | check_set_twice(r, &w) |
        read_placement(r, w.placement, w.p.placement))
        rc = -1;
    r->written.library |= w.has_library;
    r->written.overlap = r->written.overlap || w.has_overlap;
    r->written.overlap_param_gather = w.has_param_gather;
    r->written.overlap_tensor = w.has_overlap_tensor;
    r->overlap_tensor = w.overlap_tensor;
    *p = w.p;
    p->stages.whole_messages = !w.scatters;
    p->split.whole_loss = !w.loss_parallel;
    if (w.defers_wgrads) /* a limit of 0 is none, as Megatron-LM has it */
        p->stages.deferred_wgrads = w.deferral_limit ? w.deferral_limit : INT64_MAX;
    if (saved_read(p, w.offloaded) | stage_partition_words(r, w.partition) |
        sharding_read(r, w.sharding) | smp_script_read(r, w.script))
        rc = -1;
    if (!w.has_library && !library_of(p)->smp.dictionary)
        r->written.library |= library_infer(p);
    if (!w.placement && library_of(p)->placement)
        memcpy(p->placement, library_of(p)->placement, 4);
    sharding_defaults(r);
    if ((r->has_cluster && degrees_read(r)) || dispatch_read(r))
        rc = -1;
    return rc;
}

/* The framework, and what it decides where nothing is written ---------------------- */

static int read_framework(struct parse_context *r)
{
    struct training *t = &r->s->training;
    struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->training, "framework");
    const char *name = r->words.framework;
    if (!name)
        name = library_framework(p, r->s);
    t->framework = name ? framework_get(r->loader, name, at) : NULL;
    if (!t->framework)
        return -1;
    struct parallelism own = *p;
    if (library_set(&own, t->framework->library))
        return cfg_error(at, DIAG_UNKNOWN_NAME,
                         "\"%s\" names the unknown library \"%s\"", name,
                         t->framework->library);
    if (backend_set(&own, t->framework->backend))
        return cfg_error(at, DIAG_UNKNOWN_NAME,
                         "\"%s\" names the unknown backend \"%s\"", name,
                         t->framework->backend);
    if (!r->written.library)
        p->reduce.library = own.reduce.library;
    bool has_backend =
        r->written.backend || cfg_present(cfg_get(r->parallelism, "backend"));
    if (backend_is_smddp(&own) && !has_backend)
        p->reduce.backend = own.reduce.backend;
    return 0;
}

/* What passes within products that are cut into pieces: the profile's share. */
static int read_tensor_hidden(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    const struct framework *f = r->s->training.framework;
    bool written = r->written.overlap_tensor, asked = written && r->overlap_tensor;
    p->split.hidden_frac = framework_hidden_frac(f, p->tensor, asked);
    p->split.overlaps = f->tensor.overlap;
    if (library_of(p)->overlaps_linear) {
        if (written)
            p->split.overlaps = asked;
        return 0;
    }
    if (written && !asked)
        p->split.hidden_frac = 0;
    if (asked && !framework_hides(f))
        return cfg_error(cfg_get(r->parallelism, "overlap_tensor"), DIAG_NOT_SIMULATED,
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
                       r->written.backend || library_of(p)->smp.dictionary ||
                       (r->words.framework && !r->written.library);
    bool has_bucket = cfg_present(cfg_get(r->parallelism, "bucket_size"));
    if (!has_library)
        parse_assume(r, "/parallelism/library", library_word(p), "");
    if (!r->words.framework)
        parse_assume(r, "/training/framework", r->s->training.framework->name, "");
    if (p->pipeline > 1 && library_of(p)->placement &&
        !cfg_present(cfg_get(r->parallelism, "placement")))
        parse_assume(r, "/parallelism/placement", p->placement, library_of(p)->title);
    int64_t unused;
    bool variable =
        library_of(p)->fuses_by_cycle && horovod_fusion_threshold(r, &unused);
    if (!has_bucket && p->reduce.bucket_B > 0 && p->replicas > 1 &&
        p->shard.strategy != SHARDING_FULL)
        parse_assume(r, "/parallelism/bucket_size",
                     arena_strdup(&r->loader->arena,
                                  units_bytes_text(size, (double)p->reduce.bucket_B)),
                     variable ? "HOROVOD_FUSION_THRESHOLD" : "");
}

int parallelism_framework(struct parse_context *r)
{
    struct parallelism *p = &r->s->parallel;
    if (read_framework(r) || read_tensor_hidden(r))
        return -1;
    const struct framework *f = r->s->training.framework;
    if (!cfg_present(cfg_get(r->parallelism, "partition")) &&
        p->stages.partition == PARTITION_UNIFORM)
        p->stages.partition = library_of(p)->partition;
    if (!r->written.overlap)
        p->reduce.overlap =
            f->reduction.overlap &&
            !library_has(library_of(p)->reduces_after, (int)p->shard.strategy);
    if (!r->written.overlap_param_gather)
        p->reduce.overlap_param_gather =
            f->reduction.overlap_param_gather && p->reduce.overlap;
    if (!r->written.backward_prefetch)
        p->shard.backward_prefetch = f->shard.backward_prefetch;
    if (!r->written.adapter_units)
        p->shard.adapter_units = f->shard.adapter_units;
    bucket_defaults(r);
    struct cfg units =
        cfg_get(cfg_get(r->parallelism, "sharding"), "reduce_bucket_elements");
    if (cfg_present(units) && p->shard.strategy == SHARDING_FULL && !f->shard.tensors)
        parse_note(r, units,
                   "gradients of a unit are scattered together, whatever the bucket");
    assume_stack(r);
    return 0;
}
