#include "engine/maxmin.h"

#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>

struct maxmin_link {
    double room;         /* capacity that settled activities leave */
    double weight;       /* sum of the weights of those that rise */
    double exact_weight; /* the same when last summed afresh */
    int32_t n_rising;
    int32_t first, n; /* its members; those found settled are dropped at times */
};

struct maxmin_member {
    int32_t activity;
    double weight;
};

/* The level at which something happens to a link or an activity. */
struct maxmin_level {
    double level;
    int32_t id;
};

/* The problem being solved, and how far it is. */
struct filling {
    struct maxmin *mm;
    const double *capacity, *cap;
    const int32_t *starts;
    const struct flow_use *uses;
    double *rate;
    double level; /* reached so far */
};

void maxmin_release(struct maxmin *mm)
{
    free(mm->link);
    free(mm->member);
    free(mm->heap);
    free(mm->caps);
    free(mm->rising);
    *mm = (struct maxmin) { 0 };
}

/* Room for a problem of that size; what was in it is lost. */
static void reserve(struct maxmin *mm, int32_t n_links, int32_t n_uses, int32_t n)
{
    if (n_links > mm->max_links) {
        mm->max_links = n_links + n_links / 2;
        mm->link = xrealloc(mm->link, (size_t)mm->max_links, sizeof(*mm->link));
        mm->heap = xrealloc(mm->heap, (size_t)mm->max_links, sizeof(*mm->heap));
    }
    if (n_uses > mm->max_members) {
        mm->max_members = n_uses + n_uses / 2;
        mm->member = xrealloc(mm->member, (size_t)mm->max_members, sizeof(*mm->member));
    }
    if (n > mm->max_activities) {
        mm->max_activities = n + n / 2;
        mm->caps = xrealloc(mm->caps, (size_t)mm->max_activities, sizeof(*mm->caps));
        mm->rising =
            xrealloc(mm->rising, (size_t)mm->max_activities, sizeof(*mm->rising));
    }
}

static bool is_lower(const struct maxmin_level *a, const struct maxmin_level *b)
{
    return a->level < b->level || (a->level == b->level && a->id < b->id);
}

static int compare_levels(const void *a, const void *b)
{
    return is_lower(b, a) - is_lower(a, b);
}

static void sift_down(struct maxmin_level *heap, int32_t n, int32_t place)
{
    struct maxmin_level moved = heap[place];
    for (;;) {
        int32_t child = 2 * place + 1;
        if (child >= n)
            break;
        if (child + 1 < n && is_lower(&heap[child + 1], &heap[child]))
            child++;
        if (!is_lower(&heap[child], &moved))
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = moved;
}

static double link_level(const struct maxmin_link *link)
{
    return link->room > 0 ? link->room / link->weight : 0;
}

/* Lists the members of each link that has a finite capacity. */
static void list_members(struct filling *f, int32_t n_links, int32_t n)
{
    struct maxmin_link *links = f->mm->link;
    for (int32_t l = 0; l < n_links; l++)
        links[l] = (struct maxmin_link) { .room = f->capacity[l] };
    for (int32_t k = 0; k < f->starts[n]; k++) {
        struct maxmin_link *link = &links[f->uses[k].link];
        link->weight += f->uses[k].weight;
        link->n_rising++;
    }
    int32_t n_members = 0;
    for (int32_t l = 0; l < n_links; l++) {
        links[l].exact_weight = links[l].weight;
        links[l].first = n_members;
        n_members += links[l].n_rising;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = f->starts[i]; k < f->starts[i + 1]; k++) {
            struct maxmin_link *link = &links[f->uses[k].link];
            f->mm->member[link->first + link->n++] =
                (struct maxmin_member) { i, f->uses[k].weight };
        }
    }
}

/* Puts links in the heap and caps in order. */
static void list_levels(struct filling *f, int32_t n_links, int32_t n)
{
    struct maxmin *mm = f->mm;
    mm->n_heap = mm->n_caps = 0;
    for (int32_t l = 0; l < n_links; l++)
        if (mm->link[l].n_rising > 0 && isfinite(f->capacity[l]))
            mm->heap[mm->n_heap++] =
                (struct maxmin_level) { link_level(&mm->link[l]), l };
    for (int32_t place = mm->n_heap / 2; place-- > 0;)
        sift_down(mm->heap, mm->n_heap, place);
    for (int32_t i = 0; i < n; i++) {
        mm->rising[i] = true;
        if (isfinite(f->cap[i]))
            mm->caps[mm->n_caps++] = (struct maxmin_level) { f->cap[i], i };
    }
    qsort(mm->caps, (size_t)mm->n_caps, sizeof(*mm->caps), compare_levels);
}

