/* The operator list that reading a scenario makes, to check its sizes, and that its step
 * is written from. Scenarios of one thread that differ in nothing that it is made of have
 * it in common, as points of a sweep over instances. */
#include "scenario/operators.h"

#include "base/xmalloc.h"
#include "config/cache.h"

#include <stdlib.h>
#include <string.h>

enum { LISTS_MOST = 64 };

struct kept_list {
    struct made_operators made;
    struct arena arena; /* of the list */
    int64_t users;      /* loaders whose scenarios have it */
    struct kept_list *next;
};

/* Of a loader that lends files: the list that was asked for last is the first. */
struct kept_lists {
    struct kept_list *first;
    int32_t n;
};

static void free_list(struct kept_list *l)
{
    arena_release(&l->arena);
    free(l);
}

static void free_lists(void *lists)
{
    struct kept_lists *all = lists;
    for (struct kept_list *l = all->first, *next; l; l = next) {
        next = l->next;
        free_list(l);
    }
}

static void leave_list(void *list)
{
    ((struct kept_list *)list)->users--;
}

static struct kept_lists *lists_of(struct cfg_loader *files)
{
    const void *known;
    if (cache_find(files, "operators", "lists", &known))
        return (struct kept_lists *)known;
    struct kept_lists *all = ARENA_NEW(&files->arena, struct kept_lists);
    cache_add(files, "operators", "lists", all);
    cfg_loader_own(files, all, free_lists);
    return all;
}

/* Whether what they point at is the same. */
static bool same_parts(const struct model *a, const struct model *b)
{
    return a->family == b->family && a->pattern == b->pattern &&
           a->variants == b->variants && a->tower == b->tower && a->sound == b->sound &&
           a->encoder == b->encoder && a->stages == b->stages;
}

/* Whether all that it points at was lent, so that equal addresses are the same later. */
static bool is_lent(const struct cfg_loader *files, const struct made_operators *of)
{
    const void *model;
    return cache_find(files, "model", of->model.name, &model) && model &&
           same_parts(model, &of->model) &&
           cache_holds(files, of->settings.framework) && !of->settings.lora.layers;
}

bool operators_same(const struct made_operators *a, const struct made_operators *b)
{
    return memcmp(&a->settings, &b->settings, sizeof(a->settings)) == 0 &&
           memcmp(&a->model, &b->model, sizeof(a->model)) == 0;
}

/* First in the list from now on. */
static struct kept_list *find(struct kept_lists *all, const struct made_operators *of)
{
    for (struct kept_list **at = &all->first; *at; at = &(*at)->next) {
        struct kept_list *l = *at;
        if (!operators_same(&l->made, of))
            continue;
        *at = l->next;
        l->next = all->first;
        return all->first = l;
    }
    return NULL;
}

/* Frees the one that was asked for longest ago, of those that nobody has. */
static void make_room(struct kept_lists *all)
{
    struct kept_list **oldest = NULL;
    for (struct kept_list **at = &all->first; *at; at = &(*at)->next)
        if ((*at)->users == 0)
            oldest = at;
    if (all->n < LISTS_MOST || !oldest)
        return;
    struct kept_list *l = *oldest;
    *oldest = l->next;
    free_list(l);
    all->n--;
}

static struct kept_list *add(struct kept_lists *all, const struct made_operators *of,
                             struct err *err)
{
    make_room(all);
    struct kept_list *l = xcalloc(1, sizeof(*l));
    arena_init(&l->arena);
    memcpy(&l->made, of, sizeof(*of)); /* padding, too */
    if (op_list_make(&l->made.list, &l->arena, &l->made.model, &l->made.settings, err) <
        0) {
        free_list(l);
        return NULL;
    }
    l->next = all->first;
    all->first = l;
    all->n++;
    return l;
}

const struct made_operators *operators_make(struct cfg_loader *loader,
                                            const struct model *m,
                                            const struct op_settings *settings,
                                            struct err *err)
{
    struct made_operators *own = ARENA_NEW(&loader->arena, struct made_operators);
    memcpy(&own->settings, settings, sizeof(*settings)); /* padding, too */
    memcpy(&own->model, m, sizeof(*m));
    if (!loader->shared || !is_lent(loader->shared, own))
        return op_list_make(&own->list, &loader->arena, &own->model, &own->settings,
                            err) < 0
                   ? NULL
                   : own;
    struct kept_lists *all = lists_of(loader->shared);
    struct kept_list *l = find(all, own);
    if (!l)
        l = add(all, own, err);
    if (!l)
        return NULL;
    l->users++;
    cfg_loader_own(loader, l, leave_list);
    return &l->made;
}
