#include "campaign/checkpoint.h"

#include "scenario/libraries.h"
#include "scenario/states.h"

#include <inttypes.h>
#include <math.h>

/* clang-format off */
static const struct name_value writer_names[] = {
    { "rank0", CHECKPOINT_BY_RANK0 }, { "sharded", CHECKPOINT_SHARDED }, { NULL, 0 },
};

#define C struct checkpoint
static const struct cfg_field checkpoint_fields[] = {
    CFG_ENUM("to", C, to, storage_kind_names),
    CFG_ENUM("writer", C, writer, writer_names),
    CFG_BOOL("async", C, async),
    CFG_INT("every", C, every, 1, 1e15),
    CFG_QUANTITY("interval", C, interval_s, UNIT_SECONDS, 1e-3, 1e9),
    CFG_QUANTITY("throughput", C, write_Bps, UNIT_BYTES_PER_S, 1e3, 1e15),
    CFG_END,
};
/* clang-format on */

static int check_writer(const struct checkpoint *c, const struct scenario *s,
                        struct cfg object)
{
    const struct parallelism *p = &s->parallel;
    struct cfg at = cfg_get(object, "writer");
    const struct library_row *library = library_of(p);
    if (c->writer != CHECKPOINT_BY_RANK0 || !states_are_sharded(s))
        return 0;
    if (library_has(library->saves_shards, (int)p->shard.strategy))
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s saves no whole optimizer state where it is sharded: each "
                         "rank saves its part (write \"sharded\", or leave it out)",
                         library->title);
    cfg_warn(at, DIAG_APPROXIMATE,
             "states sharded over %" PRId64
             " ranks are taken to be on the writer: their "
             "way there is not in the time",
             p->shard.degree);
    return 0;
}

/* How fast a writer is must be known. */
static int check_rate(const struct checkpoint *c, const struct storage *st,
                      const struct scenario *s, struct cfg object)
{
    for (int32_t i = 0; i < s->cluster.n_groups; i++) {
        const struct instance *inst = s->cluster.groups[i].instance;
        double Bps = storage_write_Bps(st, c->to, inst, 1);
        if (c->write_Bps > 0 || (Bps > 0 && isfinite(Bps)))
            continue;
        if (c->to == STORAGE_FSX)
            return cfg_error(cfg_get(object, "to"), DIAG_MISSING,
                             "no FSx file system is described (write \"throughput\" "
                             "next to this, or "
                             "/storage with \"kind\": \"fsx\" and its throughput)");
        return cfg_error(object, DIAG_MISSING,
                         "how fast %s writes is not known (give \"throughput\", for "
                         "example \"1GB/s\")",
                         inst->name);
    }
    return 0;
}

/* Ranks that hold different parts of the states. */
static double parts_of(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    double model = (double)p->tensor * (double)p->pipeline * (double)p->expert;
    return fmin(model * (states_are_sharded(s) ? (double)p->shard.degree : 1),
                (double)scenario_world(s));
}

/* Instances that hold different parts. */
static int64_t holders_of(const struct scenario *s, double parts)
{
    double gpus = (double)cluster_hosts(&s->cluster.groups[0]).gpus_per_instance;
    double instances = fmin(ceil(parts / gpus), (double)s->cluster.n_hosts);
    return (int64_t)fmax(1, instances);
}

static void warn_idle(const struct checkpoint *c, const struct scenario *s,
                      struct cfg object)
{
    if (c->writer >= 0 && holders_of(s, parts_of(s)) == 1)
        cfg_warn(cfg_get(object, "writer"), DIAG_WITHOUT_EFFECT,
                 "without effect: one instance has all of the states, and writes them");
}

