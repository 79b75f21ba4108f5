/* What a file leaves open, after --set; and the places of what was reported. */
#include "base/file.h"
#include "config/datadir.h"
#include "config/pointer.h"
#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"
#include "hardware/instance.h"
#include "model/model.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
/* What a scenario cannot do without. */
static const struct need {
    const char *pointer;
    const char *instead[2]; /* or one of these */
    const char *what, *example, *named; /* where the file gives what is not known */
} needs[] = {
    { "/model", { NULL }, "which model is trained", "bert-large-uncased", "PATH/config.json" },
    { "/cluster/instance", { "/cluster/groups", "/cluster/like" }, "on which instances",
      "ml.p4d.24xlarge", NULL },
    { "/cluster/count", { "/cluster/groups" }, "on how many instances", "2", NULL },
    { "/training/sequence_length", { NULL }, "how long sequences are", "384", NULL },
    { "/training/micro_batch_size", { "/training/global_batch_size" },
      "how many sequences a GPU takes at once", "8", NULL },
};
/* clang-format on */

static const struct need *need_of(const char *pointer)
{
    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
        if (strcmp(needs[i].pointer, pointer) == 0)
            return &needs[i];
    return NULL;
}

/* What the script says is still shown where --set says something else. */
static void mark_replaced(struct launch *l, struct cfg root)
{
    for (int64_t i = 0; i < l->resolved.n; i++) {
        struct launch_resolved *f = &l->resolved.v[i];
        json_t *now = pointer_get(root.json, f->pointer);
        char *text = now ? json_dumps(now, LAUNCH_SHOWN) : NULL;
        f->replaced = !text || strcmp(text, f->value) != 0;
        free(text);
    }
}

/* Whether --set gives it: a value, or null for it or what is around it. */
static bool is_answered(struct cfg root, const char *pointer)
{
    char around[200];
    const char *slash = pointer;
    if (launch_is_set(root, pointer))
        return true;
    while (slash && strlen(pointer) < sizeof(around)) {
        slash = strchr(slash + 1, '/');
        snprintf(around, sizeof(around), "%.*s",
                 (int)(slash ? slash - pointer : (ptrdiff_t)strlen(pointer)), pointer);
        json_t *v = pointer_get(root.json, around);
        if (json_is_null(v))
            return true;
    }
    return false;
}

static struct diag unresolved_at(const struct launch *l, const char *pointer,
                                 int64_t line)
{
    struct diag at = launch_diag(l, DIAG_UNRESOLVED, line, 0);
    at.pointer = pointer;
    return at;
}

static const char sequence_at[] = "/training/sequence_length";

/* The model of the scenario, to ask for its positions alone; what is wrong with it is
 * reported when the scenario is read. */
static bool peek_model(struct model *m, struct cfg_loader *loader, struct cfg root)
{
    json_t *model = json_object_get(root.json, "model");
    json_t *all = model ? json_pack("{s:O}", "model", model) : NULL;
    char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
    cfg_loader_init(loader);
    bool known =
        text && model_read(m, loader,
                           cfg_get(cfg_parse(loader, "model", text, strlen(text)),
                                   "model")) == 0;
    free(text);
    json_decref(all);
    return known;
}

/* Where nothing else gives one: the length that a model of pictures always reads, or
 * the program's own, of at most the model's positions. */
static void settle_lengths(struct launch *l, struct cfg root)
{
    const struct launch_lengths *own = &l->lengths;
    struct cfg_loader loader;
    struct model m;
    struct err err = { 0 };
    if (l->has_program && !own->full)
        l->lengths = (struct launch_lengths) { 0 };
    if (launch_is_set(root, sequence_at) || launch_unresolved_of(l, sequence_at))
        return;
    bool known = peek_model(&m, &loader, root);
    int64_t most = known ? m.ends.positions - m.ends.positions_unused : 0;
    bool pictures = known && m.ends.patch && m.arch == MODEL_ENCODER && most > 0;
    int64_t each = own->full ? most : own->each;
    int64_t n = pictures ? most : known && most && most < each ? most : each;
    if (n && pointer_set(root.json, sequence_at, json_integer(n), &err) == 0)
        launch_note(l, pictures || !own->line ? l->line : own->line, DIAG_ASSUMED,
                    "sequences are of %" PRId64
                    " tokens, as %.80s has them (give --set "
                    "/training/sequence_length=... for others)",
                    n, pictures ? m.name : own->program);
    cfg_loader_release(&loader);
}

