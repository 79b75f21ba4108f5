#include "search/plan/best.h"

#include "base/xmalloc.h"

#include <stdlib.h>

int candidate_compare(const struct candidate *a, const struct candidate *b)
{
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    for (int f = 0; f < SPACE_N; f++)
        if (a->at[f] != b->at[f])
            return a->at[f] < b->at[f] ? -1 : 1;
    return 0;
}

static void swap(struct candidate *a, struct candidate *b)
{
    struct candidate c = *a;
    *a = *b;
    *b = c;
}

static void sift_up(struct best *b, int32_t i)
{
    for (; i > 0 && candidate_compare(&b->v[i], &b->v[(i - 1) / 2]) > 0;
         i = (i - 1) / 2)
        swap(&b->v[i], &b->v[(i - 1) / 2]);
}

static void sift_down(struct best *b)
{
    for (int32_t i = 0;;) {
        int32_t worst = i;
        for (int32_t c = 2 * i + 1; c <= 2 * i + 2 && c < b->n; c++)
            if (candidate_compare(&b->v[c], &b->v[worst]) > 0)
                worst = c;
        if (worst == i)
            return;
        swap(&b->v[i], &b->v[worst]);
        i = worst;
    }
}

void best_offer(struct best *b, const struct candidate *c)
{
    if (!b->v)
        b->v = xcalloc((size_t)b->most, sizeof(*b->v));
    if (b->n < b->most) {
        b->v[b->n] = *c;
        sift_up(b, b->n++);
    } else if (candidate_compare(c, &b->v[0]) < 0) {
        b->v[0] = *c;
        sift_down(b);
    }
}

void best_merge(struct best *b, const struct best *other)
{
    for (int32_t i = 0; i < other->n; i++)
        best_offer(b, &other->v[i]);
}

static int by_order(const void *a, const void *b)
{
    return candidate_compare(a, b);
}

void best_sort(struct best *b)
{
    if (b->n > 1)
        qsort(b->v, (size_t)b->n, sizeof(*b->v), by_order);
}

void best_release(struct best *b)
{
    free(b->v);
    b->v = NULL;
    b->n = 0;
}
