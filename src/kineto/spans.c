#include "kineto/spans.h"

void spans_add(struct spans *s, int64_t start, int64_t end, int64_t launch)
{
    struct span *last = s->v.n ? &s->v.v[s->v.n - 1] : NULL;
    if (end <= start)
        return;
    if (last && start <= last->end) {
        last->end = end > last->end ? end : last->end;
        return;
    }
    int64_t before = last ? last->before + (last->end - last->start) : 0;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it makes room */
    VEC_PUSH(&s->v, ((struct span) { start, end, before, launch }));
}

int64_t spans_after(const struct spans *s, int64_t t)
{
    int64_t lo = 0, hi = s->v.n;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (s->v.v[mid].end > t)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* Covered up to a time. */
static int64_t up_to(const struct spans *s, int64_t t)
{
    int64_t i = spans_after(s, t);
    if (i == s->v.n) {
        const struct span *last = i ? &s->v.v[i - 1] : NULL;
        return last ? last->before + (last->end - last->start) : 0;
    }
    const struct span *x = &s->v.v[i];
    return x->before + (t > x->start ? t - x->start : 0);
}

int64_t spans_covered(const struct spans *s, int64_t from, int64_t to)
{
    return to > from ? up_to(s, to) - up_to(s, from) : 0;
}

void spans_release(struct spans *s)
{
    VEC_RELEASE(&s->v);
}
