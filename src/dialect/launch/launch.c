#include "dialect/launch/launch.h"

#include "base/file.h"
#include "base/names.h"
#include "base/strbuf.h"
#include "config/datadir.h"
#include "config/pointer.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/launch_shell.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const char *const estimators[] = {
    "Estimator", "PyTorch", "HuggingFace", "TensorFlow", NULL,
};
static const char *const calls[] = {
    "Estimator", "PyTorch", "HuggingFace", "TensorFlow", "set_hyperparameters", NULL,
};
static const char *const same[] = {
    "json_encode_hyperparameters", "dumps", "deepcopy", NULL,
};
/* By which a call is told from others of that name. */
static const char *const tokens[] = {
    "instance_type", "instance_count", "distribution", "hyperparameters", "entry_point",
    "train_instance_type", "train_instance_count", "distributions", NULL,
};
/* What a scenario cannot do without. */
static const struct need {
    const char *pointer, *instead; /* either */
    const char *what, *example;
} needs[] = {
    { "/model", NULL, "which model is trained", "bert-large-uncased" },
    { "/cluster/instance", "/cluster/groups", "on which instances", "ml.p4d.24xlarge" },
    { "/cluster/count", "/cluster/groups", "on how many instances", "2" },
    { "/training/sequence_length", NULL, "how long sequences are", "384" },
    { "/training/micro_batch_size", "/training/global_batch_size",
      "how many sequences a GPU takes at once", "8" },
};
/* clang-format on */

bool launch_is_script(const char *file)
{
    const char *dot = strrchr(file, '.');
    bool script = dot && (strcmp(dot, ".py") == 0 || strcmp(dot, ".txt") == 0);
    return script || launch_is_shell(file) || launch_is_deepspeed(file);
}

void launch_release(struct launch *l)
{
    VEC_RELEASE(&l->resolved);
    VEC_RELEASE(&l->unresolved);
    VEC_RELEASE(&l->origins);
    VEC_RELEASE(&l->autos);
    VEC_RELEASE(&l->notes);
}

/* Which estimator ------------------------------------------------------------------ */

static bool is_estimator(const struct python_call *c)
{
    if (!names_listed(estimators, python_last_part(c->function)))
        return false;
    for (const char *const *token = tokens; *token; token++)
        if (value_get(c->arguments, *token))
            return true;
    return c->arguments->gap > 0;
}

/* The last one of that name; without a name, the last that is no quotation. */
static const struct python_call *choose(const struct python *p, const char *name)
{
    const struct python_call *best = NULL;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (!is_estimator(c))
            continue;
        if (name ? c->target && strcmp(c->target, name) == 0
                 : !best || best->quoted || !c->quoted)
            best = c;
    }
    return best;
}

static int no_such(struct launch *l, const struct python *p, const char *name)
{
    struct strbuf b;
    strbuf_init(&b);
    for (int64_t i = 0; i < p->calls.n && b.len < 200; i++)
        if (is_estimator(&p->calls.v[i]) && p->calls.v[i].target)
            strbuf_printf(&b, "%s%s", b.len ? ", " : "", p->calls.v[i].target);
    diags_add(&l->loader->diags, launch_diag(l, DIAG_UNKNOWN_NAME, 0, 0),
              "no estimator is assigned to \"%.60s\" (%s%s)", name,
              b.len ? "there is " : "leave --estimator out", strbuf_get(&b));
    strbuf_release(&b);
    return -1;
}

/* A file without an estimator: the names that its arguments usually have. */
static struct value *dict_of(struct arena *arena, int32_t cap)
{
    struct value *v = ARENA_NEW(arena, struct value);
    *v = (struct value) { .kind = VALUE_DICT, .line = 1 };
    v->items = ARENA_ARRAY(arena, cap, struct value_item);
    return v;
}

static void put(struct value *dict, const char *key, const struct value *value)
{
    if (value)
        dict->items[dict->n++] =
            (struct value_item) { key, value->line, (struct value *)value };
}

/* The last dictionary with that member, by whatever name. */
static const struct value *name_with(const struct python *p, const char *key)
{
    const struct value *found = NULL;
    for (int64_t i = 0; i < p->names.n; i++)
        if (value_get(p->names.v[i].value, "enabled") &&
            value_get(p->names.v[i].value, key))
            found = p->names.v[i].value;
    return found;
}

