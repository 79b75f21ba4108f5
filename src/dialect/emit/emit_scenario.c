/* The drive of all writers: a text is read back by its own dialect, and what it lacks is
 * found by comparing what both scenarios come down to. */
#include "config/pointer.h"
#include "dialect/emit/emit_parts.h"
#include "dialect/launch/launch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const struct name_value emit_names[] = {
    { "sagemaker", EMIT_SAGEMAKER }, { "megatron", EMIT_MEGATRON },
    { "deepspeed", EMIT_DEEPSPEED }, { "fsdp", EMIT_FSDP },
    { "scenario", EMIT_SCENARIO }, { NULL, 0 },
};

/* `outside`: what its words do not reach, and the job has from elsewhere. */
static const struct writer {
    int (*write)(struct strbuf *out, const struct emit_source *e, struct err *err);
    const char *name, *first; /* of a text that is read back; its first line */
    bool comments;
    const char *const *outside;
} writers[] = {
#define COMMON "/model", "/software", "/job", "/storage", "/input", "/uncertainty", "/cluster",       \
        "/training/framework", "/training/task", "/training/vocab_padding", "/training/predicted_positions",           \
        "/training/decoder_length", "/training/samples", "/training/epochs",                \
        "/parallelism/expert_imbalance", "/parallelism/smp_script"
    [EMIT_SAGEMAKER] = { emit_sagemaker, "emitted.py", "", true,
        (const char *const[]) { COMMON, NULL } },
    [EMIT_MEGATRON] = { emit_megatron, "emitted.sh", "#!/bin/bash\n", true,
        (const char *const[]) { COMMON, EMIT_LAUNCHER, NULL } },
    [EMIT_DEEPSPEED] = { emit_deepspeed, "emitted.json", "", false,
        (const char *const[]) { COMMON, EMIT_LAUNCHER, "/training/sequence_length",
                                "/training/attention", "/training/steps",
                                "/training/activation_checkpointing", NULL } },
    [EMIT_FSDP] = { emit_trainer, "emitted.sh", "#!/bin/bash\n", true,
        (const char *const[]) { COMMON, EMIT_LAUNCHER, "/parallelism/sharding/degree", NULL } },
};
/* clang-format on */

enum { TRIES = 3 };

struct drive {
    const struct writer *w;
    const struct scenario *s;
    struct cfg root; /* as it was read */
    struct arena *arena;
    struct emitted *out;
};

/* The text, read back with the sets. */
struct back {
    struct cfg_loader loader;
    struct launch launch;
    struct cfg root;
    struct scenario s;
};

static void release(struct back *b)
{
    launch_release(&b->launch);
    cfg_loader_release(&b->loader);
}

/* Sets ----------------------------------------------------------------------------- */

static bool lies_outside(const struct writer *w, const char *pointer)
{
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

/* Adds or replaces a set; the value is borrowed. */
static void set(struct drive *d, const char *pointer, const json_t *value)
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
    int64_t i = 0;
    while (i < d->out->sets.n && strcmp(d->out->sets.v[i].pointer, pointer) != 0)
        i++;
    if (i < d->out->sets.n)
        d->out->sets.v[i] = one;
    else
        VEC_PUSH(&d->out->sets, one);
}

static bool is_set(const struct drive *d, const char *pointer)
{
    for (int64_t i = 0; i < d->out->sets.n; i++)
        if (strcmp(d->out->sets.v[i].pointer, pointer) == 0)
            return true;
    return false;
}

static void set_null(struct drive *d, const char *pointer)
{
    json_t *null = json_null();
    set(d, pointer, null);
}

/* Sets what `wanted` has and `got` has not, leaf by leaf; what only `got` has is taken
 * out. Either may be NULL. */
static void set_difference(struct drive *d, const char *pointer, json_t *wanted,
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
        wanted ? set(d, pointer, wanted) : set_null(d, pointer);
        return;
    }
    json_object_foreach(wanted, key, v)
    {
        if (strcmp(key, "comment") != 0)
            set_difference(d, arena_printf(d->arena, "%s/%s", pointer, key), v,
                           json_object_get(got, key));
    }
    json_object_foreach(got, key, v) if (!json_object_get(wanted, key))
        set_null(d, arena_printf(d->arena, "%s/%s", pointer, key));
}

/* What lies around the step -------------------------------------------------------- */