int checkpoint_read(struct checkpoint *c, const struct storage *st,
                    const struct scenario *s, struct cfg object)
{
    *c = (struct checkpoint) { .to = STORAGE_S3, .writer = -1 };
    c->given = cfg_present(object);
    if (!c->given)
        return 0;
    if (!cfg_is_object(object))
        return cfg_error(object, DIAG_WRONG_TYPE,
                         "checkpoint is an object (write for example { \"to\": "
                         "\"s3\", \"every\": 1000 })");
    if (cfg_read(object, checkpoint_fields, c))
        return -1;
    if (c->every > 0 && c->interval_s > 0)
        return cfg_error(
            cfg_get(object, "interval"), DIAG_CONTRADICTION,
            "\"every\" counts the steps between checkpoints already (leave "
            "one of them out)");
    if (c->interval_s <= 0 && c->every == 0)
        c->every = scenario_epoch_steps(s);
    if (c->interval_s <= 0 && c->every == 0)
        return cfg_error(object, DIAG_MISSING,
                         "how often is not given (give \"every\" in steps, "
                         "\"interval\", for example \"30min\", or "
                         "/training/samples, for one an epoch)");
    warn_idle(c, s, object);
    return check_writer(c, s, object) ? -1 : check_rate(c, st, s, object);
}

/* Bytes per parameter where nothing is sharded. */
static struct states whole_states(const struct scenario *s)
{
    struct scenario whole = *s;
    whole.parallel.shard.strategy = SHARDING_NONE;
    return states_of(&whole);
}

/* Of a frozen model, what is trained alone is written (PEFT's save_pretrained). */
static double written(const struct scenario *s)
{
    const struct lora *l = &s->training.lora;
    return (double)(l->rank ? lora_parameters(&s->model, l) : s->model.parameters);
}

double checkpoint_model_B(const struct scenario *s)
{
    return written(s) * whole_states(s).parameter_B;
}

/* Parameters that are no matrices of layers: of words and their norms. */
static double ends_of(const struct scenario *s)
{
    const struct model *m = &s->model;
    return (double)m->ends.vocab * (double)(m->ends.word ? m->ends.word : m->hidden) *
           (model_has_vocabulary(m) && !model_ties_head(m) ? 2 : 1);
}

double checkpoint_states_B(const struct scenario *s)
{
    struct states all = whole_states(s);
    double less_B = all.optimizer_B - all.hidden_optimizer_B;
    return written(s) * (all.parameter_B + all.optimizer_B) -
           fmax(0, written(s) - ends_of(s)) * less_B;
}

static int64_t writers_of(const struct checkpoint *c, const struct scenario *s,
                          double parts)
{
    bool sharded = c->writer < 0 ? parts > 1 : c->writer == CHECKPOINT_SHARDED;
    return sharded ? holders_of(s, parts) : 1;
}

/* The slowest instance's. */
static double write_s(const struct checkpoint_result *r, const struct checkpoint *c,
                      const struct storage *st, const struct scenario *s)
{
    double slowest = INFINITY;
    for (int32_t i = 0; i < s->cluster.n_groups; i++) {
        const struct instance *inst = s->cluster.groups[i].instance;
        double Bps = storage_write_Bps(st, c->to, inst, r->writers);
        slowest = fmin(slowest, c->write_Bps > 0 ? c->write_Bps : Bps);
    }
    return r->size_B / (double)r->writers / slowest;
}

/* Each GPU's part over its own copy engine. */
static double copy_s(const struct checkpoint_result *r, const struct scenario *s,
                     double parts)
{
    double slowest = INFINITY;
    for (int32_t i = 0; i < s->cluster.n_groups; i++)
        slowest = fmin(slowest, s->cluster.groups[i].instance->host_pageable_Bps);
    return slowest > 0 ? r->size_B / parts / slowest : 0;
}

void checkpoint_run(struct checkpoint_result *r, const struct checkpoint *c,
                    const struct storage *st, const struct scenario *s, int64_t steps,
                    double step_s)
{
    double parts = parts_of(s);
    *r = (struct checkpoint_result) { .size_B = checkpoint_states_B(s) };
    r->writers = writers_of(c, s, parts);
    r->copy_s = copy_s(r, s, parts);
    r->write_s = write_s(r, c, st, s);
    r->every = c->every;
    if (c->interval_s > 0)
        r->every = (int64_t)fmin(fmax(1, round(c->interval_s / step_s)), 1e15);
    r->count = r->every > 0 ? steps / r->every : 0;
    r->blocking_s = r->copy_s + r->write_s;
    if (c->async) /* the next one waits for the last one's writing */
        r->blocking_s = r->copy_s + fmax(0, r->write_s - (double)r->every * step_s);
}
