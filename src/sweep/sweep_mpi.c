#include "sweep/sweep_mpi.h"

#include <stdlib.h>

#ifdef SMSIM_MPI

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "sweep/sweep_point.h"

#include <mpi.h>
#include <omp.h>
#include <string.h>
#include <time.h>

enum { TAG_POINTS = 1, TAG_RECORDS };

static bool under_mpirun(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

int sweep_mpi_start(struct sweep_ranks *ranks, struct err *err)
{
    *ranks = (struct sweep_ranks) { 0, 1 };
    int level;
    if (!under_mpirun())
        return 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level))
        return err_set(err, "MPI does not start");
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->n);
    return 0;
}

void sweep_mpi_stop(const struct sweep_ranks *ranks)
{
    (void)ranks;
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

struct batch {
    int64_t first, n; /* of the todo list */
};

struct hub {
    const struct sweep_run *run;
    struct sweep_todo todo;
    struct batch *batches; /* of each rank */
    int n_ranks, n_working;
    int64_t next, done;
};

/* Small enough that all ranks end at about the same time. */
static int64_t batch_size(const struct hub *h, int64_t wanted)
{
    int64_t left = h->todo.n - h->next, share = left / (2 * h->n_ranks);
    int64_t n = wanted < share ? wanted : share;
    return n > 1 ? n : left > 0;
}

static void hand_out(struct hub *h, int rank, int64_t wanted, const struct err *err)
{
    int64_t n = err->set ? 0 : batch_size(h, wanted);
    h->batches[rank] = (struct batch) { h->next, n };
    MPI_Send(h->todo.points + h->next, (int)n, MPI_INT64_T, rank, TAG_POINTS,
             MPI_COMM_WORLD);
    h->next += n;
    h->n_working -= n == 0;
}

/* Waits without keeping a core busy. */
static MPI_Status wait_for_records(void)
{
    const struct timespec nap = { .tv_nsec = 50000 };
    MPI_Status status;
    int there = 0;
    while (!there) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_RECORDS, MPI_COMM_WORLD, &there, &status);
        if (!there)
            nanosleep(&nap, NULL);
    }
    return status;
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

/* A message is the number of points its rank wants, what it has read, and the records of
 * its last batch, each ended by a NUL. */
static void collect(struct hub *h, struct err *err)
{
    MPI_Status status = wait_for_records();
    int size;
    MPI_Get_count(&status, MPI_CHAR, &size);
    char *text = xmalloc((size_t)size + 1), *at;
    MPI_Recv(text, size, MPI_CHAR, status.MPI_SOURCE, TAG_RECORDS, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    int64_t wanted = strtoll(text, &at, 10);
    const struct batch *b = &h->batches[status.MPI_SOURCE];
    at += strlen(at) + 1;
    if (!err->set)
        take_inputs(h, at < text + size ? at : "", err);
    for (int64_t i = b->first; i < b->first + b->n && !err->set; i++) {
        at += strlen(at) + 1;
        sweep_journal_add(h->run->journal, h->todo.points[i],
                          at < text + size ? at : "", err);
        h->done++;
        if (h->run->progress)
            h->run->progress(h->run->progress_arg, h->done, h->todo.n);
    }
    free(text);
    hand_out(h, status.MPI_SOURCE, wanted, err);
}

static int serve(const struct sweep_ranks *ranks, const struct sweep_run *r,
                 struct err *err)
{
    struct hub h = { .run = r,
                     .batches = xcalloc((size_t)ranks->n, sizeof(*h.batches)),
                     .n_ranks = ranks->n,
                     .n_working = ranks->n - 1 };
    sweep_todo_make(&h.todo, r);
    while (h.n_working > 0)
        collect(&h, err);
    if (!err->set)
        sweep_journal_sync(r->journal, err);
    sweep_todo_release(&h.todo);
    free(h.batches);
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

static void work(const struct sweep_run *r)
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
}

int sweep_mpi_run(const struct sweep_ranks *ranks, const struct sweep_run *r,
                  struct err *err)
{
    if (ranks->n == 1)
        return sweep_run(r, err);
    if (ranks->rank == 0)
        return serve(ranks, r, err);
    work(r);
    return 0;
}

#else

int sweep_mpi_start(struct sweep_ranks *ranks, struct err *err)
{
    const char *n = getenv("OMPI_COMM_WORLD_SIZE");
    *ranks = (struct sweep_ranks) { 0, 1 };
    if (n && atoi(n) > 1)
        return err_set(err, "this program is built without MPI (build it with "
                            "`make clean all MPI=1`, or use --shard)");
    return 0;
}

void sweep_mpi_stop(const struct sweep_ranks *ranks)
{
    (void)ranks;
}

bool sweep_mpi_agree(const struct sweep_ranks *ranks, bool well)
{
    (void)ranks;
    return well;
}

int sweep_mpi_run(const struct sweep_ranks *ranks, const struct sweep_run *r,
                  struct err *err)
{
    (void)ranks;
    return sweep_run(r, err);
}

#endif