/* Of a cluster of equal instances, what differs in effect. */
static void set_cluster(struct drive *d, json_t *got)
{
    const struct cluster_group *g = &d->s->cluster.groups[0];
    json_t *own = json_object_get(d->root.json, "cluster"),
           *name = json_object_get(own, "instance"),
           *count = json_object_get(got, "count"),
           *gpus = json_object_get(got, "gpus_per_instance");
    int64_t n = count ? (int64_t)json_integer_value(count) : 1,
            each =
                gpus ? (int64_t)json_integer_value(gpus) : (int64_t)g->instance->n_gpus;
    if (!name || json_object_get(own, "groups") || json_object_size(got) == 0) {
        set(d, "/cluster", own);
        return;
    }
    set_difference(d, "/cluster/instance", name, json_object_get(got, "instance"));
    json_t *groups = json_integer((json_int_t)d->s->cluster.n_instances);
    if (n != d->s->cluster.n_instances)
        set(d, "/cluster/count", groups);
    json_decref(groups);
    json_t *used = json_integer(g->gpus_per_instance);
    if (each != g->gpus_per_instance)
        set(d, "/cluster/gpus_per_instance", used);
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
static void set_sections(struct drive *d, json_t *got)
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
    if (d->w != &writers[EMIT_MEGATRON])
        set_difference(d, "/model", json_object_get(root, "model"),
                       json_object_get(got, "model"));
}

/* A value of the scenario's own: as it was written, or as it was decided. */
static bool set_own(struct drive *d, const char *pointer)
{
    json_t *written = pointer_get(d->root.json, pointer),
           *decided = emit_value(d->s, pointer);
    bool known =
        (written && !json_is_null(written)) || (decided && !json_is_null(decided));
    if (known)
        set(d, pointer, written && !json_is_null(written) ? written : decided);
    json_decref(decided);
    return known;
}

/* What the reader asks for. */
static void set_asked(struct drive *d, const struct back *b)
{
    for (int64_t i = 0; i < b->launch.unresolved.n; i++)
        if (!is_set(d, b->launch.unresolved.v[i].pointer))
            set_own(d, b->launch.unresolved.v[i].pointer);
    if (!pointer_get(b->root.json, "/training/sequence_length"))
        set_own(d, "/training/sequence_length");
}

/* Reading back --------------------------------------------------------------------- */

/* As far as the file says it, or as a scenario with the sets. */
static int read_back(struct back *b, const struct drive *d, bool whole, struct err *err)
{
    *b = (struct back) { 0 };
    cfg_loader_init(&b->loader);
    b->root =
        launch_load_text(&b->launch, &b->loader, d->w->name, strbuf_get(&d->out->text));
    int rc = b->root.json && b->loader.diags.n_errors == 0 ? 0 : -1;
    for (int64_t i = 0; rc == 0 && i < d->out->sets.n; i++)
        rc = cfg_set(b->root, d->out->sets.v[i].assignment);
    if (rc == 0 && whole)
        rc = launch_complete(&b->launch, b->root) ||
                     scenario_read(&b->s, &b->loader, b->root)
                 ? -1
                 : 0;
    if (rc)
        err_set(err, "it would not be read back: %.600s",
                diags_error_text(&b->loader.diags, 0));
    return rc;
}

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
static void set_launcher(struct drive *d)
{
    set_null(d, EMIT_LAUNCHER);
    set_own(d, "/parallelism/library");
    set_own(d, "/parallelism/backend");
}

/* Gives a field that differs: first by what was written or taken back, then as it was
 * decided. */
static int mend(struct drive *d, const struct back *b, const struct emit_field *f,
                int try, const json_t *wanted, const json_t *got, struct err *err)
{
    json_t *written = pointer_get(d->root.json, f->pointer);
    if (f->weight == EMIT_JOB)
        return refuse(f, wanted, got, err);
    if (try > 0 && is_set(d, f->pointer)) {
        json_t *decided = emit_value(d->s, f->pointer);
        if (try == 1 && !json_is_null(decided))
            set(d, f->pointer, decided);
        bool can = try == 1 && !json_is_null(decided);
        json_decref(decided);
        return can ? 0 : refuse(f, wanted, got, err);
    }
    if (written && !json_is_null(written))
        set(d, f->pointer, written);
    else if (strcmp(f->pointer, EMIT_LAUNCHER) == 0)
        set_launcher(d);
    else if (pointer_get(b->root.json, f->pointer))
        set_null(d, f->pointer);
    else if (!set_own(d, f->pointer))
        return refuse(f, wanted, got, err);
    return 0;
}

