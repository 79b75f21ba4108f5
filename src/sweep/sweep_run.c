#include "sweep/sweep_run.h"

#include "sweep/sweep_point.h"

#include <omp.h>
#include <stdlib.h>

void sweep_todo_make(struct sweep_todo *todo, const struct sweep_run *r)
{
    VEC(int64_t) points = { 0 };
    for (int64_t n = 0; n < sweep_shard_size(r->shard, r->sweep->n_points); n++) {
        int64_t i = sweep_shard_point(r->shard, n);
        if (!sweep_journal_has(r->journal, i) &&
            sweep_wheres_axes(&r->sweep->wheres, r->sweep, i))
            VEC_PUSH(&points, i);
    }
    *todo = (struct sweep_todo) { points.n, points.v };
}

void sweep_todo_release(struct sweep_todo *todo)
{
    free(todo->points);
    *todo = (struct sweep_todo) { 0 };
}

/* A thread's share of the points; stops when writing one has failed. */
static void run_share(const struct sweep_run *r, const struct sweep_todo *todo,
                      int64_t *done, struct err *err)
{
    struct cfg_loader files;
    struct sweep_inputs inputs = { 0 };
    cfg_loader_init(&files);
#pragma omp for schedule(dynamic, 1)
    for (int64_t i = 0; i < todo->n; i++) {
        bool failed;
#pragma omp atomic read
        failed = err->set;
        if (!failed) {
            struct err changed = { 0 };
            char *line =
                sweep_point_run(r->sweep, todo->points[i], &files, &inputs, &changed);
#pragma omp critical(sweep_journal)
            {
                if (!line)
                    err_set(err, "%s", changed.text);
                else if (sweep_journal_rest_on(r->journal, &inputs, err) == 0)
                    sweep_journal_add(r->journal, todo->points[i], line, err);
                ++*done;
                if (r->progress)
                    r->progress(r->progress_arg, *done, todo->n);
            }
            free(line);
        }
    }
    sweep_inputs_release(&inputs);
    cfg_loader_release(&files);
}

int sweep_run(const struct sweep_run *r, struct err *err)
{
    struct sweep_todo todo;
    sweep_todo_make(&todo, r);
    int64_t done = 0;
    int jobs = r->jobs ? r->jobs : omp_get_max_threads();
#pragma omp parallel num_threads(jobs)
    run_share(r, &todo, &done, err);
    sweep_todo_release(&todo);
    if (!err->set)
        sweep_journal_sync(r->journal, err);
    return err->set ? -1 : 0;
}
