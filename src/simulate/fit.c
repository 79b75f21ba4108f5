#include "simulate/fit.h"

#include "base/strbuf.h"
#include "config/pointer.h"
#include "scenario/libraries.h"
#include "simulate/interval.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MOST = 4, TRIES_MOST = 8, BATCHES_MOST = 64 };

/* A change: "pointer=value" each, as --set takes them. */
struct change {
    const char *sets[SETS_MOST];
    int32_t n;
    int32_t batch; /* the sets from here on are a smaller micro-batch; -1: none are */
};

struct tries {
    struct change v[TRIES_MOST];
    int32_t n;
};

static void add(struct tries *t, const char *a, const char *b)
{
    if (t->n == TRIES_MOST)
        return;
    t->v[t->n++] = (struct change) { { a, b }, b ? 2 : 1, -1 };
}

/* The next step of sharding that the library has. */
static void add_sharding(struct tries *t, const struct scenario *s, struct arena *arena)
{
    static const char full[] = "/parallelism/sharding={\"strategy\":\"full\"}";
    const struct parallelism *p = &s->parallel;
    const struct library_row *row = library_of(p);
    if (row->smp.dictionary || p->shard.strategy == SHARDING_FULL || p->replicas == 1)
        return;
    if (row->wrapped_by)
        add(t, arena_printf(arena, "/parallelism/library=%s", row->wrapped_by), full);
    else if (library_has(row->shardings, SHARDING_FULL))
        add(t, full, NULL);
    else if (library_has(row->shardings, SHARDING_OPTIMIZER) &&
             p->shard.strategy == SHARDING_NONE)
        add(t, "/parallelism/sharding={\"strategy\":\"optimizer\"}", NULL);
}

/* Fewer sequences at once, more often: the same batch. */
static void set_batch(struct change *c, const struct scenario *s, int64_t micro_batch,
                      struct arena *arena)
{
    const struct training *x = &s->training;
    bool staged = s->parallel.pipeline > 1;
    int64_t times = staged ? x->microbatches : x->accumulation;
    c->sets[c->batch] =
        arena_printf(arena, "/training/micro_batch_size=%" PRId64, micro_batch);
    c->sets[c->batch + 1] =
        arena_printf(arena, "/training/%s=%" PRId64,
                     staged ? "microbatches" : "gradient_accumulation_steps",
                     x->micro_batch_size / micro_batch * times);
}

static void add_batch_of_one(struct tries *t, const struct scenario *s,
                             struct arena *arena)
{
    struct change c = { .n = 2, .batch = 0 };
    if (s->training.micro_batch_size < 2 || library_of(&s->parallel)->smp.dictionary ||
        t->n == TRIES_MOST)
        return;
    set_batch(&c, s, 1, arena);
    t->v[t->n++] = c;
}

static void list_changes(struct tries *t, const struct scenario *s, struct arena *arena)
{
    const struct training *x = &s->training;
    const struct parallelism *p = &s->parallel;
    if (!op_attention_is_flash(x->attention)) {
        add(t, "/training/attention=flash", NULL);
        if (x->attention != OP_ATTENTION_EFFICIENT)
            add(t, "/training/attention=sdpa", NULL);
    }
    if (x->checkpointing == CHECKPOINT_NONE && library_of(p)->own_models &&
        !op_attention_is_fused(x->attention))
        add(t, "/training/activation_checkpointing=selective", NULL);
    if (x->checkpointing != CHECKPOINT_FULL)
        add(t, "/training/activation_checkpointing=full", NULL);
    add_sharding(t, s, arena);
    add_batch_of_one(t, s, arena);
}

/* One of them ---------------------------------------------------------------------- */

/* The scenario with the change, simulated; false where it cannot be. */
static bool try_change(struct fit_remedy *out, const json_t *root,
                       const struct change *c)
{
    const struct simulate_options how = { .network = FIDELITY_FLOW, .mute = true };
    struct cfg_loader loader;
    struct scenario s = { 0 };
    struct simulate_result r;
    struct err err = { 0 };
    cfg_loader_init(&loader);
    struct cfg changed = cfg_from_tree(&loader, "scenario", json_deep_copy(root));
    int rc = changed.json ? 0 : -1;
    for (int32_t i = 0; rc == 0 && i < c->n; i++)
        rc = cfg_set(changed, c->sets[i]);
    bool done = rc == 0 && scenario_read(&s, &loader, changed) == 0 &&
                simulate(&r, &loader.arena, &s, &how, &err) == 0;
    if (done)
        *out = (struct fit_remedy) { .near_limit = interval_memory_is_near(
                                         r.memory.peak_B, r.memory.capacity_B),
                                     .peak_B = r.memory.peak_B,
                                     .step_time_s = r.step_time_s,
                                     .fits = r.memory.fits };
    cfg_loader_release(&loader);
    return done;
}

