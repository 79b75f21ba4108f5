/* Branches of which it is not known which is taken: each is read as if it were, its
 * changes are taken back, and what differs between them is not known after them. */
#include "dialect/python/python_parse.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

enum { KEPT_MAX = 400 };

static struct value *copy_of(struct python_parser *r, const struct value *v)
{
    struct value *copy = python_new(r, v->kind, v->line);
    *copy = *v;
    copy->cap = v->n;
    copy->items = NULL;
    if (v->n) {
        copy->items = ARENA_ARRAY(r->p->arena, v->n, struct value_item);
        memcpy(copy->items, v->items, (size_t)v->n * sizeof(*v->items));
    }
    r->lex.work += v->n;
    return copy;
}

void python_will_bind(struct python_parser *r, int64_t name)
{
    if (r->mark >= 0)
        VEC_PUSH(&r->journal, ((struct python_change) {
                                  .name = name, .value = r->p->names.v[name].value }));
}

/* Whether it was made since, so that nothing outside the branch holds it yet. */
static bool is_new(const struct value *v, int64_t born)
{
    return ((const struct python_value *)v)->born >= born;
}

void python_will_change(struct python_parser *r, struct value *container)
{
    if (r->mark < 0 || is_new(container, r->born))
        return;
    for (int64_t i = r->mark; i < r->journal.n; i++)
        if (r->journal.v[i].container == container)
            return;
    r->lex.work += (r->journal.n - r->mark) / 8;
    VEC_PUSH(&r->journal,
             ((struct python_change) { .name = -1,
                                       .container = container,
                                       .before = *copy_of(r, container) }));
}

/* Whether a function that is called again has left the same. */
static bool is_kept(const struct python_parser *r, const struct python_name *n)
{
    enum { LOOK_BACK = 16 };
    int64_t from = r->p->left.n > LOOK_BACK ? r->p->left.n - LOOK_BACK : 0;
    for (int64_t i = from; i < r->p->left.n; i++)
        if (r->p->left.v[i].value == n->value &&
            strcmp(r->p->left.v[i].name, n->name) == 0)
            return true;
    return false;
}

/* Whether somebody asks for a name, or it is of an instance of a class. */
static bool is_asked(const struct python_parser *r, const struct python_name *n)
{
    const struct value *v = n->value;
    bool any = v->kind == VALUE_DICT && v->text && isupper((unsigned char)*v->text) &&
               !strchr(v->text, '.');
    for (const char *const *k = r->wanted->kept; *k && !any; k++)
        any = fnmatch(*k, n->name, 0) == 0;
    return any;
}

/* Names of a scope that are looked for later. */
static void keep(struct python_parser *r, int64_t names)
{
    for (int64_t i = names; r->wanted->kept && i < r->p->names.n; i++) {
        const struct python_name *n = &r->p->names.v[i];
        if (n->value && r->p->left.n < KEPT_MAX && is_asked(r, n) && !is_kept(r, n))
            VEC_PUSH(&r->p->left, *n);
    }
}

void python_leave_scope(struct python_parser *r, int64_t names)
{
    keep(r, names);
    for (int64_t i = r->journal.n; r->mark >= 0 && i-- > 0;)
        if (r->journal.v[i].name >= names)
            r->journal.v[i].name = -1;
    r->lex.work += r->mark >= 0 ? r->journal.n / 8 : 0;
    r->p->names.n = names;
}

void python_note_branch(struct python_parser *r, size_t from, bool taken)
{
    enum { SPANS_MAX = 1000 };
    int64_t i = 0;
    r->lex.work += r->untaken.n / 8;
    while (i < r->untaken.n && r->untaken.v[i].from != from)
        i++;
    if (i < r->untaken.n) {
        r->untaken.v[i].taken |= taken;
        r->untaken.v[i].to = r->lex.i;
    } else if (i < SPANS_MAX)
        VEC_PUSH(&r->untaken, ((struct python_span) { from, r->lex.i, taken }));
}

static bool is_in_untaken(const struct python_parser *r, size_t at)
{
    for (int64_t i = 0; i < r->untaken.n; i++)
        if (!r->untaken.v[i].taken && r->untaken.v[i].from <= at &&
            at < r->untaken.v[i].to)
            return true;
    return false;
}

bool python_is_untaken(const struct python_parser *r, const char *name)
{
    static const char def[] = "def ";
    size_t n = strlen(name), d = strlen(def);
    bool any = false;
    for (const char *s = r->lex.s; (s = strstr(s, name)) != NULL; s += n) {
        size_t at = (size_t)(s - r->lex.s);
        if (python_is_letter(s[n]) || (at && python_is_letter(s[-1])) ||
            (at >= d && strncmp(s - d, def, d) == 0))
            continue;
        if (!is_in_untaken(r, at))
            return false;
        any = true;
    }
    return any;
}

void python_branches_begin(struct python_parser *r, struct python_branches *b)
{
    *b = (struct python_branches) {
        .mark = r->journal.n, .outer = r->mark, .born = r->values, .outer_born = r->born
    };
    r->mark = b->mark;
    r->born = b->born;
}

static bool has_outcome(const struct python_branches *b, int variant,
                        const struct python_change *c)
{
    for (int64_t i = b->outcomes.n; i-- > 0 && b->outcomes.v[i].variant == variant;)
        if (b->outcomes.v[i].name == c->name &&
            b->outcomes.v[i].container == c->container)
            return true;
    return false;
}

static void keep_outcome(struct python_parser *r, struct python_branches *b,
                         const struct python_change *c)
{
    bool none = c->container ? is_new(c->container, b->born) : c->name < 0;
    if (none || has_outcome(b, b->n, c))
        return;
    VEC_PUSH(&b->outcomes,
             ((struct python_outcome) { b->n, c->name, c->container,
                                        c->container ? copy_of(r, c->container)
                                                     : r->p->names.v[c->name].value }));
    r->lex.work += b->outcomes.n / 8;
}

