#include "campaign/input.h"

#include "scenario/libraries.h"

#include <inttypes.h>
#include <math.h>

/* clang-format off */
const struct name_value input_stage_names[] = {
    { "workers", INPUT_WORKERS }, { "cpus", INPUT_CPUS }, { "storage", INPUT_STORAGE },
    { NULL, 0 },
};

/* Token ids, attention mask and labels, int64 each: what Hugging Face's collators
 * give. */
enum { TOKEN_B = 3 * 8 };

#define I struct input
static const struct cfg_field input_fields[] = {
    CFG_INT("workers", I, workers, 0, 1024),
    CFG_QUANTITY("cpu", I, cpu_s, UNIT_SECONDS, 0, 3600),
    CFG_QUANTITY("sample", I, sample_B, UNIT_BYTES, 0, 1e15),
    CFG_QUANTITY("device_sample", I, device_B, UNIT_BYTES, 0, 1e12),
    CFG_BOOL("pinned", I, pinned),
    CFG_REAL("busy_vcpus", I, busy_vcpus, 0, 1e6),
    CFG_END,
};
/* clang-format on */

/* Processes of an instance that keep a vCPU each: one drives each GPU; under SMDDP, and
 * with parameter servers, one more serves it ("homogeneous mode uses 16 processes per
 * host; 8 server; 8 worker": sagemaker-training-toolkit, smdataparallel.py). */
static double busy_vcpus(const struct scenario *s, const struct cluster_group *g)
{
    const struct parallelism *p = &s->parallel;
    bool smddp = backend_of(p)->buffers && p->shard.strategy != SHARDING_FULL;
    bool serves = smddp || library_of(p)->servers;
    return (double)g->gpus_per_instance * (serves && s->cluster.n_hosts > 1 ? 2 : 1);
}

/* What is read while the training goes on must be known. */
static int check_sample(const struct input *in, const struct storage *st,
                        const struct scenario *s)
{
    bool read = false;
    for (int32_t i = 0; st->given && i < s->cluster.n_groups; i++)
        read |= isfinite(storage_read_Bps(st, s, s->cluster.groups[i].instance, 1));
    if (!read || in->sample_B > 0)
        return 0;
    return cfg_error(s->sections.storage, DIAG_MISSING,
                     "how large a sample is, is not given (give \"dataset\" here and "
                     "/training/samples, or /input/sample)");
}

int input_read(struct input *in, const struct storage *st, const struct scenario *s,
               struct cfg c)
{
    *in = (struct input) {
        .given = cfg_present(c) || st->given,
        .device_B = TOKEN_B * (double)(training_sample_sequences(&s->training) *
                                       s->training.sequence_length),
        .busy_vcpus = -1,
    };
    if (st->dataset_B > 0 && s->training.samples > 0)
        in->sample_B = st->dataset_B / (double)s->training.samples;
    if (!cfg_present(c))
        return check_sample(in, st, s);
    if (!cfg_is_object(c))
        return cfg_error(c, DIAG_WRONG_TYPE,
                         "input is an object (write for example { \"workers\": 4, "
                         "\"cpu\": \"2ms\" })");
    if (cfg_read(c, input_fields, in))
        return -1;
    for (int32_t i = 0; i < s->cluster.n_groups; i++) {
        const struct instance *inst = s->cluster.groups[i].instance;
        if (in->busy_vcpus >= (double)inst->vcpus && inst->vcpus > 0)
            return cfg_error(cfg_get(c, "busy_vcpus"), DIAG_OUT_OF_RANGE,
                             "no vCPU of the %" PRId64
                             " of %s is left for loading (write "
                             "less)",
                             (int64_t)inst->vcpus, inst->name);
    }
    return check_sample(in, st, s);
}

/* Processes of an instance that load: one for each replica of the model, which the
 * ranks of a replica share. */
static double loaders_of(const struct scenario *s, const struct cluster_group *g)
{
    double each = (double)s->parallel.replicas / (double)scenario_world(s);
    return fmax(1, each * (double)g->gpus_per_instance);
}

static double free_vcpus(const struct input *in, const struct scenario *s,
                         const struct cluster_group *g)
{
    double all = (double)g->instance->vcpus;
    double busy = in->busy_vcpus >= 0 ? in->busy_vcpus : busy_vcpus(s, g);
    return all > 0 ? fmax(1, all - busy) : (double)INFINITY;
}

/* Equations (15.1) to (15.4) of one kind of instance: the stages' times for the samples
 * of a step, and the copy. */
