/* The "parallelism" section: what the script itself does, in smsim's own words. What this
 * version does not simulate is known, and refused by name. */
#include "parallel/layout.h"
#include "parallel/reading.h"

#include <inttypes.h>
#include <string.h>

/* clang-format off */
const struct name_value library_names[] = {
    { "ddp", LIBRARY_DDP }, { "fsdp", LIBRARY_FSDP }, { "deepspeed", LIBRARY_DEEPSPEED },
    { "megatron", LIBRARY_MEGATRON }, { "smp", LIBRARY_SMP },
    { "horovod", LIBRARY_HOROVOD }, { "parameter-server", LIBRARY_PARAMETER_SERVER },
    { NULL, 0 },
};
const struct name_value backend_names[] = {
    { "nccl", BACKEND_NCCL }, { "smddp", BACKEND_SMDDP }, { NULL, 0 },
};
const struct name_value schedule_names[] = {
    { "gpipe", SCHEDULE_GPIPE }, { "1f1b", SCHEDULE_1F1B },
    { "interleaved", SCHEDULE_INTERLEAVED }, { "zb-h1", SCHEDULE_ZB_H1 },
    { "smp-simple", SCHEDULE_SMP_SIMPLE }, { "smp-interleaved", SCHEDULE_SMP_INTERLEAVED },
    { NULL, 0 },
};
const struct name_value sharding_names[] = {
    { "none", SHARDING_NONE }, { "optimizer", SHARDING_OPTIMIZER },
    { "gradients", SHARDING_GRADIENTS }, { "full", SHARDING_FULL }, { NULL, 0 },
};
const struct name_value compression_names[] = {
    { "none", COMPRESSION_NONE }, { "fp16", COMPRESSION_FP16 },
    { "int8", COMPRESSION_INT8 }, { NULL, 0 },
};
static const struct name_value offload_names[] = {
    { "none", 0 }, { "optimizer", 1 }, { "parameters", 2 }, { NULL, 0 },
};

/* The default framework of each library; NULL: the library is not simulated yet. */
static const char *const library_frameworks[] = {
    [LIBRARY_DDP] = "pytorch-ddp",     [LIBRARY_FSDP] = NULL,
    [LIBRARY_DEEPSPEED] = NULL,        [LIBRARY_MEGATRON] = NULL,
    [LIBRARY_SMP] = NULL,              [LIBRARY_HOROVOD] = "horovod-pytorch",
    [LIBRARY_PARAMETER_SERVER] = NULL,
};

#define DEGREE_MAX 1048576.0
#define BUCKET_MAX 1e13

/* The section as written. Sizes and times that are not given are negative. */
struct words {
    struct parallelism p;
    struct cfg sharding;
    const char *placement;
    int64_t active_microbatches, loading_horizon, servers;
    bool asynchronous, offload_activations;
    bool has_library, has_backend, has_overlap, has_schedule, has_active, has_horizon,
        has_servers, has_asynchronous, has_fusion;
};

#define W struct words
#define HAS(k, t, m, h) \
    .key = (k), .type = (t), .at = offsetof(W, m), .has = offsetof(W, h)
static const struct cfg_field parallelism_fields[] = {
    CFG_INT("tensor", W, p.tensor, 1, DEGREE_MAX),
    CFG_BOOL("sequence_parallel", W, p.sequence_parallel),
    CFG_INT("pipeline", W, p.pipeline, 1, DEGREE_MAX),
    CFG_INT("virtual_stages", W, p.virtual_stages, 1, DEGREE_MAX),
    { HAS("schedule", CFG_T_ENUM, p.schedule, has_schedule), .names = schedule_names },
    CFG_INT("context", W, p.context, 1, DEGREE_MAX),
    CFG_INT("expert", W, p.expert, 1, DEGREE_MAX),
    CFG_REFUSED("data", "data is what remains of the GPUs; leave it out"),
    { HAS("active_microbatches", CFG_T_INT, active_microbatches, has_active), .min = 1,
      .max = DEGREE_MAX },
    CFG_CHILD("sharding", W, sharding),
    { HAS("library", CFG_T_ENUM, p.library, has_library), .names = library_names },
    { HAS("backend", CFG_T_ENUM, p.backend, has_backend), .names = backend_names },
    CFG_BYTES("bucket_size", W, p.bucket_B, 1, BUCKET_MAX),
    { HAS("overlap", CFG_T_BOOL, p.overlap, has_overlap) },
    CFG_ENUM("gradient_compression", W, p.compression, compression_names),
    { HAS("fusion_cycle", CFG_T_QUANTITY, p.fusion_cycle_s, has_fusion),
      .unit = UNIT_SECONDS, .min = 0, .max = 10 },
    { HAS("servers", CFG_T_INT, servers, has_servers), .min = 1, .max = DEGREE_MAX },
    { HAS("asynchronous", CFG_T_BOOL, asynchronous, has_asynchronous) },
    CFG_STRING("placement", W, placement),
    CFG_BOOL("offload_activations", W, offload_activations),
    { HAS("activation_loading_horizon", CFG_T_INT, loading_horizon, has_horizon),
      .min = 1, .max = DEGREE_MAX },
    CFG_END,
};
#undef W
/* clang-format on */