/* Subtracting loses digits: sums the weights afresh, and drops who has settled. */
static void sum_afresh(struct maxmin *mm, struct maxmin_link *link)
{
    int32_t n = 0;
    link->weight = 0;
    for (int32_t m = link->first; m < link->first + link->n; m++) {
        if (!mm->rising[mm->member[m].activity])
            continue;
        link->weight += mm->member[m].weight;
        mm->member[link->first + n++] = mm->member[m];
    }
    link->n = n;
    link->exact_weight = link->weight;
}

/* The lowest link that can still fill is brought to the top of the heap; its level, or
 * INFINITY if there is none. */
static double lowest_link(struct maxmin *mm)
{
    while (mm->n_heap > 0) {
        struct maxmin_level *top = &mm->heap[0];
        struct maxmin_link *link = &mm->link[top->id];
        if (link->n_rising == 0) {
            *top = mm->heap[--mm->n_heap];
        } else {
            if (link->weight < link->exact_weight / 2)
                sum_afresh(mm, link);
            double level = link_level(link);
            if (level <= top->level)
                return top->level;
            top->level = level;
        }
        sift_down(mm->heap, mm->n_heap, 0);
    }
    return INFINITY;
}

/* The lowest cap of those that rise, or INFINITY. */
static double lowest_cap(const struct maxmin *mm, int32_t *next)
{
    while (*next < mm->n_caps && !mm->rising[mm->caps[*next].id])
        ++*next;
    return *next < mm->n_caps ? mm->caps[*next].level : (double)INFINITY;
}

static void settle(struct filling *f, int32_t activity)
{
    double rate = fmin(f->level, f->cap[activity]);
    f->rate[activity] = rate;
    f->mm->rising[activity] = false;
    for (int32_t k = f->starts[activity]; k < f->starts[activity + 1]; k++) {
        struct maxmin_link *link = &f->mm->link[f->uses[k].link];
        link->room -= f->uses[k].weight * rate;
        link->weight -= f->uses[k].weight;
        link->n_rising--;
    }
}

static void settle_link(struct filling *f, const struct maxmin_link *link)
{
    for (int32_t m = link->first; m < link->first + link->n; m++)
        if (f->mm->rising[f->mm->member[m].activity])
            settle(f, f->mm->member[m].activity);
}

static void fill(struct filling *f)
{
    int32_t next_cap = 0;
    for (;;) {
        double of_link = lowest_link(f->mm);
        double of_cap = lowest_cap(f->mm, &next_cap);
        double lowest = fmin(of_link, of_cap);
        if (isinf(lowest))
            break;
        if (lowest > f->level * (1 + MAXMIN_TIE))
            f->level = lowest;
        if (of_cap <= of_link)
            settle(f, f->mm->caps[next_cap].id);
        else
            settle_link(f, &f->mm->link[f->mm->heap[0].id]);
    }
}

/* One activity has no one to share with. */
static double alone(const struct filling *f)
{
    double rate = f->cap[0];
    for (int32_t k = 0; k < f->starts[1]; k++)
        rate = fmin(rate, f->capacity[f->uses[k].link] / f->uses[k].weight);
    return rate;
}

void maxmin_solve(struct maxmin *mm, int32_t n_links, const double *capacity, int32_t n,
                  const int32_t *starts, const struct flow_use *uses, const double *cap,
                  double *rate)
{
    struct filling f = { mm, capacity, cap, starts, uses, rate, 0 };
    if (n == 1) {
        rate[0] = alone(&f);
        return;
    }
    reserve(mm, n_links, starts[n], n);
    list_members(&f, n_links, n);
    list_levels(&f, n_links, n);
    fill(&f);
    for (int32_t i = 0; i < n; i++)
        if (mm->rising[i])
            rate[i] = INFINITY;
}
