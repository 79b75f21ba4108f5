/* The ranks of a run: their streams, and which task follows which. */
#include "run/run_state.h"

#include <string.h>

/* For each task the next of its stream; after them the first of each stream. Streams of
 * collectives are noted on the way: a long program is in no near cache. */
static int32_t *link_tasks(struct run *run, const struct program *p)
{
    int32_t n = (int32_t)p->tasks.n, next[STREAM_N];
    int32_t *links = xmalloc(((size_t)n + STREAM_N) * sizeof(*links));
    for (int s = 0; s < STREAM_N; s++)
        next[s] = n;
    for (int32_t i = n - 1; i >= 0; i--) {
        const struct task *t = &p->tasks.v[i];
        links[i] = next[t->stream];
        next[t->stream] = i;
        const uint32_t bit = UINT32_C(1) << t->stream;
        if (t->comm >= 0)
            run->channel_streams[p->comms.v[t->comm].channel] |= bit;
    }
    for (int s = 0; s < STREAM_N; s++)
        links[n + s] = next[s];
    return links;
}

/* To the first task of each stream. */
void run_rank_rewind(struct rank *r)
{
    const int64_t n = r->program->tasks.n;
    for (int64_t k = 0; k < n; k++)
        r->done_ps[k] = RUN_NEVER;
    r->n_issued = 0;
    r->awaits = r->awaits_message = -1;
    for (int32_t i = 0; i < r->n_streams; i++) {
        r->streams[i].head = (int32_t)n + (int32_t)r->streams[i].stream;
        run_next_task(&r->streams[i]);
    }
    memset(r->is_odd, 0, sizeof(r->is_odd));
    r->intervals.n = 0;
}

/* Of those that its program has tasks on, and of computing. */
static void make_streams(struct rank *r, const struct sim_event_type *event)
{
    const int32_t n = (int32_t)r->program->tasks.n;
    for (int s = 0; s < STREAM_N; s++)
        r->n_streams += s == STREAM_COMPUTE || r->next[n + s] < n;
    r->streams = ARENA_ARRAY(r->island->arena, r->n_streams, struct stream_state);
    for (int s = 0, i = 0; s < STREAM_N; s++) {
        if (s != STREAM_COMPUTE && r->next[n + s] == n)
            continue;
        r->streams[i] = (struct stream_state) { .rank = r, .stream = (enum stream)s };
        sim_event_init(&r->streams[i].event, event);
        r->stream_at[s] = (uint8_t)i++;
    }
}

static const int32_t *links_of(const struct run *run, const struct program *p)
{
    int64_t i = 0;
    while (run->task_links.v[i].of != p)
        i++;
    return run->task_links.v[i].next;
}

/* Of each program once, in the order of ranks. */
static void link_programs(struct run *run)
{
    const struct program *const *programs = run->request->programs;
    for (int64_t i = 0; i < run->n_ranks; i++) {
        const struct program *p = programs[i];
        int64_t known = 0;
        run->n_tasks += p->tasks.n;
        if (i > 0 && p == programs[i - 1])
            continue;
        while (known < run->task_links.n && run->task_links.v[known].of != p)
            known++;
        if (known == run->task_links.n)
            VEC_PUSH(&run->task_links, ((struct task_links) { p, link_tasks(run, p) }));
    }
}

static void rank_init(struct rank *r, struct run *run, int64_t i)
{
    const struct run_request *q = run->request;
    const struct run_factors *f = q->factors;
    *r = (struct rank) {
        .run = run,
        .program = q->programs[i],
        .next = links_of(run, q->programs[i]),
        .kernel_factors = f && f->kernel ? f->kernel[i] : NULL,
        .host_factors = f && f->host ? f->host[i] : NULL,
        .number = q->ranks[i],
    };
}

/* What is not for the ranks of islands is little, but memory of megabytes. */
void run_ranks_init(struct run *run)
{
    enum { MANY = 4096 };
    run->ranks = xmalloc((size_t)run->n_ranks * sizeof(*run->ranks));
    link_programs(run);
    if (run->n_ranks < MANY) {
        for (int64_t i = 0; i < run->n_ranks; i++)
            rank_init(&run->ranks[i], run, i);
        return;
    }
#pragma omp parallel for
    for (int64_t i = 0; i < run->n_ranks; i++)
        rank_init(&run->ranks[i], run, i);
}

void run_ranks_make(struct island *island, const struct sim_event_type *event)
{
    for (int64_t i = 0; i < island->n_ranks; i++) {
        struct rank *r = island->ranks[i];
        const int64_t n = r->program->tasks.n;
        r->issue_ps = ARENA_RAW(island->arena, 2 * n + 1, int64_t);
        r->done_ps = r->issue_ps + n;
        make_streams(r, event);
        run_rank_rewind(r);
    }
}

void run_ranks_release(struct run *run)
{
    for (int64_t i = 0; i < run->task_links.n; i++)
        free(run->task_links.v[i].next);
    VEC_RELEASE(&run->task_links);
    free(run->ranks);
}
