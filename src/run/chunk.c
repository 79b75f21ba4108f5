#include "run/chunk.h"

#include "base/hash.h"
#include "base/units.h"
#include "base/vec.h"

#include <math.h>

/* Link servers keep their own clock; a message beyond it never ends. */
#define NEVER_PS (INT64_MAX / 4)

struct server {
    int64_t free_ps; /* when the last message taken has left */
    int64_t busy_ps; /* in total */
};

struct passage { /* of one message over one link */
    int32_t link;
    int64_t busy_ps;
};

/* A rank of a ring, as a sender over its hop. */
struct hop {
    struct hop *next_ending; /* of the same instant */
    struct hop *next;        /* the rank it sends to; NULL at the end of a chain */
    struct chunk_run *run;
    int64_t n_sent, n_allowed; /* messages: started, and allowed by arrivals so far */
    int64_t own_ps;            /* a message takes at least so long by itself */
    int32_t n_passages;
    bool busy;
    struct passage *passages;
};

/* One phase under way; frees itself at its end. */
struct chunk_run {
    struct sim_event event; /* before the first message, after the last */
    struct chunk_net *net;
    struct chunk_run *newer, **older; /* list of all */
    int64_t n_messages, n_left; /* each rank sends; not ended yet, over all ranks */
    int64_t step_ps, after_ps;
    int32_t n_hops;
    struct hop *hops;
    struct passage *passages;
    flow_done_fn *done;
    void *arg;
};

/* All messages that end at one instant, in the order in which they started. */
struct instant {
    struct sim_event event;
    struct chunk_net *net;
    int64_t t_ps;
    struct instant *next; /* free */
    struct hop *first, **last;
    UT_hash_handle hh;
};

enum { INSTANTS_BLOCK = 64 };

struct chunk_net {
    struct sim *sim;
    const struct net *links;
    struct server *servers;
    struct instant *instants; /* by time */
    struct instant *unused, *newest;
    VEC(struct instant *) blocks;
    VEC(struct hop *) ended; /* at this instant; their list changes while they start */
    struct chunk_run *runs;
    int64_t n_ended;
    int64_t n_started;
};

struct chunk_net *chunk_net_new(struct sim *sim, const struct net *net)
{
    struct chunk_net *c = xcalloc(1, sizeof(*c));
    c->sim = sim;
    c->links = net;
    c->servers = xcalloc((size_t)net_n_links(net) + 1, sizeof(*c->servers));
    return c;
}

static void run_free(struct chunk_run *run)
{
    *run->older = run->newer;
    if (run->newer)
        run->newer->older = run->older;
    free(run->hops);
    free(run->passages);
    free(run);
}

void chunk_net_free(struct chunk_net *c)
{
    while (c->runs) {
        sim_cancel(c->sim, &c->runs->event);
        run_free(c->runs);
    }
    for (struct instant *t = c->instants; t; t = t->hh.next)
        sim_cancel(c->sim, &t->event);
    HASH_CLEAR(hh, c->instants);
    for (int64_t i = 0; i < c->blocks.n; i++)
        free(c->blocks.v[i]);
    VEC_RELEASE(&c->blocks);
    VEC_RELEASE(&c->ended);
    free(c->servers);
    free(c);
}

static void fire_instant(struct sim *sim, struct sim_event *ev);
static const struct sim_event_type instant_type = { "messages end", fire_instant };

static void more_instants(struct chunk_net *c)
{
    struct instant *block = xcalloc(INSTANTS_BLOCK, sizeof(*block));
    VEC_PUSH(&c->blocks, block);
    for (int32_t i = 0; i < INSTANTS_BLOCK; i++) {
        sim_event_init(&block[i].event, &instant_type);
        block[i].net = c;
        block[i].next = c->unused;
        c->unused = &block[i];
    }
}

/* The instant of that time; a new one is scheduled. */
static struct instant *instant_at(struct chunk_net *c, int64_t t_ps)
{
    if (c->newest && c->newest->t_ps == t_ps)
        return c->newest;
    struct instant *t;
    HASH_FIND(hh, c->instants, &t_ps, sizeof(t_ps), t);
    if (!t) {
        if (!c->unused)
            more_instants(c);
        t = c->unused;
        c->unused = t->next;
        t->t_ps = t_ps;
        t->first = NULL;
        t->last = &t->first;
        HASH_ADD(hh, c->instants, t_ps, sizeof(t->t_ps), t);
        sim_at(c->sim, &t->event, t_ps);
    }
    c->newest = t;
    return t;
}

static void forget_instant(struct chunk_net *c, struct instant *t)
{
    HASH_DELETE(hh, c->instants, t);
    t->next = c->unused;
    c->unused = t;
    c->newest = NULL;
}

/* Starts the next message of a rank, if it is idle and the message is there. */
static void try_start(struct chunk_net *c, struct hop *h)
{
    if (h->busy || h->n_sent >= h->n_allowed || h->n_sent >= h->run->n_messages)
        return;
    const int64_t begin = c->sim->now_ps + h->run->step_ps;
    int64_t end = begin + h->own_ps;
    for (int32_t i = 0; i < h->n_passages; i++) {
        struct server *s = &c->servers[h->passages[i].link];
        s->free_ps = (s->free_ps > begin ? s->free_ps : begin) + h->passages[i].busy_ps;
        s->busy_ps += h->passages[i].busy_ps;
        end = s->free_ps > end ? s->free_ps : end;
    }
    h->busy = true;
    h->n_sent++;
    if (end >= NEVER_PS)
        return; /* a dead link: nothing moves any more */
    struct instant *t = instant_at(c, end);
    h->next_ending = NULL;
    *t->last = h;
    t->last = &h->next_ending;
}

