/* The trace of one rank: its program as nodes that follow each other. */
#include "trace/chakra_state.h"

#include "base/xmalloc.h"
#include "run/observe.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PS_PER_US = 1000000 };

/* CollectiveCommType; sends and receives are nodes of their own. */
static const int collective_types[COLL_OP_N] = {
    [COLL_ALL_REDUCE] = 0, [COLL_REDUCE] = 1,         [COLL_ALL_GATHER] = 2,
    [COLL_SCATTER] = 4,    [COLL_BROADCAST] = 5,      [COLL_ALLTOALL] = 6,
    [COLL_SENDRECV] = -1,  [COLL_REDUCE_SCATTER] = 7,
};

/* Nodes that something follows. */
struct deps {
    VEC(uint64_t) ids; /* each once */
};

/* The file of one rank. */
struct writer {
    struct chakra_export *x;
    const struct program *program;
    int64_t rank;
    FILE *out;
    uint64_t last;             /* id of the node written last */
    struct deps host;          /* what the host's next act follows */
    struct deps deps;          /* what the task being written follows */
    int32_t streams[STREAM_N]; /* last task of each, + 1; 0: none */
    int64_t left_ps[STREAM_N]; /* time not yet written */
    int64_t host_left_ps;
    uint64_t (*done)[2]; /* [tasks] nodes that end with it; 0: none */
};

static void depend(struct deps *d, uint64_t id)
{
    for (int64_t i = 0; i < d->ids.n; i++)
        if (d->ids.v[i] == id)
            return;
    if (id > 0)
        VEC_PUSH(&d->ids, id);
}

static void depend_all(struct deps *d, const struct deps *others)
{
    for (int64_t i = 0; i < others->ids.n; i++)
        depend(d, others->ids.v[i]);
}

static void depend_task(struct writer *w, struct deps *d, int32_t task)
{
    for (int i = 0; i < 2 && task >= 0; i++)
        depend(d, w->done[task][i]);
}

static int64_t at_stage(const struct writer *w, int64_t stage)
{
    const struct layout *l = &w->x->reps->groups.layout;
    struct layout_index i = layout_index(l, w->rank);
    i.p = stage;
    return layout_rank(l, i);
}

/* Whole microseconds of what is not yet written; the rest stays. */
static uint64_t take_us(int64_t *left_ps, int64_t takes_ps)
{
    int64_t us = (*left_ps + takes_ps) / PS_PER_US;
    *left_ps += takes_ps - us * PS_PER_US;
    return (uint64_t)us;
}

static uint64_t begin(struct writer *w, const char *name, enum chakra_type type,
                      bool on_cpu, const struct deps *deps, uint64_t takes_us)
{
    chakra_begin(&w->x->proto, ++w->last, name, type, (int32_t)deps->ids.n, deps->ids.v,
                 takes_us);
    chakra_add_bool(&w->x->proto, "is_cpu_op", on_cpu);
    return w->last;
}

static void finish(struct writer *w)
{
    chakra_write(&w->x->proto, w->out);
    w->x->counts->nodes++;
}

/* A kernel, or a node of the CPU: dispatch, and copies between host and GPU. */
static uint64_t compute(struct writer *w, const char *name, bool on_cpu,
                        const struct deps *deps, int64_t *left_ps, int64_t takes_ps)
{
    uint64_t id = begin(w, name, CHAKRA_COMP, on_cpu, deps, take_us(left_ps, takes_ps));
    finish(w);
    return id;
}

static uint64_t message(struct writer *w, enum chakra_type type, const char *name,
                        int64_t peer, int64_t bytes, int64_t tag,
                        const struct deps *deps)
{
    struct chakra_proto *p = &w->x->proto;
    uint64_t id = begin(w, name, type, false, deps, 0);
    chakra_add_int64(p, "comm_size", bytes);
    chakra_add_int32(p, "comm_src", type == CHAKRA_SEND ? w->rank : peer);
    chakra_add_int32(p, "comm_dst", type == CHAKRA_SEND ? peer : w->rank);
    chakra_add_int32(p, "comm_tag", tag);
    finish(w);
    return id;
}

/* Of all-gather the field has the bytes of one rank. */
static uint64_t write_collective(struct writer *w, const char *name, enum coll_op op,
                                 enum channel channel, double size_B,
                                 const struct deps *deps)
{
    char number[24];
    struct chakra_proto *p = &w->x->proto;
    struct ranks group = groups_of(&w->x->reps->groups, channel, w->rank);
    double share = op == COLL_ALL_GATHER ? (double)ranks_count(&group) : 1;
    uint64_t id = begin(w, name, CHAKRA_COLLECTIVE, false, deps, 0);
    chakra_add_int64(p, "comm_type", collective_types[op]);
    chakra_add_int64(p, "comm_size", (int64_t)(size_B / share));
    if (ranks_count(&group) < w->x->counts->ranks) {
        snprintf(number, sizeof(number), "%" PRId64,
                 chakra_group(w->x, channel, &group));
        chakra_add_string(p, "pg_name", number);
    }
    finish(w);
    return id;
}

