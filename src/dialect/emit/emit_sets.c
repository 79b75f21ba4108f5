/* What a file does not hold, as the `--set` that gives it: added value by value, and
 * section by section for what lies around the step. */
#include "config/pointer.h"
#include "dialect/emit/emit_drive.h"

#include <string.h>

/* Words that describe the model leave none of it outside. */
static bool lies_outside(const struct dialect_emit *w, const char *pointer)
{
    if (w->holds_model && strncmp(pointer, "/model", 6) == 0)
        return false;
    for (const char *const *p = w->outside; *p; p++) {
        size_t n = strlen(*p);
        if (strncmp(pointer, *p, n) == 0 && (!pointer[n] || pointer[n] == '/'))
            return true;
    }
    return false;
}

/* Whether --set takes the bare text for that string. */
static bool is_bare(const char *text)
{
    static const char *const words[] = { "true", "false", "null",
                                         "True", "False", "None" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i]) == 0)
            return false;
    return strspn(text, "0123456789+-.") == 0 && *text &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_-./") == strlen(text);
}

struct emit_set *emit_find(const struct emit_drive *d, const char *pointer)
{
    for (int64_t i = 0; i < d->out->sets.n; i++)
        if (strcmp(d->out->sets.v[i].pointer, pointer) == 0)
            return &d->out->sets.v[i];
    return NULL;
}

/* Adds or replaces a set; the value is borrowed. */
void emit_set(struct emit_drive *d, const char *pointer, const json_t *value)
{
    const char *bare = json_string_value(value);
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
                                       JSON_REAL_PRECISION(15) | JSON_SORT_KEYS);
    struct emit_set one = {
        .pointer = arena_strdup(d->arena, pointer),
        .assignment = arena_printf(d->arena, "%s=%s", pointer,
                                   bare && is_bare(bare) ? bare : text),
        .lost = !lies_outside(d->w, pointer),
    };
    free(text);
    struct emit_set *known = emit_find(d, pointer);
    one.mended = known ? known->mended : 0;
    if (known)
        *known = one;
    else
        VEC_PUSH(&d->out->sets, one);
}

void emit_set_null(struct emit_drive *d, const char *pointer)
{
    json_t *null = json_null();
    emit_set(d, pointer, null);
}

/* Sets what `wanted` has and `got` has not, leaf by leaf; what only `got` has is taken
 * out. Either may be NULL. */
static void set_difference(struct emit_drive *d, const char *pointer, json_t *wanted,
                           json_t *got)
{
    const char *key;
    json_t *v;
    if (json_is_null(wanted))
        wanted = NULL;
    if (wanted && got && json_equal(wanted, got))
        return;
    if (!wanted && !got)
        return;
    if (!wanted || !got || !json_is_object(wanted) || !json_is_object(got)) {
        wanted ? emit_set(d, pointer, wanted) : emit_set_null(d, pointer);
        return;
    }
    json_object_foreach(wanted, key, v)
    {
        if (strcmp(key, "comment") != 0)
            set_difference(d, arena_printf(d->arena, "%s/%s", pointer, key), v,
                           json_object_get(got, key));
    }
    json_object_foreach(got, key, v) if (!json_object_get(wanted, key))
        emit_set_null(d, arena_printf(d->arena, "%s/%s", pointer, key));
}

/* A value of the scenario's own: as it was written, or as it was decided. */
bool emit_set_own(struct emit_drive *d, const char *pointer)
{
    json_t *written = pointer_get(d->root.json, pointer),
           *decided = emit_value(d->s, pointer);
    bool known =
        (written && !json_is_null(written)) || (decided && !json_is_null(decided));
    if (known)
        emit_set(d, pointer, written && !json_is_null(written) ? written : decided);
    json_decref(decided);
    return known;
}

/* What lies around the step -------------------------------------------------------- */

/* Of a cluster of equal instances, what differs in effect. */
static void set_cluster(struct emit_drive *d, json_t *got)
{
    const struct cluster_group hosts = cluster_hosts(&d->s->cluster.groups[0]),
                               *g = &hosts;
    json_t *own = json_object_get(d->root.json, "cluster"),
           *name = json_object_get(own, "instance"),
           *count = json_object_get(got, "count"),
           *gpus = json_object_get(got, "gpus_per_instance");
    int64_t n = count ? (int64_t)json_integer_value(count) : 1,
            each =
                gpus ? (int64_t)json_integer_value(gpus) : (int64_t)g->instance->n_gpus;
    if (!name || json_object_get(own, "groups") || json_object_size(got) == 0) {
        emit_set(d, "/cluster", own);
        return;
    }
    set_difference(d, "/cluster/instance", name, json_object_get(got, "instance"));
    json_t *groups = json_integer((json_int_t)d->s->cluster.n_hosts);
    if (n != d->s->cluster.n_hosts)
        emit_set(d, "/cluster/count", groups);
    json_decref(groups);
    json_t *used = json_integer(g->gpus_per_instance);
    if (each != g->gpus_per_instance)
        emit_set(d, "/cluster/gpus_per_instance", used);
    json_decref(used);
    const char *key;
    json_t *v;
    json_object_foreach(own, key, v)
    {
        static const char *const same[] = { "instance", "count", "gpus_per_instance",
                                            "comment", NULL };
        if (!names_listed(same, key))
            set_difference(d, arena_printf(d->arena, "/cluster/%s", key), v,
                           json_object_get(got, key));
    }
}

/* The version that an estimator needs is left where nothing depends on it. */
void emit_set_sections(struct emit_drive *d, json_t *got)
{
    static const char *const sections[] = { "storage", "input", "job", "uncertainty",
                                            NULL };
    json_t *root = d->root.json, *software = json_object_get(root, "software"),
           *read = json_object_get(got, "software");
    const char *key;
    json_t *v;
    for (const char *const *s = sections; *s; s++)
        set_difference(d, arena_printf(d->arena, "/%s", *s), json_object_get(root, *s),
                       json_object_get(got, *s));
    json_object_foreach(software, key, v) set_difference(
        d, arena_printf(d->arena, "/software/%s", key), v, json_object_get(read, key));
    set_cluster(d, json_object_get(got, "cluster"));
    set_difference(d, "/parallelism/smp_script",
                   pointer_get(root, "/parallelism/smp_script"),
                   pointer_get(got, "/parallelism/smp_script"));
    static const char lengths[] = "/training/sequence_length",
                      attention[] = "/training/attention";
    json_t *own = pointer_get(root, lengths); /* a mean, and how batches are filled */
    if (json_is_object(own) && !json_equal(own, pointer_get(got, lengths))) {
        emit_set(d, lengths, own); /* how packs are attended depends on the kernel */
        set_difference(d, attention, pointer_get(root, attention),
                       pointer_get(got, attention));
    }
    if (!d->w->holds_model)
        set_difference(d, "/model", json_object_get(root, "model"),
                       json_object_get(got, "model"));
}