static const struct value *options_of(struct arena *arena, const struct python *p)
{
    const struct value *smp = name_with(p, "parameters");
    struct value *d = dict_of(arena, 2), *inner = dict_of(arena, 1);
    if (!smp)
        return NULL;
    inner->line = d->line = smp->line;
    put(inner, "modelparallel", smp);
    put(d, "smdistributed", inner);
    put(d, "mpi", name_with(p, "processes_per_host"));
    return d;
}

static const struct python_call *assume(struct launch *l, const struct python *p)
{
    struct arena *arena = &l->loader->arena;
    struct python_call *c = ARENA_NEW(arena, struct python_call);
    enum { N_TOKENS = sizeof(tokens) / sizeof(tokens[0]) };
    *c = (struct python_call) { .function = "Estimator", .line = 1 };
    c->arguments = dict_of(arena, N_TOKENS + 1);
    for (const char *const *token = tokens; *token; token++)
        put(c->arguments, *token, python_name(p, *token));
    if (!value_get(c->arguments, "distribution"))
        put(c->arguments, "distribution", options_of(arena, p));
    if (!value_get(c->arguments, "distribution"))
        return NULL;
    c->line = value_get(c->arguments, "distribution")->value->line;
    return c;
}

/* From the text to the scenario ---------------------------------------------------- */

static const struct python_call *find_call(struct launch *l, const struct python *p,
                                           const char *estimator)
{
    const struct python_call *c = choose(p, estimator);
    if (c) {
        l->title = arena_printf(&l->loader->arena, "%s%s%s(...): read, not run",
                                c->target ? c->target : "", c->target ? " = " : "",
                                c->function);
    } else if (estimator) {
        no_such(l, p, estimator);
    } else if ((c = assume(l, p)) != NULL) {
        l->title = "no estimator; the dictionaries alone: read, not run";
    } else {
        diags_add(&l->loader->diags, launch_diag(l, DIAG_UNKNOWN_FORMAT, 0, 0),
                  "no call of Estimator, PyTorch, HuggingFace or TensorFlow, and "
                  "no distribution dictionary (give a launch script)");
        for (int64_t i = 0; i < p->notes.n && i < 3; i++)
            diags_add(
                &l->loader->diags,
                diag_at_line(DIAG_ERROR, DIAG_UNRESOLVED, l->file, p->notes.v[i].line),
                "%s", p->notes.v[i].text);
    }
    l->line = c ? c->line : 0;
    return c;
}

static void add_hyper(struct launch_context *t, const struct value *v)
{
    if (t->n_hyper < LAUNCH_HYPER_MAX)
        t->hyper[t->n_hyper++] = v;
}

/* est.set_hyperparameters(a=1) goes before what the constructor was given. */
static void find_hyper(struct launch_context *t, const struct python *p)
{
    const char *target = t->call->target;
    for (int64_t i = p->calls.n; i-- > 0 && target;) {
        const struct python_call *c = &p->calls.v[i];
        size_t n = strlen(target);
        if (strncmp(c->function, target, n) == 0 &&
            strcmp(c->function + n, ".set_hyperparameters") == 0)
            add_hyper(t, c->arguments);
    }
    const struct value_item *it = value_get(t->call->arguments, "hyperparameters");
    if (it)
        add_hyper(t, it->value);
}

static void take_notes(struct launch *l, const struct python *p)
{
    for (int64_t i = 0; i < p->notes.n; i++)
        launch_note(l, p->notes.v[i].line, DIAG_UNRESOLVED, "%s", p->notes.v[i].text);
    if (p->n_passed)
        launch_note(l, p->first_passed, DIAG_LEFT_OUT,
                    "this and %" PRId64 " more lines are no statements of Python, and "
                    "were passed over",
                    p->n_passed - 1);
}

static json_t *read_script(struct launch *l, const char *text, size_t len,
                           const char *estimator)
{
    const struct python_wanted wanted = { calls, same };
    struct arena *arena = &l->loader->arena;
    struct python p;
    struct err err = { 0 };
    struct launch_context t = {
        .l = l, .arena = arena, .tree = NULL, .microbatches = 1
    };
    if (python_read(&p, arena, text, len, &wanted, &err)) {
        diags_add(&l->loader->diags, launch_syntax(l, &err), "%s", err.text);
    } else if ((t.call = find_call(l, &p, estimator)) != NULL) {
        t.names = datadir_load(l->loader, "models/launch", "names", (struct cfg) { 0 });
        t.tree = json_pack("{s:{}, s:{}}", "cluster", "training");
        find_hyper(&t, &p);
        launch_take(&t);
        take_notes(l, &p);
    }
    python_release(&p);
    return t.tree;
}

