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

/* Gives a field that differs: first by what was written or taken back, then as it was
 * decided. */
static int mend(struct emit_drive *d, const struct emit_back *b,
                const struct emit_field *f, int try, const json_t *wanted,
                const json_t *got, struct err *err)
{
    json_t *written = pointer_get(d->root.json, f->pointer);
    if (f->weight == EMIT_JOB)
        return refuse(f, wanted, got, err);
    if (try > 0 && emit_is_set(d, f->pointer)) {
        json_t *decided = emit_value(d->s, f->pointer);
        if (try == 1 && !json_is_null(decided))
            emit_set(d, f->pointer, decided);
        bool can = try == 1 && !json_is_null(decided);
        json_decref(decided);
        return can ? 0 : refuse(f, wanted, got, err);
    }
    if (written && !json_is_null(written))
        emit_set(d, f->pointer, written);
    else if (strcmp(f->pointer, EMIT_LAUNCHER) == 0)
        set_launcher(d);
    else if (pointer_get(b->root.json, f->pointer))
        emit_set_null(d, f->pointer);
    else if (!emit_set_own(d, f->pointer))
        return refuse(f, wanted, got, err);
    return 0;
}

/* Fields that differ are mended; -1: one cannot be. */
int emit_compare(struct emit_drive *d, const struct emit_back *b, int try, int *differ,
                 struct err *err)
{
    int rc = 0;
    *differ = 0;
    for (const struct emit_field *f = emit_fields; f->pointer && rc == 0; f++) {
        json_t *wanted = f->value(d->s), *got = f->value(&b->s);
        if (!same_value(wanted, got)) {
            ++*differ;
            rc = mend(d, b, f, try, wanted, got, err);
        }
        json_decref(wanted);
        json_decref(got);
    }
    if (rc == 0 && *differ == 0 && !emit_same_model(&d->s->model, &b->s.model)) {
        ++*differ;
        rc = emit_is_set(d, "/model") ? err_set(err, "it has no word for this model")
                                      : 0;
        if (rc == 0)
            emit_set(d, "/model", json_object_get(d->root.json, "model"));
    }
    return rc;
}
