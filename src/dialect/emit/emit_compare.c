/* What a text that was read back lacks: fields and model, compared as they were decided. */
#include "config/pointer.h"
#include "dialect/emit/emit_drive.h"

#include <stdlib.h>
#include <string.h>

static char *text_of(const json_t *v)
{
    return json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
}

static bool same_value(const json_t *a, const json_t *b)
{
    char *x = text_of(a), *y = text_of(b);
    bool same = strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

static int refuse(const struct emit_field *f, const json_t *wanted, const json_t *got,
                  struct err *err)
{
    char *x = text_of(wanted), *y = text_of(got);
    err_set(err, "it has no word for %s: %.200s would be %.200s (--emit scenario has)",
            f->pointer, x, y);
    free(x);
    free(y);
    return -1;
}

/* Without the launcher, who reduces has to be said. */
static void set_launcher(struct emit_drive *d)
{
    emit_set_null(d, EMIT_LAUNCHER);
    emit_set_own(d, "/parallelism/library");
    emit_set_own(d, "/parallelism/backend");
}

/* As it was written, or taken back. */
static int give_written(struct emit_drive *d, const struct emit_back *b,
                        const char *pointer)
{
    json_t *written = pointer_get(d->root.json, pointer);
    if (written && !json_is_null(written))
        emit_set(d, pointer, written);
    else if (strcmp(pointer, EMIT_LAUNCHER) == 0)
        set_launcher(d);
    else if (pointer_get(b->root.json, pointer))
        emit_set_null(d, pointer);
    else
        return emit_set_own(d, pointer) ? 0 : -1;
    return 0;
}

static int give_decided(struct emit_drive *d, const struct emit_field *f)
{
    json_t *decided = f->value(d->s);
    bool known = decided && !json_is_null(decided);
    if (known)
        emit_set(d, f->pointer, decided);
    json_decref(decided);
    return known ? 0 : -1;
}

/* Gives a field that differs: first as it was written, in the next comparison as it was
 * decided. */
static int mend(struct emit_drive *d, const struct emit_back *b,
                const struct emit_field *f, int try)
{
    struct emit_set *set = emit_find(d, f->pointer);
    int first = set && set->mended ? set->mended - 1 : try;
    if (f->weight == EMIT_JOB || try > first + 1)
        return -1;
    if (try == first ? give_written(d, b, f->pointer) : give_decided(d, f))
        return -1;
    emit_find(d, f->pointer)->mended = first + 1;
    return 0;
}

bool emit_agrees(const struct emit_drive *d, const struct emit_back *b)
{
    bool same = emit_same_model(d->s, &b->s);
    for (const struct emit_field *f = emit_fields; f->pointer && same; f++) {
        json_t *wanted = f->value(d->s), *got = f->value(&b->s);
        same = f->weight == EMIT_WORD || same_value(wanted, got);
        json_decref(wanted);
        json_decref(got);
    }
    return same;
}

/* Fields that differ are mended; -1: one cannot be. */
int emit_compare(struct emit_drive *d, const struct emit_back *b, int try, int *differ,
                 struct err *err)
{
    int rc = 0;
    bool decides = false;
    *differ = 0;
    for (const struct emit_field *f = emit_fields; f->pointer && rc == 0 && !decides;
         f++) {
        json_t *wanted = f->value(d->s), *got = f->value(&b->s);
        if (f->weight != EMIT_WORD && !same_value(wanted, got)) {
            ++*differ;
            decides = f->weight == EMIT_DECIDES;
            rc = mend(d, b, f, try) ? refuse(f, wanted, got, err) : 0;
        }
        json_decref(wanted);
        json_decref(got);
    }
    if (rc == 0 && *differ == 0 && !emit_same_model(d->s, &b->s)) {
        ++*differ;
        rc = emit_find(d, "/model") ? err_set(err, "it has no word for this model") : 0;
        if (rc == 0)
            emit_set(d, "/model", json_object_get(d->root.json, "model"));
    }
    return rc;
}