/* The divisors of a micro-batch from 1 on, itself left out, those first that are small. */
static int32_t list_divisors(int64_t out[BATCHES_MOST], int64_t whole)
{
    int32_t n = 0;
    for (int64_t d = 1; d <= whole / 2 && d <= UINT16_MAX && n < BATCHES_MOST; d++)
        if (whole % d == 0)
            out[n++] = d;
    return n;
}

/* One sequence at once fits: the largest micro-batch that does. */
static void enlarge_batch(struct fit_remedy *result, struct change *c,
                          const json_t *root, const struct scenario *s,
                          struct arena *arena)
{
    int64_t divisors[BATCHES_MOST];
    int32_t fits = 0, most = list_divisors(divisors, s->training.micro_batch_size);
    while (most - fits > 1) {
        struct change larger = *c;
        struct fit_remedy with_it;
        int32_t middle = fits + (most - fits) / 2;
        set_batch(&larger, s, divisors[middle], arena);
        if (try_change(&with_it, root, &larger) && with_it.fits) {
            fits = middle;
            *c = larger;
            *result = with_it;
        } else
            most = middle;
    }
}

static const char *sets_text(struct arena *arena, const struct change *c)
{
    struct strbuf b;
    strbuf_init(&b);
    for (int32_t i = 0; i < c->n; i++) {
        bool quoted = strchr(c->sets[i], '"') != NULL;
        strbuf_printf(&b, "%s--set %s%s%s", i ? " " : "", quoted ? "'" : "", c->sets[i],
                      quoted ? "'" : "");
    }
    const char *text = arena_strdup(arena, strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

/* All of them ---------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct fit_remedy *x = a, *y = b;
    return (x->step_time_s > y->step_time_s) - (x->step_time_s < y->step_time_s);
}

/* The change that leaves least, and one of another kind on top of it. */
static bool join(struct change *out, const struct change *a, const struct change *b)
{
    *out = *a;
    if (b->batch >= 0)
        out->batch = a->n + b->batch;
    for (int32_t i = 0; i < b->n; i++) {
        for (int32_t k = 0; k < a->n; k++)
            if (strncmp(a->sets[k], b->sets[i], strcspn(b->sets[i], "=") + 1) == 0)
                return false;
        out->sets[out->n++] = b->sets[i];
    }
    return true;
}

/* Another word for a change that is there. */
static bool is_known(const struct memory_result *m, const struct fit_remedy *x)
{
    for (int32_t i = 0; i < m->n_remedies; i++)
        if (m->remedies[i].peak_B == x->peak_B &&
            m->remedies[i].step_time_s == x->step_time_s)
            return true;
    return false;
}

static void try_one(struct memory_result *m, struct arena *arena, const json_t *root,
                    const struct scenario *s, struct change c,
                    struct fit_remedy *result)
{
    if (!try_change(result, root, &c) || !result->fits)
        return;
    if (c.batch >= 0)
        enlarge_batch(result, &c, root, s, arena);
    if (is_known(m, result))
        return;
    result->sets = sets_text(arena, &c);
    m->remedies[m->n_remedies++] = *result;
}

void simulate_remedies(struct simulate_result *r, struct arena *arena,
                       const struct scenario *s, const json_t *root)
{
    struct memory_result *m = &r->memory;
    struct tries t = { .n = 0 };
    struct fit_remedy results[TRIES_MOST] = { { 0 } };
    int32_t least = -1;
    if (m->fits || !root)
        return;
    list_changes(&t, s, arena);
    m->remedies = ARENA_ARRAY(arena, 2 * TRIES_MOST, struct fit_remedy);
    for (int32_t i = 0; i < t.n; i++) {
        try_one(m, arena, root, s, t.v[i], &results[i]);
        if (results[i].peak_B &&
            (least < 0 || results[i].peak_B < results[least].peak_B))
            least = i;
    }
    for (int32_t i = 0; m->n_remedies == 0 && least >= 0 && i < t.n; i++) {
        struct change both;
        struct fit_remedy result;
        if (results[i].peak_B && join(&both, &t.v[least], &t.v[i]))
            try_one(m, arena, root, s, both, &result);
    }
    qsort(m->remedies, (size_t)m->n_remedies, sizeof(*m->remedies), by_time);
}
