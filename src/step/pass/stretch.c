#include "step/pass/stretch.h"

#include "step/stage.h"
#include "step/update/shard_units.h"

#include <string.h>

/* Tasks of outside that those of a stretch may follow. */
enum { OUTSIDE = 6 };

/* What operators read of the builder, and change: bytes that are compared. */
struct at_hand {
    struct pass_cursor pass;
    struct pass_tensors tensors;
    struct host_spent spent;
    int32_t until;            /* operator that `outside`'s exchange of tokens is for */
    int32_t outside[OUTSIDE]; /* the first of those that is the same; -1: none */
};

/* A stretch that was written. */
struct written {
    struct written *next;
    int32_t to;                   /* of the stretch */
    struct at_hand before, after; /* after.outside: numbers as of tasks */
    int32_t n;
    struct task *tasks; /* numbers of tasks: below OUTSIDE those, then its own */
    struct ledger_change memory;
    double flops;
};

struct stretches {
    const struct stage *stage;
    /* [blocks][operators] forward and backward, by the first: a list, latest first */
    struct written ***blocks[2];
};

struct stretches *stretches_new(const struct stage *stage)
{
    struct stretches *all = ARENA_NEW(stage->arena, struct stretches);
    all->stage = stage;
    for (int i = 0; i < 2; i++)
        all->blocks[i] =
            ARENA_ARRAY(stage->arena, stage->list.n_blocks, struct written **);
    return all;
}

/* What is at hand ------------------------------------------------------------------ */

static void outside_of(const struct builder *b, int32_t tasks[OUTSIDE])
{
    const struct next_kernel *n = &b->next;
    const int32_t all[OUTSIDE] = { b->last_kernel, n->waits[0], n->waits[1],
                                   n->overlapped,  n->gathered, n->experts };
    memcpy(tasks, all, sizeof(all));
}

static void follow_outside(struct builder *b, const int32_t tasks[OUTSIDE],
                           int32_t until)
{
    b->last_kernel = tasks[0];
    b->next = (struct next_kernel) { .waits = { tasks[1], tasks[2] },
                                     .receives = -1,
                                     .overlapped = tasks[3],
                                     .gathered = tasks[4],
                                     .experts = tasks[5],
                                     .until = until };
}

static void take_pass(struct pass_cursor *to, const struct pass_cursor *from)
{
    to->kind = from->kind;
    to->pairs = from->pairs;
    to->defers = from->defers;
    to->part = from->part;
    to->keep = from->keep;
    to->ungraded = from->ungraded;
    to->adapters_off = from->adapters_off;
    to->stops_early = from->stops_early;
    to->from_checkpoint = from->from_checkpoint;
    to->gradient_came = from->gradient_came;
}

/* But for what blocks hold over their operators' ends. */
static void take_tensors(struct pass_tensors *to, const struct pass_tensors *from)
{
    to->transient_B = from->transient_B;
    to->n_made = from->n_made;
    memcpy(to->made_B, from->made_B, (size_t)from->n_made * sizeof(*to->made_B));
    to->n_locals = from->n_locals;
    memcpy(to->locals_B, from->locals_B,
           (size_t)from->n_locals * sizeof(*to->locals_B));
    to->makes_local = from->makes_local;
    to->saves = from->saves;
    to->skips_input = from->skips_input;
    to->drops = from->drops;
    to->again = from->again;
}

static void read_at_hand(const struct builder *b, const struct host_spent *spent,
                         struct at_hand *h)
{
    int32_t tasks[OUTSIDE];
    outside_of(b, tasks);
    memset(h, 0, sizeof(*h));
    take_pass(&h->pass, &b->pass);
    take_tensors(&h->tensors, &b->tensors);
    h->spent.host_s = spent->host_s;
    h->spent.gpu_s = spent->gpu_s;
    h->spent.launches = spent->launches;
    h->spent.check_s = spent->check_s;
    h->spent.deviation_s = spent->deviation_s;
    h->until = b->next.until;
    for (int32_t i = 0; i < OUTSIDE; i++) {
        h->outside[i] = tasks[i] < 0 ? -1 : 0;
        while (tasks[i] >= 0 && tasks[h->outside[i]] != tasks[i])
            h->outside[i]++;
    }
}

/* Writing once --------------------------------------------------------------------- */

/* A program of the stretch alone, which begins with what represents the tasks outside;
 * its collectives, and what is checked before them, are the builder's. */
static struct program begin_alone(const struct builder *b)
{
    struct program p;
    program_init(&p);
    memcpy(&p.comms, &b->step->program.comms, sizeof(p.comms));
    p.check = b->step->program.check;
    for (int32_t i = 0; i < OUTSIDE; i++)
        program_kernel(&p, STREAM_COMPUTE, CATEGORY_OTHER, 0, 0, 0);
    return p;
}

static struct ledger_event *copy_events(struct arena *arena, const struct ledger *l)
{
    struct ledger_event *v = ARENA_ARRAY(arena, l->events.n + 1, struct ledger_event);
    for (int64_t i = 0; i < l->events.n; i++)
        v[i] = l->events.v[i];
    return v;
}