/* DeepSpeed's configuration alone: the rest is for --set to say. */
static struct cfg take_config(struct launch *l, const struct value *config)
{
    struct value nothing = { .kind = VALUE_DICT, .line = 1 };
    const struct python_call call = { .function = "",
                                      .line = 1,
                                      .arguments = &nothing };
    struct launch_context t = { .l = l,
                                .arena = &l->loader->arena,
                                .call = &call,
                                .tree =
                                    json_pack("{s:{}, s:{}}", "cluster", "training"),
                                .microbatches = 1 };
    l->title = "DeepSpeed's configuration";
    l->what = "the configuration";
    l->line = 1;
    if (config)
        launch_take_deepspeed(&t, config, "");
    launch_unresolved_autos(&t);
    return cfg_from_tree(l->loader, l->file, t.tree);
}

static struct cfg load_config(struct launch *l, const char *estimator)
{
    if (estimator)
        diags_add(&l->loader->diags, launch_diag(l, DIAG_REFUSED_KEY, 0, 0),
                  "has no estimators (leave --estimator out)");
    return take_config(l, launch_read_deepspeed(l->loader, l->file));
}

static const struct launch_given nothing_given = { .estimator = NULL };

static void begin(struct launch *l, struct cfg_loader *loader, const char *file)
{
    *l = (struct launch) { .loader = loader,
                           .what = "the script",
                           .file = arena_strdup(&loader->arena, file) };
}

static struct cfg load_script(struct launch *l, const char *text, size_t len,
                              const struct launch_given *given)
{
    json_t *tree = launch_is_shell(l->file)
                       ? launch_read_shell(l, text, len, given)
                       : read_script(l, text, len, given->estimator);
    return tree ? cfg_from_tree(l->loader, l->file, tree) : (struct cfg) { 0 };
}

struct cfg launch_load_text(struct launch *l, struct cfg_loader *loader,
                            const char *name, const char *text)
{
    const char *dot = strrchr(name, '.');
    begin(l, loader, name);
    if (dot && strcmp(dot, ".json") == 0)
        return take_config(l, launch_parse_deepspeed(loader, name, text, 1));
    return load_script(l, text, strlen(text), &nothing_given);
}

struct cfg launch_load(struct launch *l, struct cfg_loader *loader, const char *file,
                       const struct launch_given *given)
{
    struct err err = { 0 };
    size_t len;
    given = given ? given : &nothing_given;
    begin(l, loader, file);
    if (launch_is_deepspeed(file))
        return load_config(l, given->estimator);
    char *text = file_read(file, PYTHON_TEXT_MAX_B, &len, &err);
    if (!text) {
        diags_unreadable(&loader->diags, file, &err);
        return (struct cfg) { 0 };
    }
    struct cfg root = load_script(l, text, len, given);
    free(text);
    return root;
}

/* What the script's reading left open ---------------------------------------------- */

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

static struct diag unresolved_at(const struct launch *l, const char *pointer,
                                 int64_t line)
{
    struct diag at = launch_diag(l, DIAG_UNRESOLVED, line, 0);
    at.pointer = pointer;
    return at;
}

int launch_complete(struct launch *l, struct cfg root)
{
    struct diags *d = &l->loader->diags;
    int rc = 0;
    mark_replaced(l, root);
    launch_settle_job(l, root);
    launch_settle_autos(l, root);
    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
        const struct need *n = &needs[i];
        const struct launch_unresolved *doubt = launch_unresolved_of(l, n->pointer);
        if (launch_is_set(root, n->pointer) ||
            (n->instead && launch_is_set(root, n->instead)))
            continue;
        if (doubt)
            diags_add(d, unresolved_at(l, n->pointer, doubt->line),
                      "%s (give --set %s=%s)", doubt->what, n->pointer, n->example);
        else
            diags_add(d, unresolved_at(l, n->pointer, l->line),
                      "%s does not say %s (give --set %s=%s)", l->what, n->what,
                      n->pointer, n->example);
        rc = -1;
    }
    for (int64_t i = 0; i < l->unresolved.n; i++) {
        const struct launch_unresolved *doubt = &l->unresolved.v[i];
        if (need_of(doubt->pointer) || launch_is_set(root, doubt->pointer))
            continue;
        diags_add(d, unresolved_at(l, doubt->pointer, doubt->line),
                  "%s (give --set %s=VALUE)", doubt->what, doubt->pointer);
        rc = -1;
    }
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
}

void launch_place(const struct launch *l)
{
    struct diags *d = &l->loader->diags;
    for (int64_t i = 0; i < d->n; i++)
        place(l, &d->v[i]);
}