/* Fields that differ are mended; -1: one cannot be. */
static int compare(struct drive *d, const struct back *b, int try, int *differ,
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
        rc = is_set(d, "/model") ? err_set(err, "it has no word for this model") : 0;
        if (rc == 0)
            set(d, "/model", json_object_get(d->root.json, "model"));
    }
    return rc;
}

/* A version that the scenario does not name is taken back where the step depends on
 * it. */
static bool unpin(struct drive *d, const struct back *b)
{
    static const char *const versions[] = { "/software/pytorch",
                                            "/software/transformers" };
    bool any = false;
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (!pointer_get(d->root.json, versions[i]) && !is_set(d, versions[i]) &&
            pointer_get(b->root.json, versions[i])) {
            set_null(d, versions[i]);
            any = true;
        }
    return any;
}

static int settle(struct drive *d, struct err *err)
{
    struct back b;
    int differ = 1, rc = read_back(&b, d, false, err);
    if (rc == 0) {
        set_sections(d, b.root.json);
        set_asked(d, &b);
    }
    release(&b);
    for (int try = 0; rc == 0 && differ && try <= TRIES; try++) {
        struct err unread = { 0 };
        rc = read_back(&b, d, true, &unread);
        if (unpin(d, &b)) { /* read again: the pin decides attention and the profile */
            release(&b);
            unread = (struct err) { 0 };
            rc = read_back(&b, d, true, &unread);
        }
        if (rc)
            err_set(err, "%s", unread.text);
        else
            rc = compare(d, &b, try, &differ, err);
        release(&b);
    }
    return rc == 0 && differ ? err_set(err, "what it lacks cannot be told") : rc;
}

/* The text ------------------------------------------------------------------------- */

static void add_sets(struct strbuf *b, const struct emitted *e, bool lost,
                     const char *why)
{
    bool any = false;
    for (int64_t i = 0; i < e->sets.n; i++) {
        if (e->sets.v[i].lost != lost)
            continue;
        if (!any)
            strbuf_printf(b, "# %s\n", why);
        any = true;
        strbuf_addstr(b, "#   --set ");
        emit_word(b, e->sets.v[i].assignment);
        strbuf_addch(b, '\n');
    }
}

/* What reading needs beside the file, before it. */
static void add_header(struct emitted *e, const char *first)
{
    struct strbuf b;
    strbuf_init(&b);
    strbuf_addstr(&b, first);
    add_sets(&b, e, false,
             "Outside this file: smsim simulate FILE, with these options, reads it "
             "as it was planned.");
    add_sets(&b, e, true,
             "NOT said by this file: a job that it starts differs in each of these.");
    strbuf_addstr(&b, strbuf_get(&e->text));
    strbuf_release(&e->text);
    e->text = b;
}

static void add_tree(struct strbuf *b, const json_t *tree)
{
    char *text = json_dumps(tree, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    strbuf_printf(b, "%s\n", text);
    free(text);
}

int emit_scenario(struct emitted *out, enum emit_dialect how, const struct scenario *s,
                  struct cfg root, struct err *err)
{
    const struct emit_source e = { s, root };
    struct drive d = { &writers[how], s, root, cfg_arena(root), out };
    *out = (struct emitted) { .comments = true };
    strbuf_init(&out->text);
    if (how == EMIT_SCENARIO) {
        add_tree(&out->text, root.json);
        return 0;
    }
    if (d.w->write(&out->text, &e, err) || settle(&d, err)) {
        emit_release(out);
        return -1;
    }
    out->comments = d.w->comments;
    if (out->comments)
        add_header(out, d.w->first);
    return 0;
}

void emit_release(struct emitted *e)
{
    strbuf_release(&e->text);
    VEC_RELEASE(&e->sets);
}

void emit_print(const struct emitted *e, const char *name)
{
    fputs(strbuf_get(&e->text), stdout);
    fflush(stdout);
    for (int64_t i = 0; i < e->sets.n; i++) {
        const struct emit_set *one = &e->sets.v[i];
        if (one->lost)
            fprintf(stderr, "warning: --emit %s has no word for %s: --set %s\n", name,
                    one->pointer, one->assignment);
        else if (!e->comments)
            fprintf(stderr, "warning: outside --emit %s: --set %s\n", name,
                    one->assignment);
    }
}
