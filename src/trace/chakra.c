#include "trace/chakra_state.h"

#include "base/xmalloc.h"

#include <inttypes.h>
#include <stdlib.h>

int64_t chakra_group(struct chakra_export *x, enum channel channel,
                     const struct ranks *group)
{
    uint64_t key = (uint64_t)group->first * CHANNEL_N + (uint64_t)channel;
    struct chakra_known *known;
    HASH_FIND(hh, x->known, &key, sizeof(key), known);
    if (!known) {
        known = xcalloc(1, sizeof(*known));
        known->key = key;
        known->number = HASH_COUNT(x->known) + 1;
        HASH_ADD(hh, x->known, key, sizeof(key), known);
    }
    return known->number;
}

static void forget_groups(struct chakra_export *x)
{
    struct chakra_known *known, *next;
    HASH_ITER(hh, x->known, known, next)
    {
        HASH_DELETE(hh, x->known, known);
        free(known);
    }
}

static int write_groups(struct chakra_export *x, struct err *err)
{
    struct file_out file;
    char *path = xasprintf("%s/comm_groups.json", x->dir.temp);
    int rc = file_out_open(&file, path, err);
    free(path);
    if (rc)
        return rc;
    fputs("{", file.stream);
    for (const struct chakra_known *k = x->known; k; k = k->hh.next) {
        struct ranks group =
            groups_of(&x->reps->groups, (enum channel)(k->key % CHANNEL_N),
                      (int64_t)(k->key / CHANNEL_N));
        fprintf(file.stream, "%s\n  \"%" PRId64 "\": [", k->number > 1 ? "," : "",
                k->number);
        for (int64_t i = 0; i < ranks_count(&group); i++)
            fprintf(file.stream, "%s%" PRId64, i ? ", " : "", ranks_member(&group, i));
        fputs("]", file.stream);
    }
    fputs("\n}\n", file.stream);
    x->counts->groups = HASH_COUNT(x->known);
    return file_out_commit(&file, err);
}

static int64_t messages_max(const struct reps *reps)
{
    int64_t n = 0;
    for (int32_t i = 0; i < reps->n_steps; i++)
        if (reps->steps[i].program.n_messages > n)
            n = reps->steps[i].program.n_messages;
    return n;
}

static void find_edges(struct chakra_export *x, struct arena *arena)
{
    const struct reps *reps = x->reps;
    int64_t stages = reps->groups.layout.pipeline;
    x->n_edges = messages_max(reps);
    x->edges = ARENA_ARRAY(arena, x->n_edges + 1, struct chakra_edge);
    for (int32_t i = 0; i < reps->n_steps; i++) {
        const struct program *p = &reps->steps[i].program;
        for (int64_t k = 0; k < p->tasks.n; k++) {
            const struct task *t = &p->tasks.v[k];
            if (t->sends < 0)
                continue;
            const struct comm *c = &p->comms.v[t->comm];
            int64_t by = c->channel == CHANNEL_NEXT ? 1 : stages - 1;
            x->edges[t->sends] =
                (struct chakra_edge) { reps->stages[i], (reps->stages[i] + by) % stages,
                                       (int64_t)c->plan->size_B };
        }
    }
}

static int write_all(struct chakra_export *x, const char *dir, struct err *err)
{
    int rc = dir_out_open(&x->dir, dir, err);
    for (int64_t i = 0; i < x->reps->n_ranks && rc == 0; i++)
        rc = chakra_write_rank(x, i, err);
    if (rc == 0)
        rc = write_groups(x, err);
    if (rc == 0)
        rc = dir_out_commit(&x->dir, err);
    dir_out_abandon(&x->dir);
    return rc;
}

/* Repeats are written out: microbatches that cost the replay nothing fill the disk. */
static int check_tasks(const struct reps *reps, struct err *err)
{
    double tasks = 0;
    for (int64_t i = 0; i < reps->n_ranks; i++) {
        const struct program *p = reps->programs[i];
        double repeated = p->repeat.from < 0 ? 0 : p->repeat.to - p->repeat.from;
        tasks += (double)p->tasks.n + repeated * (double)p->repeat.extra;
    }
    if (tasks <= CHAKRA_TASKS_MAX)
        return 0;
    return err_set(err,
                   "--chakra: %.3g tasks of %" PRId64
                   " ranks are too many (at most %d: "
                   "take fewer microbatches)",
                   tasks, reps->n_ranks, CHAKRA_TASKS_MAX);
}

int chakra_export(struct chakra_counts *counts, const char *dir, struct arena *arena,
                  const struct scenario *s, struct err *err)
{
    struct reps reps;
    const struct reps_options every = { .unfold = true, .detail = true };
    int64_t n_gpus = s->cluster.n_gpus;
    *counts = (struct chakra_counts) { .ranks = n_gpus };
    if (n_gpus > CHAKRA_RANKS_MAX)
        return err_set(err,
                       "--chakra: a file for each of %" PRId64 " ranks is too many (at "
                       "most %d)",
                       n_gpus, CHAKRA_RANKS_MAX);
    struct chakra_export x = { .reps = &reps, .counts = counts };
    chakra_proto_init(&x.proto);
    int rc = reps_build(&reps, arena, s, &every, err);
    if (rc == 0)
        rc = check_tasks(&reps, err);
    if (rc == 0) {
        find_edges(&x, arena);
        rc = write_all(&x, dir, err);
    }
    forget_groups(&x);
    chakra_proto_release(&x.proto);
    reps_release(&reps);
    return rc;
}
