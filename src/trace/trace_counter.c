#include "trace/trace_counter.h"

#include "base/xmalloc.h"

#include <stdlib.h>
#include <string.h>

static const int64_t first_share_ps = 1000000000, first_level_ps = 1000000;

/* Shares ----------------------------------------------------------------------------- */

void trace_shares_init(struct trace_shares *s, int32_t most)
{
    *s = (struct trace_shares) { .stretch_ps = first_share_ps, .most = most };
    s->busy_ps = xcalloc((size_t)most + 1, sizeof(*s->busy_ps));
}

void trace_shares_release(struct trace_shares *s)
{
    free(s->busy_ps);
    s->busy_ps = NULL;
}

static void join_shares(struct trace_shares *s)
{
    for (int32_t i = 0; i < s->n; i += 2)
        s->busy_ps[i / 2] = s->busy_ps[i] + (i + 1 < s->n ? s->busy_ps[i + 1] : 0);
    s->n = (s->n + 1) / 2;
    memset(s->busy_ps + s->n, 0, (size_t)(s->most - s->n) * sizeof(*s->busy_ps));
    s->stretch_ps *= 2;
}

void trace_shares_add(struct trace_shares *s, int64_t from_ps, int64_t to_ps,
                      double share)
{
    while (to_ps > s->stretch_ps * s->most)
        join_shares(s);
    while (from_ps < to_ps) {
        int64_t i = from_ps / s->stretch_ps, until_ps = (i + 1) * s->stretch_ps;
        until_ps = until_ps < to_ps ? until_ps : to_ps;
        s->busy_ps[i] += share * (double)(until_ps - from_ps);
        s->n = i < s->n ? s->n : (int32_t)i + 1;
        from_ps = until_ps;
    }
}

int64_t trace_shares_percent(const struct trace_shares *s, int32_t i)
{
    return (int64_t)(s->busy_ps[i] / (double)s->stretch_ps * 100 + 0.5);
}

/* Levels ----------------------------------------------------------------------------- */

void trace_levels_init(struct trace_levels *l, int32_t most)
{
    *l = (struct trace_levels) { .stretch_ps = first_level_ps, .most = most };
    l->held_B = xcalloc((size_t)most + 1, sizeof(*l->held_B));
}

void trace_levels_release(struct trace_levels *l)
{
    free(l->held_B);
    l->held_B = NULL;
}

static int64_t total_B(const trace_level held_B)
{
    int64_t sum = 0;
    for (int i = 0; i < LEDGER_KINDS; i++)
        sum += held_B[i];
    return sum;
}

static void raise_to(trace_level *at, const trace_level held_B)
{
    if (total_B(*at) < total_B(held_B))
        memcpy(*at, held_B, sizeof(*at));
}

static void join_levels(struct trace_levels *l)
{
    for (int32_t i = 0; i < l->n; i += 2) {
        if (i + 1 < l->n)
            raise_to(&l->held_B[i], l->held_B[i + 1]);
        memmove(l->held_B[i / 2], l->held_B[i], sizeof(*l->held_B));
    }
    l->n = (l->n + 1) / 2;
    memset(l->held_B + l->n, 0, (size_t)(l->most - l->n) * sizeof(*l->held_B));
    l->stretch_ps *= 2;
}

void trace_levels_set(struct trace_levels *l, int64_t at_ps, const trace_level held_B)
{
    while (at_ps >= l->stretch_ps * l->most)
        join_levels(l);
    int32_t i = (int32_t)(at_ps / l->stretch_ps);
    while (l->n <= i)
        raise_to(&l->held_B[l->n++], l->now_B);
    raise_to(&l->held_B[i], held_B);
    memcpy(l->now_B, held_B, sizeof(l->now_B));
}