/* A step of a ring: to the next of the group, from the one before. */
static void ring_step(struct writer *w, int32_t task, const struct comm *c,
                      const char *name, const struct deps *deps)
{
    struct ranks group = groups_of(&w->x->reps->groups, c->channel, w->rank);
    int64_t n = ranks_count(&group), at = 0;
    int64_t tag = w->x->n_edges + task;
    while (ranks_member(&group, at) != w->rank)
        at++;
    w->done[task][0] = message(w, CHAKRA_SEND, name, ranks_member(&group, (at + 1) % n),
                               (int64_t)c->plan->size_B, tag, deps);
    w->done[task][1] =
        message(w, CHAKRA_RECV, name, ranks_member(&group, (at + n - 1) % n),
                (int64_t)c->plan->size_B, tag, deps);
}

/* Later stages of a way through the hosts belong to the first's node. */
static bool goes_on(const struct program *p, const struct task *t)
{
    const struct task *before = t->after[0] >= 0 ? &p->tasks.v[t->after[0]] : NULL;
    return !p->comms.v[t->comm].has_request && before && before->comm >= 0 &&
           !p->comms.v[before->comm].has_request;
}

static void write_comm(struct writer *w, int32_t i, const char *name,
                       const struct deps *deps)
{
    const struct task *t = &w->program->tasks.v[i];
    const struct comm *c = &w->program->comms.v[t->comm];
    if (t->sends >= 0) {
        const struct chakra_edge *e = &w->x->edges[t->sends];
        w->done[i][0] =
            message(w, CHAKRA_SEND, name, at_stage(w, e->to), e->bytes, t->sends, deps);
    } else if (goes_on(w->program, t)) {
        w->done[i][0] = w->done[t->after[0]][0];
    } else if (c->plan->op == COLL_SENDRECV) {
        ring_step(w, i, c, name, deps);
    } else {
        w->done[i][0] = write_collective(w, name, c->plan->op,
                                         c->has_request ? c->channel : CHANNEL_WORLD,
                                         c->plan->size_B, deps);
    }
}

static void write_fusion(struct writer *w, int32_t i, const struct fusion *f,
                         const struct deps *deps)
{
    int32_t n = (int32_t)f->tensors.n;
    uint64_t last = 0;
    double bytes;
    for (int32_t first = 0, taken; first < n; first += taken) {
        struct deps ready = { 0 };
        taken = fusion_take(f, first, n - first, &bytes);
        depend(&ready, last);
        depend_task(w, &ready, f->tensors.v[first + taken - 1].ready);
        last = write_collective(w, "all_reduce fused", COLL_ALL_REDUCE, CHANNEL_WORLD,
                                bytes, &ready);
        VEC_RELEASE(&ready.ids);
    }
    w->done[i][0] = last > 0 ? last : deps->ids.n > 0 ? deps->ids.v[0] : 0;
}

/* What the host does before the task can begin. */
static void write_host(struct writer *w, int32_t i, const char *name)
{
    const struct task *t = &w->program->tasks.v[i];
    if (t->receives >= 0) {
        const struct chakra_edge *e = &w->x->edges[t->receives];
        depend(&w->host, message(w, CHAKRA_RECV, name, at_stage(w, e->from), e->bytes,
                                 t->receives, &w->host));
    }
    if (t->host_ps > 0) {
        uint64_t id = compute(w, name, true, &w->host, &w->host_left_ps, t->host_ps);
        w->host.ids.n = 0;
        depend(&w->host, id);
    }
}

static void write_task(struct writer *w, int32_t i)
{
    const struct task *t = &w->program->tasks.v[i];
    char text[OBSERVED_NAME_MAX];
    const char *name = observed_name(w->program, t, text);
    write_host(w, i, name);
    w->deps.ids.n = 0;
    depend_all(&w->deps, &w->host);
    depend_task(w, &w->deps, w->streams[t->stream] - 1);
    depend_task(w, &w->deps, t->after[0]);
    depend_task(w, &w->deps, t->after[1]);
    w->done[i][1] = 0;
    if (t->comm >= 0) {
        write_comm(w, i, name, &w->deps);
    } else if (t->fusion >= 0) {
        write_fusion(w, i, w->program->fusions.v[t->fusion], &w->deps);
    } else {
        w->done[i][0] = compute(w, name, t->stream != STREAM_COMPUTE, &w->deps,
                                &w->left_ps[t->stream], t->alone_ps);
    }
    w->streams[t->stream] = i + 1;
    if (t->sync)
        for (int k = 0; k < 2; k++)
            depend(&w->host, w->done[i][k]);
}

/* The program, its repeats written out. */
static void write_tasks(struct writer *w)
{
    const struct program *p = w->program;
    const struct repeat *r = &p->repeat;
    for (int32_t i = 0; i < p->tasks.n; i++) {
        write_task(w, i);
        for (int64_t k = 0; r->from >= 0 && i == r->to && k < r->extra; k++)
            for (int32_t again = r->from + 1; again <= r->to; again++)
                write_task(w, again);
    }
}

int chakra_write_rank(struct chakra_export *x, int64_t rank, struct err *err)
{
    struct file_out file;
    struct writer w = { .x = x, .rank = rank, .program = x->reps->programs[rank] };
    char *path = xasprintf("%s/step.%" PRId64 ".et", x->dir.temp, rank);
    int rc = file_out_open(&file, path, err);
    free(path);
    if (rc)
        return rc;
    w.out = file.stream;
    w.done = xcalloc((size_t)w.program->tasks.n + 1, sizeof(*w.done));
    chakra_write_metadata(&x->proto, w.out);
    write_tasks(&w);
    free(w.done);
    VEC_RELEASE(&w.host.ids);
    VEC_RELEASE(&w.deps.ids);
    return file_out_commit(&file, err);
}
