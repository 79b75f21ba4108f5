/* Where else a word belongs that no table has at its place. */
#include "config/cfg_doc.h"
#include "schema/reference.h"

#include <string.h>

enum { PLACES_MOST = 3 };

/* Keys of scenarios, as "/parallelism/library" or "/parallelism/library=fsdp". */
struct places {
    const char *v[PLACES_MOST];
    int32_t n; /* more than PLACES_MOST: too many to be of help */
};

static void add_place(struct places *p, const char *place)
{
    if (p->n < PLACES_MOST)
        p->v[p->n] = place;
    p->n++;
}

bool reference_has_value(const struct reference_key *key, const char *word)
{
    const struct name_value *x = key->field ? key->field->names : NULL;
    for (; x && x->name; x++)
        if (strcmp(x->name, word) == 0)
            return true;
    return false;
}

static bool is_given_by_users(const struct cfg_field *f)
{
    return f && f->type != CFG_T_REFUSED && f->type != CFG_T_RENAMED;
}

/* The keys that a word names or, where none does, is a value of. A key inside an array or
 * below a name of the user's own says too little of where it belongs. */
static struct places find_places(const struct reference *r, const char *word)
{
    struct places keys = { .n = 0 }, values = { .n = 0 };
    for (int64_t i = 0; i < r->keys.n; i++) {
        const struct reference_key *k = &r->keys.v[i];
        if (!is_given_by_users(k->field) || strchr(k->pointer, '*'))
            continue;
        if (strcmp(reference_name(k->pointer), word) == 0)
            add_place(&keys, k->pointer);
        else if (reference_has_value(k, word))
            add_place(&values, arena_printf(r->arena, "%s=%s", k->pointer, word));
    }
    return keys.n ? keys : values;
}

/* Whether it is about an unknown key of a scenario, which is a document with a cluster,
 * to which no key of its section is near. */
static bool is_asked(const struct cfg_loader *loader, const struct diag *d)
{
    const struct cfg_unknown *u = loader->unknown;
    if (d->code != DIAG_UNKNOWN_KEY || d->severity != DIAG_ERROR || !d->pointer)
        return false;
    while (u && strcmp(u->value.path, d->pointer) != 0)
        u = u->next;
    return u && !u->near && json_object_get(u->value.doc->root, "cluster");
}

static void mend(struct diags *diags, struct diag *d, const struct places *p)
{
    struct strbuf b;
    if (p->n == 0 || p->n > PLACES_MOST)
        return;
    if (p->n == 1 && strcmp(p->v[0], d->pointer) == 0) {
        d->mend = "it is a scenario's: another kind of file is read here";
        return;
    }
    strbuf_init(&b);
    for (int32_t i = 0; i < p->n; i++)
        strbuf_printf(&b, "%s%s", i == 0 ? "did you mean " : " or ", p->v[i]);
    strbuf_addstr(&b, "?");
    d->mend = arena_strdup(&diags->arena, strbuf_get(&b));
    strbuf_release(&b);
}

void reference_elsewhere(struct cfg_loader *loader)
{
    struct diags *diags = &loader->diags;
    struct cfg_loader own;
    struct reference r = { 0 };
    bool loaded = false, failed = false;
    cfg_loader_init(&own);
    for (int64_t i = 0; i < diags->n && !failed; i++) {
        struct diag *d = &diags->v[i];
        if (!is_asked(loader, d))
            continue;
        failed = !loaded && reference_load(&r, &own, "scenario");
        loaded = true;
        const struct places p = find_places(&r, reference_name(d->pointer));
        mend(diags, d, &p);
    }
    reference_release(&r);
    cfg_loader_release(&own);
}