/* --- what is not simulated yet ----------------------------------------------- */

static int check_degrees(const struct reading *r, const struct words *w)
{
    const struct {
        const char *key, *what;
        int64_t value;
    } degrees[] = {
        { "tensor", "tensor parallelism is", w->p.tensor },
        { "pipeline", "pipeline parallelism is", w->p.pipeline },
        { "virtual_stages", "virtual stages are", w->p.virtual_stages },
        { "context", "context parallelism is", w->p.context },
        { "expert", "expert parallelism is", w->p.expert },
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++)
        if (degrees[i].value > 1)
            rc = cfg_error(cfg_get(r->parallelism, degrees[i].key),
                           "%s not simulated yet (leave it at 1)", degrees[i].what);
    return rc;
}

static int check_choices(const struct reading *r, const struct words *w)
{
    const struct {
        const char *key, *what, *instead;
        bool refused;
    } choices[] = {
        { "sequence_parallel", "sequence parallelism is", "false",
          w->p.sequence_parallel },
        { "backend", "SMDDP's own collectives are", "\"nccl\"",
          w->p.backend == BACKEND_SMDDP },
        { "gradient_compression", "gradient compression is", "\"none\"",
          w->p.compression != COMPRESSION_NONE },
        { "asynchronous", "asynchronous training is", "false", w->asynchronous },
        { "offload_activations", "offloading of activations is", "false",
          w->offload_activations },
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
        if (choices[i].refused)
            rc = cfg_error(cfg_get(r->parallelism, choices[i].key),
                           "%s not simulated yet (leave it at %s)", choices[i].what,
                           choices[i].instead);
    if (w->has_library && !library_frameworks[w->p.library])
        rc = cfg_error(cfg_get(r->parallelism, "library"),
                       "\"%s\" is not simulated yet (write \"ddp\" or \"horovod\")",
                       names_of(library_names, (int)w->p.library));
    return rc;
}

/* The rules of sharding, all of which wait for a strategy other than none. */
static int check_sharding(struct reading *r, struct cfg c)
{
    struct sharding_words {
        int64_t degree, prefetch, reduce, persistence, live;
        int strategy, offload;
        const char *unit;
        bool hierarchical, reshard;
    } w = { .strategy = SHARDING_NONE };
    /* clang-format off */
    static const struct cfg_field fields[] = {
        CFG_ENUM("strategy", struct sharding_words, strategy, sharding_names),
        CFG_INT("degree", struct sharding_words, degree, 1, DEGREE_MAX),
        CFG_STRING("unit", struct sharding_words, unit),
        CFG_BOOL("hierarchical_allgather", struct sharding_words, hierarchical),
        CFG_INT("prefetch", struct sharding_words, prefetch, 0, DEGREE_MAX),
        CFG_BOOL("reshard_after_forward", struct sharding_words, reshard),
        CFG_ENUM("offload", struct sharding_words, offload, offload_names),
        CFG_INT("reduce_bucket_elements", struct sharding_words, reduce, 1, 1e13),
        CFG_INT("param_persistence_elements", struct sharding_words, persistence, 0, 1e13),
        CFG_INT("max_live_elements", struct sharding_words, live, 1, 1e13),
        CFG_END,
    };
    /* clang-format on */
    if (cfg_read(c, fields, &w))
        return -1;
    if (w.strategy != SHARDING_NONE)
        return cfg_error(cfg_get(c, "strategy"),
                         "sharding is not simulated yet (leave it at \"none\")");
    if (w.offload != 0)
        return cfg_error(cfg_get(c, "offload"),
                         "offloading is not simulated yet (leave it at \"none\")");
    for (void *it = cfg_first(c); it; it = cfg_next(c, it))
        if (strcmp(cfg_key(it), "strategy") != 0 && strcmp(cfg_key(it), "comment") != 0)
            reading_note(r, cfg_member(c, it), "nothing is sharded");
    return 0;
}

/* "cluster", "spread", or a permutation of D, P and T. */
static int read_placement(const struct reading *r, const char *word, char placement[4])
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

/* What has no effect while no stage, server or cycle is there to use it. */
static void note_idle(struct reading *r, const struct words *w)
{
    const struct {
        const char *key, *why;
        bool given;
    } idle[] = {
        { "schedule", "there is one pipeline stage", w->has_schedule },
        { "active_microbatches", "there is one pipeline stage", w->has_active },
        { "activation_loading_horizon", "activations are not offloaded",
          w->has_horizon },
        { "servers", "there is no parameter server", w->has_servers },
        { "asynchronous", "there is no parameter server", w->has_asynchronous },
        { "fusion_cycle", "only Horovod has one",
          w->has_fusion && r->s->parallel.library != LIBRARY_HOROVOD },
    };
    for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
        if (idle[i].given)
            reading_note(r, cfg_get(r->parallelism, idle[i].key), idle[i].why);
}

/* The dictionary, read before, may have set the backend. */
static int check_set_twice(const struct reading *r, const struct words *w)
{
    if (r->has_backend && w->has_backend)
        return cfg_error(cfg_get(r->parallelism, "backend"),
                         "the backend is set by /distribution (leave it out here)");
    return 0;
}

int parallelism_read(struct reading *r)
{
    struct parallelism *p = &r->s->parallel;
    struct words w = { .p = *p };
    w.p.bucket_B = -1;
    w.p.fusion_cycle_s = -1;
    int rc = cfg_read(r->parallelism, parallelism_fields, &w);
    if (check_degrees(r, &w) | check_choices(r, &w) | check_set_twice(r, &w) |
        check_sharding(r, w.sharding) | read_placement(r, w.placement, w.p.placement))
        rc = -1;
    r->has_library |= w.has_library;
    r->has_overlap = w.has_overlap;
    *p = w.p;
    p->tensor = p->pipeline = p->context = p->expert = p->virtual_stages = 1;
    p->shard_degree = 1;
    p->data = r->s->cluster.n_gpus;
    if (rc == 0)
        note_idle(r, &w);
    return rc;
}

/* --- the framework, and what it decides where nothing is written -------------- */

static int read_framework(struct reading *r)
{
    struct training *t = &r->s->training;
    struct parallelism *p = &r->s->parallel;
    struct cfg at = cfg_get(r->training, "framework");
    const char *name = r->words.framework;
    if (!name)
        name = library_frameworks[p->library];
    t->framework = name ? framework_get(r->loader, name, at) : NULL;
    if (!t->framework)
        return -1;
    int library = LIBRARY_DDP;
    const char *word = t->framework->library;
    if (word && names_find(library_names, word, &library))
        return cfg_error(at, "\"%s\" names the unknown library \"%s\"", name, word);
    if (!r->has_library)
        p->library = (enum library)library;
    bool smddp = t->framework->backend && strcmp(t->framework->backend, "smddp") == 0;
    if (smddp && !r->has_backend)
        cfg_warn(at,
                 "SMDDP's own AllReduce is not simulated yet: gradients are reduced as "
                 "NCCL would");
    if (!library_frameworks[p->library])
        return cfg_error(at,
                         "\"%s\" trains with %s, which is not simulated yet (write "
                         "\"pytorch-ddp\" or \"horovod-pytorch\")",
                         name, word);
    return 0;
}

int parallelism_framework(struct reading *r)
{
    enum { FIRST_BUCKET_B = 1 << 20 };
    struct parallelism *p = &r->s->parallel;
    if (read_framework(r))
        return -1;
    const struct framework *f = r->s->training.framework;
    if (!r->has_overlap)
        p->overlap = f->overlap;
    if (p->fusion_cycle_s < 0)
        p->fusion_cycle_s = p->library == LIBRARY_HOROVOD ? f->cycle_s : 0;
    if (p->bucket_B < 0) {
        p->bucket_B = f->bucket_B;
        p->first_bucket_B = f->first_bucket_B;
        return 0;
    }
    int64_t first_B = f->first_bucket_B > 0 ? f->first_bucket_B : FIRST_BUCKET_B;
    bool whole = p->library != LIBRARY_DDP || first_B > p->bucket_B;
    p->first_bucket_B = whole ? p->bucket_B : first_B;
    return 0;
}