static void times_of(struct input_result *r, const struct input *in,
                     const struct storage *st, const struct scenario *s,
                     const struct cluster_group *g)
{
    double loaders = loaders_of(s, g);
    double samples =
        (double)s->training.global_batch_size / (double)s->parallel.replicas;
    double readers = fmax(1, (double)in->workers);
    double one_s = in->cpu_s;
    if (st->given && in->sample_B > 0)
        one_s += in->sample_B / storage_stream_Bps(st, s, g->instance);
    double read_Bps = st->given
                          ? storage_read_Bps(st, s, g->instance, loaders * readers)
                          : (double)INFINITY;
    double copy_Bps =
        in->pinned ? g->instance->host_pinned_Bps : g->instance->host_pageable_Bps;
    r->step_s[INPUT_WORKERS] = samples * one_s / readers;
    r->vcpus = free_vcpus(in, s, g) / loaders;
    r->step_s[INPUT_CPUS] = samples * in->cpu_s / r->vcpus;
    r->step_s[INPUT_STORAGE] = loaders * samples * in->sample_B / read_Bps;
    r->copy_s = copy_Bps > 0 ? samples * in->device_B / copy_Bps : 0;
}

static double period_of(struct input_result *r)
{
    r->slowest = INPUT_WORKERS;
    for (int i = 0; i < INPUT_STAGES; i++)
        if (r->step_s[i] > r->step_s[r->slowest])
            r->slowest = (enum input_stage)i;
    return r->step_s[r->slowest];
}

/* What to do about it. */
static const char *mend_of(struct arena *arena, const struct input_result *r,
                           const struct input *in, double step_s)
{
    double needed =
        ceil(fmax(1, (double)in->workers) * r->step_s[INPUT_WORKERS] / step_s);
    const char *per_gpu = in->workers == 1 ? " per GPU is" : "s per GPU are";
    if (r->slowest == INPUT_WORKERS && in->workers == 0)
        return "the training process itself loads: set /input/workers to 1 or more, so "
               "that samples are prepared during the step";
    if (r->slowest == INPUT_WORKERS && needed > r->vcpus)
        return arena_printf(arena,
                            "%" PRId64 " worker%s too few, and it has %.4g vCPUs: set "
                            "/input/workers to %.0f, and prepare samples beforehand",
                            (int64_t)in->workers, per_gpu, r->vcpus, ceil(r->vcpus));
    if (r->slowest == INPUT_WORKERS)
        return arena_printf(arena,
                            "%" PRId64 " worker%s too few: set /input/workers to %.0f",
                            (int64_t)in->workers, per_gpu, needed);
    if (r->slowest == INPUT_CPUS)
        return "the vCPUs are too few: prepare samples beforehand or on the GPU, or "
               "take "
               "an instance with more vCPUs per GPU";
    return "storage is too slow: download the data first (\"mode\": \"File\"), or give "
           "the file system more throughput";
}

static void judge(struct input_result *r, struct arena *arena, const struct input *in,
                  const struct scenario *s, double step_s)
{
    if (!r->bound)
        return;
    r->warning = arena_printf(
        arena,
        "the input bounds the step: loading gives %.4g samples/s, the GPUs take "
        "%.4g; %s",
        r->samples_per_s, (double)s->training.global_batch_size / step_s,
        mend_of(arena, r, in, step_s));
}

/* With workers, loading runs concurrently with the step, and the slower sets the pace;
 * without, one follows the other (15.5). The copy precedes the step's first kernel. */
static void compose(struct input_result *r, const struct input *in,
                    const struct scenario *s, double step_s)
{
    double period_s = period_of(r), own_s = step_s + r->copy_s;
    r->given = true;
    r->bound = in->workers > 0 ? period_s > own_s : period_s > 0.01 * own_s;
    r->wait_s = r->copy_s + (in->workers > 0 ? fmax(0, period_s - own_s) : period_s);
    r->samples_per_s = period_s > 0 ? (double)s->training.global_batch_size / period_s
                                    : (double)INFINITY;
}

void input_run(struct input_result *r, struct arena *arena, const struct input *in,
               const struct storage *st, const struct scenario *s, double step_s)
{
    *r = (struct input_result) { .given = false };
    if (!in->given)
        return;
    for (int32_t i = 0; i < s->cluster.n_groups; i++) {
        struct input_result one = { .given = false };
        const struct cluster_group hosts = cluster_hosts(&s->cluster.groups[i]);
        times_of(&one, in, st, s, &hosts);
        compose(&one, in, s, step_s);
        if (!r->given || one.wait_s > r->wait_s)
            *r = one;
    }
    judge(r, arena, in, s, step_s);
}
