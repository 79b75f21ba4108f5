/* The estimator of a script. */
#include "dialect/sagemaker/sagemaker.h"

#include "base/names.h"
#include "dialect/source/python.h"

#include <string.h>

/* clang-format off */
static const char *const estimators[] = {
    "Estimator", "PyTorch", "HuggingFace", "TensorFlow", NULL,
};
const char *const sagemaker_calls[] = {
    "Estimator", "PyTorch", "HuggingFace", "TensorFlow", "set_hyperparameters", NULL,
};
const char *const sagemaker_same[] = {
    "json_encode_hyperparameters", "dumps", "deepcopy", NULL,
};
/* Arguments that distinguish a call from others of that name. */
static const char *const tokens[] = {
    "instance_type", "instance_count", "distribution", "hyperparameters", "entry_point",
    "train_instance_type", "train_instance_count", "distributions", NULL,
};
/* clang-format on */

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

static void no_such(struct launch *l, const struct python *p, const char *name)
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

static const struct python_call *assume(const struct python *p)
{
    struct arena *arena = p->arena;
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

bool sagemaker_recognises(const struct dialect_input *in)
{
    return in->estimator || choose(in->python, NULL) || assume(in->python);
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

bool sagemaker_find(struct launch_context *t, const struct dialect_input *in)
{
    struct launch *l = t->l;
    const struct python_call *c = choose(in->python, in->estimator);
    if (c) {
        l->title = arena_printf(t->arena, "%s%s%s(...): read, not run",
                                c->target ? c->target : "", c->target ? " = " : "",
                                c->function);
    } else if (in->estimator) {
        no_such(l, in->python, in->estimator);
        return false;
    } else {
        c = assume(in->python);
        l->title = "no estimator; the dictionaries alone: read, not run";
    }
    t->call = c;
    l->line = c->line;
    find_hyper(t, in->python);
    return true;
}