/* First all arrivals of the instant, then all starts: none is too early to see one. */
static void fire_instant(struct sim *sim, struct sim_event *ev)
{
    struct instant *t = SIM_OWNER(ev, struct instant, event);
    struct chunk_net *c = t->net;
    struct hop *first = t->first;
    forget_instant(c, t);
    c->ended.n = 0;
    for (struct hop *h = first; h; h = h->next_ending) {
        VEC_PUSH(&c->ended, h);
        h->busy = false;
        if (h->next)
            h->next->n_allowed++;
    }
    for (int64_t i = 0; i < c->ended.n; i++) {
        struct hop *h = c->ended.v[i];
        try_start(c, h);
        if (h->next)
            try_start(c, h->next);
        if (--h->run->n_left == 0)
            sim_after(sim, &h->run->event, h->run->after_ps);
    }
    c->n_ended += c->ended.n;
}

static void fire_run(struct sim *sim, struct sim_event *ev)
{
    struct chunk_run *run = SIM_OWNER(ev, struct chunk_run, event);
    if (run->n_left > 0) {
        for (int32_t i = 0; i < run->n_hops; i++)
            try_start(run->net, &run->hops[i]);
        return;
    }
    flow_done_fn *done = run->done;
    void *arg = run->arg;
    run_free(run);
    if (done)
        done(sim, arg);
}

static const struct sim_event_type run_type = { "chunk replay", fire_run };

static int64_t message_ps(double seconds)
{
    return seconds < 1e6 ? units_ps(seconds) : NEVER_PS;
}

static void add_ring(struct chunk_run *run, const struct coll_steps *steps,
                     const struct coll_ring *ring, int32_t first, struct passage *p)
{
    const struct net_link *links = net_links(run->net->links);
    for (int32_t i = 0; i < ring->n_hops; i++) {
        struct hop *h = &run->hops[first + i];
        bool is_last = i + 1 == ring->n_hops;
        h->run = run;
        h->next = steps->is_stream  ? NULL
                  : !is_last        ? h + 1
                  : steps->is_chain ? NULL
                                    : &run->hops[first];
        h->n_allowed = steps->is_stream   ? steps->n_messages
                       : !steps->is_chain ? steps->window
                       : i == 0           ? steps->n_messages
                                          : 0;
        h->own_ps =
            message_ps(fmax(steps->message_B / ring->hop_Bps[i], steps->least_s));
        h->passages = p;
        for (int32_t u = ring->hop_starts[i]; u < ring->hop_starts[i + 1]; u++) {
            double bytes = steps->message_B * ring->uses[u].weight;
            double rate = links[ring->uses[u].link].payload_Bps;
            h->passages[h->n_passages++] =
                (struct passage) { ring->uses[u].link,
                                   bytes > 0 ? message_ps(bytes / rate) : 0 };
        }
        p += h->n_passages;
    }
}

static struct chunk_run *run_new(struct chunk_net *c, const struct coll_steps *steps)
{
    struct chunk_run *run = xcalloc(1, sizeof(*run));
    int32_t n_passages = 0, hop = 0, passage = 0;
    for (int32_t r = 0; r < steps->n_rings; r++) {
        run->n_hops += steps->rings[r].n_hops;
        n_passages += steps->rings[r].hop_starts[steps->rings[r].n_hops];
    }
    run->net = c;
    run->n_messages = steps->n_messages;
    run->n_left = steps->n_messages * run->n_hops;
    run->step_ps = units_ps(steps->step_s);
    run->after_ps = units_ps(steps->after_s);
    run->hops = xcalloc((size_t)run->n_hops + 1, sizeof(*run->hops));
    run->passages = xcalloc((size_t)n_passages + 1, sizeof(*run->passages));
    for (int32_t r = 0; r < steps->n_rings; r++) {
        add_ring(run, steps, &steps->rings[r], hop, run->passages + passage);
        hop += steps->rings[r].n_hops;
        passage += steps->rings[r].hop_starts[steps->rings[r].n_hops];
    }
    sim_event_init(&run->event, &run_type);
    return run;
}

void chunk_start(struct chunk_net *c, const struct coll_steps *steps,
                 flow_done_fn *done, void *arg)
{
    struct chunk_run *run = run_new(c, steps);
    run->done = done;
    run->arg = arg;
    run->newer = c->runs;
    run->older = &c->runs;
    if (c->runs)
        c->runs->older = &run->newer;
    c->runs = run;
    c->n_started += run->n_left;
    sim_after(c->sim, &run->event,
              units_ps(steps->before_s) + (run->n_left > 0 ? 0 : run->after_ps));
}

double chunk_link_busy_s(const struct chunk_net *c, int32_t link)
{
    return units_s(c->servers[link].busy_ps);
}

bool chunk_is_busy(const struct chunk_net *c)
{
    return c->runs != NULL;
}

int64_t chunk_n_messages(const struct chunk_net *c)
{
    return c->n_ended;
}

int64_t chunk_n_started(const struct chunk_net *c)
{
    return c->n_started;
}