/* The batch of a known program that nothing gives. */
static void settle_batch(struct launch *l, struct cfg root)
{
    static const char micro[] = "/training/micro_batch_size",
                      global[] = "/training/global_batch_size";
    const struct launch_lengths *own = &l->lengths;
    struct err err = { 0 };
    if (!own->batch || launch_is_set(root, micro) || launch_is_set(root, global) ||
        launch_unresolved_of(l, micro) || launch_unresolved_of(l, global) ||
        pointer_set(root.json, micro, json_integer(own->batch), &err) < 0)
        return;
    launch_note(l, own->line, DIAG_ASSUMED,
                "a GPU takes %" PRId64
                " sequences at once, %.80s's default (give --set "
                "%s=... for others)",
                own->batch, own->program, micro);
}

/* What is asked for, with a value as an example. */
static void ask(struct launch *l, const struct need *n)
{
    const struct launch_unresolved *open = launch_unresolved_of(l, n->pointer);
    struct diag at = unresolved_at(l, n->pointer, open ? open->line : l->line);
    struct diags *d = &l->loader->diags;
    if (open)
        diags_add(d, at, "%s (give --set %s=%s)", open->what, n->pointer,
                  n->named ? n->named : n->example);
    else if (l->lengths.longest && strcmp(n->pointer, sequence_at) == 0)
        diags_add(d, at,
                  "%s does not say %s, and %.80s pads them to the longest of a batch "
                  "(give --set %s=%" PRId64 " for the most by its default, or less)",
                  l->what, n->what, l->lengths.program, n->pointer, l->lengths.longest);
    else
        diags_add(d, at, "%s does not say %s (give --set %s=%s)", l->what, n->what,
                  n->pointer, n->example);
}

/* An instance of the file's that is known and not simulated is said before anything is
 * asked for. */
static bool refuses_instance(struct launch *l, struct cfg root)
{
    static const char pointer[] = "/cluster/instance";
    const char *name = json_string_value(pointer_get(root.json, pointer));
    const char *plain = name ? instance_plain_name(name) : "";
    const char *path = datadir_file(&l->loader->arena, "topologies/instances", plain);
    const char *why = file_is_there(path) ? NULL : instance_absent(l->loader, plain);
    for (int64_t i = 0; why && i < l->resolved.n; i++) {
        const struct launch_resolved *f = &l->resolved.v[i];
        struct diag at = launch_diag(l, DIAG_UNSUPPORTED, f->line, 0);
        at.pointer = pointer;
        if (strcmp(f->pointer, pointer) != 0 || f->replaced)
            continue;
        diags_add(&l->loader->diags, at, "%s is not simulated: %s", plain, why);
        return true;
    }
    return false;
}

/* A field that is to be asked for. */
struct question {
    const struct need *need;              /* or NULL */
    const struct launch_unresolved *open; /* or NULL: nothing is said of it */
    bool asked;
};

typedef VEC(struct question) question_vec;

/* Whether the file gives what replaces a field, and not --set. */
static bool is_of_file(const struct launch *l, const char *pointer)
{
    for (int64_t i = 0; i < l->resolved.n; i++)
        if (strcmp(l->resolved.v[i].pointer, pointer) == 0)
            return !l->resolved.v[i].replaced;
    return false;
}

/* Whether another field says it; one of the file's own does not where the file leaves the
 * first open. */
static bool says_instead(const struct launch *l, struct cfg root, const struct need *n,
                         bool open)
{
    for (size_t i = 0; i < sizeof(n->instead) / sizeof(n->instead[0]); i++)
        if (n->instead[i] && launch_is_set(root, n->instead[i]) &&
            !(open && is_of_file(l, n->instead[i])))
            return true;
    return false;
}

/* What a scenario needs first, then all else that is open. A batch of all GPUs says
 * nothing of one that the file itself leaves open: it would be divided as it is not. */
static void gather(question_vec *all, const struct launch *l, struct cfg root)
{
    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
        const struct need *n = &needs[i];
        const struct launch_unresolved *open = launch_unresolved_of(l, n->pointer);
        if (!launch_is_set(root, n->pointer) && !says_instead(l, root, n, open != NULL))
            VEC_PUSH(all, ((struct question) { n, open, false }));
    }
    for (int64_t i = 0; i < l->unresolved.n; i++) {
        const struct launch_unresolved *open = &l->unresolved.v[i];
        if (!need_of(open->pointer) && !is_answered(root, open->pointer))
            VEC_PUSH(all, ((struct question) { NULL, open, false }));
    }
}