static void take_back(struct python_parser *r, int64_t mark, int64_t born)
{
    for (int64_t i = r->journal.n; i-- > mark;) {
        struct python_change *c = &r->journal.v[i];
        if (c->container && !is_new(c->container, born))
            *c->container = c->before;
        else if (!c->container && c->name >= 0)
            r->p->names.v[c->name].value = c->value;
    }
    r->journal.n = mark;
}

void python_branch_end(struct python_parser *r, struct python_branches *b)
{
    bool leaves = r->in.stop == PYTHON_RETURN || r->in.stop == PYTHON_RAISE;
    r->in.left_unsurely |= r->in.stop == PYTHON_BREAK || r->in.stop == PYTHON_CONTINUE;
    for (int64_t i = b->mark; i < r->journal.n && !leaves; i++)
        keep_outcome(r, b, &r->journal.v[i]);
    take_back(r, b->mark, b->born);
    b->n += !leaves;
    r->in.stop = PYTHON_GOES_ON;
}

/* What a slot is in a branch: as it was before where that did not change it. */
static const struct value *value_in(const struct python_parser *r,
                                    const struct python_branches *b, int variant,
                                    const struct python_outcome *slot)
{
    for (int64_t i = 0; i < b->outcomes.n; i++) {
        const struct python_outcome *o = &b->outcomes.v[i];
        if (o->variant == variant && o->name == slot->name &&
            o->container == slot->container)
            return o->value;
    }
    return slot->container ? slot->container : r->p->names.v[slot->name].value;
}

/* Members of a and b; those that differ, or that one lacks, are not known. */
static void join_dicts(struct python_parser *r, struct value *a, const struct value *b,
                       const char *why)
{
    for (int32_t i = 0; i < a->n; i++) {
        const struct value_item *other = value_get(b, a->items[i].key);
        if (!other || !python_same(a->items[i].value, other->value))
            a->items[i].value = python_unknown(r, a->items[i].line, "%s", why);
    }
    for (int32_t i = 0; i < b->n; i++)
        if (!value_get(a, b->items[i].key))
            value_add(r->p->arena, a, b->items[i].key, b->items[i].line,
                      python_unknown(r, b->items[i].line, "%s", why));
    a->gap = a->gap ? a->gap : b->gap;
    r->lex.work += (int64_t)a->n * b->n;
}

static void join_lists(struct value *a, const struct value *b)
{
    int32_t n = 0;
    while (n < a->n && n < b->n && python_same(a->items[n].value, b->items[n].value))
        n++;
    if (n < a->n || n < b->n)
        a->gap = a->gap ? a->gap : a->line;
    a->n = n;
}

static struct value *join(struct python_parser *r, struct value *a,
                          const struct value *b, const char *why)
{
    if (a && b && python_same(a, b))
        return a;
    if (a && b && a->kind == VALUE_DICT && b->kind == VALUE_DICT) {
        a = copy_of(r, a);
        join_dicts(r, a, b, why);
        return a;
    }
    if (a && b && a->kind == VALUE_LIST && b->kind == VALUE_LIST) {
        a = copy_of(r, a);
        join_lists(a, b);
        return a;
    }
    struct value *v = python_unknown(r, a ? a->line : b ? b->line : 0, "%s", why);
    python_keep_either(r, v, a, b);
    return v;
}

static void set_slot(struct python_parser *r, const struct python_outcome *slot,
                     struct value *v)
{
    if (slot->container) {
        python_will_change(r, slot->container);
        *slot->container = *copy_of(r, v);
    } else {
        python_rebind(r, slot->name, v);
    }
}

static bool is_first(const struct python_branches *b, int64_t i)
{
    for (int64_t j = 0; j < i; j++)
        if (b->outcomes.v[j].name == b->outcomes.v[i].name &&
            b->outcomes.v[j].container == b->outcomes.v[i].container)
            return false;
    return true;
}

void python_branches_join(struct python_parser *r, struct python_branches *b,
                          bool exhaustive, const char *why)
{
    VEC(struct python_outcome) joined = { 0 };
    int variants = b->n + !exhaustive;
    r->mark = b->outer;
    r->born = b->outer_born;
    for (int64_t i = 0; i < b->outcomes.n && !r->limit; i++) {
        const struct python_outcome *slot = &b->outcomes.v[i];
        if (!is_first(b, i))
            continue;
        struct value *v = (struct value *)(uintptr_t)value_in(r, b, 0, slot);
        for (int k = 1; k < variants; k++)
            v = join(r, v, value_in(r, b, k, slot), why);
        VEC_PUSH(&joined,
                 ((struct python_outcome) { 0, slot->name, slot->container, v }));
        r->lex.work += b->outcomes.n;
    }
    for (int64_t i = 0; i < joined.n; i++)
        set_slot(r, &joined.v[i], joined.v[i].value);
    if (variants == 0) /* none goes on */
        r->in.stop = PYTHON_RAISE;
    VEC_RELEASE(&joined);
    VEC_RELEASE(&b->outcomes);
}

void python_branches_keep(struct python_parser *r, struct python_branches *b,
                          bool unsure, const char *why)
{
    for (int64_t i = b->mark; unsure && i < r->journal.n; i++) {
        const struct python_change *c = &r->journal.v[i];
        if (c->container)
            *c->container = *python_unknown(r, c->container->line, "%s", why);
        else if (c->name >= 0)
            r->p->names.v[c->name].value = python_unknown(r, 0, "%s", why);
    }
    r->mark = b->outer;
    r->born = b->outer_born;
    if (r->mark < 0)
        r->journal.n = 0;
}
