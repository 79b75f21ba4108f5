#include "sweep/sweep_mpi.h"

#include <stdlib.h>

#ifdef SMSIM_MPI

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "sweep/sweep_hub.h"
#include "sweep/sweep_point.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG_POINTS = 1, TAG_RECORDS, TAG_END };

static bool under_mpirun(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

int sweep_mpi_start(struct sweep_ranks *ranks, struct err *err)
{
    *ranks = (struct sweep_ranks) { .n = 1 };
    int level;
    if (!under_mpirun())
        return 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level))
        return err_set(err, "MPI does not start");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* ranks may be lost */
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->n);
    return 0;
}

void sweep_mpi_stop(const struct sweep_ranks *ranks, int status)
{
    fflush(NULL);
    if (ranks->n_lost > 0) /* for which MPI would wait */
        _exit(status);
    if (under_mpirun())
        MPI_Finalize();
}

bool sweep_mpi_agree(const struct sweep_ranks *ranks, bool well)
{
    int all = well;
    if (ranks->n > 1)
        MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all;
}

/* Rank 0: hands out and collects */

struct hub {
    struct sweep_hub points;
    const struct sweep_run *run;
    double *given_s; /* [ranks] when each was given its batch; INFINITY: it is to end */
    double longest_s; /* that a batch took so far */
    int n_working;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void hand_out(struct hub *h, int rank, int64_t wanted, const struct err *err)
{
    int64_t n = err->set ? 0 : sweep_hub_give(&h->points, rank, wanted);
    int64_t *points = xcalloc((size_t)n + 1, sizeof(*points));
    for (int64_t i = 0; i < n; i++)
        points[i] = sweep_hub_point(&h->points, rank, i);
    h->given_s[rank] = now_s();
    MPI_Send(points, (int)n, MPI_INT64_T, rank, TAG_POINTS, MPI_COMM_WORLD);
    h->n_working -= n == 0;
    h->given_s[rank] = n == 0 ? INFINITY : h->given_s[rank];
    free(points);
}

/* How long nothing may come before the ranks that are at work are taken to be lost: in
 * the end those that run what others have sent are not waited for. */
static double patience_s(const struct hub *h)
{
    bool all = h->points.n_done == h->points.todo.n;
    return all ? fmax(5, 2 * h->longest_s) : fmax(600, 20 * h->longest_s);
}

/* Waits without keeping a core busy; false when nothing came. */
static bool wait_for_records(const struct hub *h, MPI_Status *status)
{
    const struct timespec nap = { .tv_nsec = 50000 };
    const double until_s = now_s() + patience_s(h);
    int there = 0;
    while (!there && now_s() < until_s) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_RECORDS, MPI_COMM_WORLD, &there, status);
        if (!there)
            nanosleep(&nap, NULL);
    }
    return there;
}

/* What a rank has read; an array, or the text of an error. */
static void take_inputs(struct hub *h, const char *text, struct err *err)
{
    struct sweep_inputs inputs = { 0 };
    json_t *list = json_loads(text, JSON_DECODE_ANY, NULL), *input;
    size_t i;
    if (!json_is_array(list))
        err_set(err, "%s", list ? json_string_value(list) : "a rank sent no inputs");
    json_array_foreach(list, i, input)
    {
        sweep_inputs_add_json(&inputs, input, err);
    }
    if (!err->set)
        sweep_journal_rest_on(h->run->journal, &inputs, err);
    sweep_inputs_release(&inputs);
    json_decref(list);
}

/* The records of a rank's batch, each ended by a NUL. */
static void take_records(struct hub *h, int rank, const char *at, const char *end,
                         struct err *err)
{
    const int64_t n = h->points.batches[rank].n;
    for (int64_t i = 0; i < n && !err->set; i++) {
        at += strlen(at) + 1;
        sweep_journal_add(h->run->journal, sweep_hub_point(&h->points, rank, i),
                          at < end ? at : "", err);
        if (sweep_hub_take(&h->points, rank, i) && h->run->progress)
            h->run->progress(h->run->progress_arg, h->points.n_done, h->points.todo.n);
    }
}

/* A message is the number of points its rank wants, what it has read, and the records of
 * its last batch, each ended by a NUL. False when none came. */