/* One variable of a shell that leaves several fields open is asked for once. */
static bool ask_variable(struct launch *l, question_vec *all, int64_t first)
{
    const struct launch_unresolved *open = all->v[first].open;
    struct strbuf others;
    strbuf_init(&others);
    for (int64_t i = first + 1; open && open->ask && i < all->n; i++) {
        const struct launch_unresolved *o = all->v[i].open;
        if (!o || !o->ask || strcmp(o->ask, open->ask) != 0)
            continue;
        strbuf_printf(&others, "%s%.80s (%.60s)", others.len ? ", " : "", o->pointer,
                      o->from);
        all->v[i].asked = true;
    }
    bool any = others.len > 0;
    if (any)
        diags_add(&l->loader->diags, unresolved_at(l, open->pointer, open->line),
                  "%s; it decides %s, too (give --set /shell/%.60s=VALUE)", open->what,
                  strbuf_get(&others), open->ask);
    strbuf_release(&others);
    return any;
}

/* The option that answers a question: its example, or VALUE. */
static void add_option(struct strbuf *line, const struct question *q, bool of_variable)
{
    const struct need *n = of_variable ? NULL : q->need;
    const char *value = !n ? "VALUE" : q->open && n->named ? n->named : n->example;
    strbuf_printf(line, " --set %s%.80s=%s", of_variable ? "/shell/" : "",
                  of_variable ? q->open->ask
                  : n         ? n->pointer
                              : q->open->pointer,
                  value);
}

/* Each question, and where there are several the options that answer all, to paste. */
static void ask_all(struct launch *l, question_vec *all)
{
    struct strbuf line;
    int n = 0;
    strbuf_init(&line);
    for (int64_t i = 0; i < all->n; i++) {
        const struct question *q = &all->v[i];
        if (q->asked)
            continue;
        bool of_variable = ask_variable(l, all, i);
        add_option(&line, q, of_variable);
        n++;
        if (!of_variable && q->need)
            ask(l, q->need);
        else if (!of_variable)
            diags_add(&l->loader->diags,
                      unresolved_at(l, q->open->pointer, q->open->line),
                      "%s (give --set %s=VALUE)", q->open->what, q->open->pointer);
    }
    if (n > 1)
        diags_add(&l->loader->diags, unresolved_at(l, NULL, l->line),
                  "these %d at once:%s", n, strbuf_get(&line));
    strbuf_release(&line);
}

int launch_complete(struct launch *l, struct cfg root)
{
    struct diags *d = &l->loader->diags;
    int64_t errors = d->n_errors;
    mark_replaced(l, root);
    if (refuses_instance(l, root))
        return -1;
    launch_settle_job(l, root);
    settle_lengths(l, root);
    settle_batch(l, root);
    for (const struct dialect *known = dialects; known->name; known++)
        if (known->settle)
            known->settle(l, root);
    int rc = d->n_errors > errors ? -1 : 0;
    question_vec all = { 0 };
    gather(&all, l, root);
    ask_all(l, &all);
    rc = all.n ? -1 : rc;
    VEC_RELEASE(&all);
    return rc;
}

/* The line of the value at a pointer, or of the nearest around it; 0: none. */
static int64_t line_of(const struct launch *l, const char *pointer, size_t n)
{
    int64_t line = 0;
    size_t longest = 0;
    for (int64_t i = 0; i < l->origins.n; i++) {
        const char *at = l->origins.v[i].pointer;
        size_t m = strlen(at);
        bool around =
            m <= n && strncmp(at, pointer, m) == 0 && (m == n || pointer[m] == '/');
        if (around && m >= longest) {
            longest = m;
            line = l->origins.v[i].line;
        }
    }
    return line;
}

/* What was reported of the script's scenario gets the line of the script. */
static void place(const struct launch *l, struct diag *d)
{
    bool own = d->file && strcmp(d->file, l->file) == 0 && !d->set;
    if (own && !d->line && d->pointer && d->pointer[0])
        d->line = line_of(l, d->pointer, strlen(d->pointer));
    if (own && d->line && !d->cell)
        launch_cell(l, d->line, &d->cell, &d->line);
}

void launch_place(const struct launch *l)
{
    struct diags *d = &l->loader->diags;
    for (int64_t i = 0; i < d->n; i++)
        place(l, &d->v[i]);
}
