#include "trace/chakra_state.h"

#include "base/mix.h"
#include "base/xmalloc.h"

#include <inttypes.h>
#include <stdlib.h>

int64_t chakra_group(struct chakra_export *x, enum channel channel,
                     const struct ranks *group)
{
    uint64_t key = (uint64_t)group->first * CHANNEL_N + (uint64_t)channel + 1;
    uint64_t at = mix64(key) & (uint64_t)(x->n_slots - 1);
    while (x->keys[at] && x->keys[at] != key)
        at = (at + 1) & (uint64_t)(x->n_slots - 1);
    if (!x->keys[at]) {
        x->keys[at] = key;
        VEC_PUSH(&x->order, at);
        x->numbers[at] = x->order.n;
    }
    return x->numbers[at];
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
    for (int64_t i = 0; i < x->order.n; i++) {
        uint64_t key = x->keys[x->order.v[i]] - 1;
        struct ranks group =
            groups_of(&x->cast->groups, (enum channel)(key % CHANNEL_N),
                      (int64_t)(key / CHANNEL_N));
        fprintf(file.stream, "%s\n  \"%" PRId64 "\": [", i ? "," : "", i + 1);
        for (int64_t k = 0; k < ranks_count(&group); k++)
            fprintf(file.stream, "%s%" PRId64, k ? ", " : "", ranks_member(&group, k));
        fputs("]", file.stream);
    }
    fputs("\n}\n", file.stream);
    x->counts->groups = x->order.n;
    return file_out_commit(&file, err);
}

static int64_t messages_max(const struct cast *cast)
{
    int64_t n = 0;
    for (int32_t i = 0; i < cast->n_steps; i++)
        if (cast->steps[i].program.n_messages > n)
            n = cast->steps[i].program.n_messages;
    return n;
}

static void find_edges(struct chakra_export *x, struct arena *arena)
{
    const struct cast *cast = x->cast;
    int64_t stages = cast->groups.layout.pipeline;
    x->n_edges = messages_max(cast);
    x->edges = ARENA_ARRAY(arena, x->n_edges + 1, struct chakra_edge);
    for (int32_t i = 0; i < cast->n_steps; i++) {
        const struct program *p = &cast->steps[i].program;
        for (int64_t k = 0; k < p->tasks.n; k++) {
            const struct task *t = &p->tasks.v[k];
            if (t->sends < 0)
                continue;
            const struct comm *c = &p->comms.v[t->comm];
            int64_t by = c->channel == CHANNEL_NEXT ? 1 : stages - 1;
            x->edges[t->sends] =
                (struct chakra_edge) { cast->stages[i], (cast->stages[i] + by) % stages,
                                       (int64_t)c->plan->size_B };
        }
    }
}

static int write_all(struct chakra_export *x, const char *dir, struct err *err)
{
    int rc = dir_out_open(&x->dir, dir, err);
    for (int64_t i = 0; i < x->cast->n_ranks && rc == 0; i++)
        rc = chakra_write_rank(x, i, err);
    if (rc == 0)
        rc = write_groups(x, err);
    if (rc == 0)
        rc = dir_out_commit(&x->dir, err);
    dir_out_abandon(&x->dir);
    return rc;
}

/* Repeats are written out: microbatches that cost the replay nothing fill the disk. */
static int check_tasks(const struct cast *cast, struct err *err)
{
    double tasks = 0;
    for (int64_t i = 0; i < cast->n_ranks; i++) {
        const struct program *p = cast->programs[i];
        double repeated = p->repeat.from < 0 ? 0 : p->repeat.to - p->repeat.from;
        tasks += (double)p->tasks.n + repeated * (double)p->repeat.extra;
    }
    if (tasks <= CHAKRA_TASKS_MAX)
        return 0;
    return err_set(err,
                   "--chakra: %.3g tasks of %" PRId64
                   " ranks are too many (at most %d: "
                   "take fewer microbatches)",
                   tasks, cast->n_ranks, CHAKRA_TASKS_MAX);
}

int chakra_export(struct chakra_counts *counts, const char *dir, struct arena *arena,
                  const struct scenario *s, struct err *err)
{
    struct cast cast;
    const struct cast_options every = { .unfold = true, .detail = true };
    int64_t n_gpus = s->cluster.n_gpus;
    *counts = (struct chakra_counts) { .ranks = n_gpus };
    if (n_gpus > CHAKRA_RANKS_MAX)
        return err_set(err,
                       "--chakra: a file for each of %" PRId64 " ranks is too many (at "
                       "most %d)",
                       n_gpus, CHAKRA_RANKS_MAX);
    struct chakra_export x = { .cast = &cast, .counts = counts, .n_slots = 16 };
    while (x.n_slots < 2 * CHANNEL_N * n_gpus)
        x.n_slots *= 2;
    x.keys = ARENA_ARRAY(arena, x.n_slots, uint64_t);
    x.numbers = ARENA_ARRAY(arena, x.n_slots, int64_t);
    chakra_proto_init(&x.proto);
    int rc = cast_build(&cast, arena, s, &every, err);
    if (rc == 0)
        rc = check_tasks(&cast, err);
    if (rc == 0) {
        find_edges(&x, arena);
        rc = write_all(&x, dir, err);
    }
    VEC_RELEASE(&x.order);
    chakra_proto_release(&x.proto);
    cast_release(&cast);
    return rc;
}