static bool collect(struct hub *h, struct err *err)
{
    MPI_Status status;
    int size;
    if (!wait_for_records(h, &status))
        return false;
    const int rank = status.MPI_SOURCE;
    MPI_Get_count(&status, MPI_CHAR, &size);
    char *text = xmalloc((size_t)size + 1), *at;
    MPI_Recv(text, size, MPI_CHAR, rank, TAG_RECORDS, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (h->points.batches[rank].n > 0)
        h->longest_s = fmax(h->longest_s, now_s() - h->given_s[rank]);
    int64_t wanted = strtoll(text, &at, 10);
    at += strlen(at) + 1;
    if (!err->set)
        take_inputs(h, at < text + size ? at : "", err);
    take_records(h, rank, at, text + size, err);
    free(text);
    hand_out(h, rank, wanted, err);
    return true;
}

/* Says to those that are to end how many others do not answer. */
static void end_ranks(const struct hub *h)
{
    for (int i = 1; i < h->points.n_ranks; i++)
        if (isinf(h->given_s[i]))
            MPI_Send(&h->n_working, 1, MPI_INT, i, TAG_END, MPI_COMM_WORLD);
}

static int serve(struct sweep_ranks *ranks, const struct sweep_run *r, struct err *err)
{
    struct hub h = { .run = r, .n_working = ranks->n - 1 };
    struct sweep_todo todo;
    sweep_todo_make(&todo, r);
    sweep_hub_init(&h.points, todo, ranks->n);
    h.given_s = xcalloc((size_t)ranks->n, sizeof(*h.given_s));
    while (h.n_working > 0 && collect(&h, err)) {
    }
    ranks->n_lost = h.n_working;
    end_ranks(&h);
    int64_t left = h.points.todo.n - h.points.n_done;
    if (left > 0)
        err_set(err,
                "%" PRId64 " points are left, as the ranks that had them do not answer "
                "(--resume runs them)",
                left);
    else if (!err->set)
        sweep_journal_sync(r->journal, err);
    sweep_hub_release(&h.points);
    free(h.given_s);
    return err->set ? -1 : 0;
}

/* The other ranks: simulate */

/* A rank's points, on its threads; what they read is added to `read`. */
static char **simulate_batch(const struct sweep_run *r, const int64_t *points, int n,
                             int jobs, struct sweep_inputs *read, struct err *err)
{
    char **lines = xcalloc((size_t)n + 1, sizeof(*lines));
#pragma omp parallel num_threads(jobs)
    {
        struct cfg_loader files;
        struct sweep_inputs inputs = { 0 };
        struct err changed = { 0 };
        cfg_loader_init(&files);
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < n; i++)
            lines[i] = sweep_point_run(r->sweep, points[i], &files, &inputs, &changed);
#pragma omp critical(sweep_inputs)
        {
            if (changed.set)
                err_set(err, "%s", changed.text);
            sweep_inputs_add_all(read, &inputs, err);
        }
        sweep_inputs_release(&inputs);
        cfg_loader_release(&files);
    }
    return lines;
}

/* What was read, or what is wrong with it, as JSON. */
static char *inputs_text(const struct sweep_inputs *read, const struct err *err)
{
    json_t *list = err->set ? json_string(err->text) : json_array();
    for (int64_t i = 0; !err->set && i < read->list.n; i++)
        json_array_append_new(list, sweep_inputs_json(&read->list.v[i]));
    char *text = json_dumps(list, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(list);
    return text ? text : xstrdup("");
}

static void add_text(struct strbuf *message, char *text)
{
    const char *t = text ? text : "";
    strbuf_add(message, t, strlen(t) + 1);
    free(text);
}

/* Returns how many others do not answer in the end. */
static int work(const struct sweep_run *r)
{
    int jobs = r->jobs ? r->jobs : omp_get_max_threads(), most = 4 * jobs, n = 0;
    int64_t *points = xcalloc((size_t)most, sizeof(*points));
    struct sweep_inputs read = { 0 };
    struct err err = { 0 };
    struct strbuf message;
    const struct input_ref program = sweep_inputs_program();
    strbuf_init(&message);
    sweep_inputs_add(&read, &program, &err);
    sweep_inputs_add_read(&read, &r->sweep->inputs, &err);
    for (;;) {
        MPI_Status status;
        char **lines = simulate_batch(r, points, n, jobs, &read, &err);
        add_text(&message, xasprintf("%d", most));
        add_text(&message, inputs_text(&read, &err));
        for (int i = 0; i < n; i++)
            add_text(&message, lines[i]);
        free(lines);
        MPI_Send(message.s, (int)message.len, MPI_CHAR, 0, TAG_RECORDS, MPI_COMM_WORLD);
        strbuf_release(&message);
        MPI_Recv(points, most, MPI_INT64_T, 0, TAG_POINTS, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT64_T, &n);
        if (n == 0)
            break;
    }
    sweep_inputs_release(&read);
    free(points);
    MPI_Recv(&n, 1, MPI_INT, 0, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return n;
}

int sweep_mpi_run(struct sweep_ranks *ranks, const struct sweep_run *r, struct err *err)
{
    if (ranks->n == 1)
        return sweep_run(r, err);
    if (ranks->rank == 0)
        return serve(ranks, r, err);
    ranks->n_lost = work(r);
    return 0;
}

#else

int sweep_mpi_start(struct sweep_ranks *ranks, struct err *err)
{
    const char *n = getenv("OMPI_COMM_WORLD_SIZE");
    *ranks = (struct sweep_ranks) { .n = 1 };
    if (n && strtol(n, NULL, 10) > 1)
        return err_set(err, "this program is built without MPI (build it with "
                            "`make clean all MPI=1`, or use --shard)");
    return 0;
}

void sweep_mpi_stop(const struct sweep_ranks *ranks, int status)
{
    (void)ranks;
    (void)status;
}

bool sweep_mpi_agree(const struct sweep_ranks *ranks, bool well)
{
    (void)ranks;
    return well;
}

int sweep_mpi_run(struct sweep_ranks *ranks, const struct sweep_run *r, struct err *err)
{
    (void)ranks;
    return sweep_run(r, err);
}

#endif