static struct written *write_alone(const struct builder *b, const struct stretch *s,
                                   const struct at_hand *before,
                                   stretch_write_fn *write, struct err *err)
{
    struct arena *arena = b->stage->arena;
    struct step step = { .program = begin_alone(b),
                         .ledger = ledger_branch(&b->step->ledger) };
    struct builder alone = { .stage = b->stage,
                             .step = &step,
                             .shared = b->shared,
                             .pass = before->pass,
                             .tensors = before->tensors };
    struct host_spent spent = before->spent;
    struct written *w = ARENA_NEW(arena, struct written);
    step.ledger.records = true; /* it may be copied to where events are recorded */
    follow_outside(&alone, before->outside, before->until);
    int rc = write(&alone, s, &spent, err);
    w->to = s->to;
    w->before = *before;
    read_at_hand(&alone, &spent, &w->after);
    outside_of(&alone, w->after.outside);
    w->n = (int32_t)step.program.tasks.n - OUTSIDE;
    w->tasks = ARENA_ARRAY(arena, w->n + 1, struct task);
    for (int32_t i = 0; i < w->n; i++)
        w->tasks[i] = step.program.tasks.v[OUTSIDE + i];
    w->memory = ledger_since(&step.ledger, &b->step->ledger);
    w->memory.events = copy_events(arena, &step.ledger);
    w->flops = step.flops;
    memset(&step.program.comms, 0, sizeof(step.program.comms));
    program_release(&step.program);
    ledger_release(&step.ledger);
    return rc < 0 ? NULL : w;
}

/* Copying -------------------------------------------------------------------------- */

static int32_t number(int32_t task, const int32_t outside[OUTSIDE], int32_t first)
{
    return task < 0 ? -1 : task < OUTSIDE ? outside[task] : first + task - OUTSIDE;
}

static void copy_tasks(struct program *p, const struct written *w,
                       const int32_t outside[OUTSIDE])
{
    int32_t first = (int32_t)p->tasks.n;
    VEC_RESERVE(&p->tasks, w->n);
    for (int32_t i = 0; i < w->n; i++) {
        struct task *t = &p->tasks.v[first + i];
        *t = w->tasks[i];
        t->tag.work = p->tag.work;
        t->tag.number = p->tag.number;
        t->chunk = p->chunk;
        for (int k = 0; k < 2; k++)
            t->after[k] = number(t->after[k], outside, first);
    }
    p->tasks.n += w->n;
}

static void copy(struct builder *b, const struct written *w, struct host_spent *spent)
{
    int32_t outside[OUTSIDE], after[OUTSIDE], first = (int32_t)b->step->program.tasks.n;
    outside_of(b, outside);
    copy_tasks(&b->step->program, w, outside);
    ledger_repeat(&b->step->ledger, &w->memory);
    b->step->flops += w->flops;
    for (int32_t i = 0; i < OUTSIDE; i++)
        after[i] = number(w->after.outside[i], outside, first);
    follow_outside(b, after, w->after.until);
    take_tensors(&b->tensors, &w->after.tensors);
    *spent = w->after.spent;
}

/* Either --------------------------------------------------------------------------- */

/* Layers come again. Units within a layer's come and go by what the builder holds of all
 * units. What is copied to the host goes by what the builder knows of other
 * layers, a message by its number, and a mark of memory by what the job holds. */
static bool may_copy(const struct builder *b, const struct stretch *s)
{
    return b->stretches && b->stretches->stage == b->stage &&
           op_block_is_layer(&b->stage->list.blocks[s->block]) &&
           !b->stage->s->parallel.offload_modules && !shard_units_nest(b->stage) &&
           b->next.receives < 0 && !b->step->ledger.marks;
}

/* What was written of stretches that begin where this one does. */
static struct written **written_from(struct stretches *all, const struct stretch *s)
{
    const struct op_block *block = &all->stage->list.blocks[s->block];
    struct written ***of_block = &all->blocks[s->backward][s->block];
    if (!*of_block)
        *of_block = ARENA_ARRAY(
            all->stage->arena, 1 + (s->backward ? block->n_backward : block->n_forward),
            struct written *);
    return &(*of_block)[s->from];
}

int stretch_write(struct builder *b, const struct stretch *s, struct host_spent *spent,
                  stretch_write_fn *write, struct err *err)
{
    struct at_hand before;
    if (!may_copy(b, s))
        return write(b, s, spent, err);
    read_at_hand(b, spent, &before);
    struct written **all = written_from(b->stretches, s), *w = *all;
    while (w && (w->to != s->to || memcmp(&w->before, &before, sizeof(before)) != 0))
        w = w->next;
    if (!w) {
        w = write_alone(b, s, &before, write, err);
        if (!w)
            return -1;
        w->next = *all;
        *all = w;
    }
    copy(b, w, spent);
    return 0;
}
