/* Modules of the user's own: `from config import MODEL`, `import config`. Their text is
 * read as this one is, and what it binds to what is known is bound here, as are classes
 * that hold values; functions of modules are left as names that are imported, but those
 * that load a document are called with what is known. */
#include "base/names.h"
#include "base/strbuf.h"
#include "dialect/python/python_parse.h"

#include <inttypes.h>
#include <string.h>

enum { MODULE_DEPTH_MAX = 3, NESTED_MAX = 40 };

/* A value of another text, with the line at which it is imported. */
static struct value *import_value(struct python_parser *r, const struct value *v,
                                  int64_t line, int deep)
{
    if (deep > PYTHON_DEPTH_MAX)
        return python_unknown(r, line, "it holds itself");
    struct value *made = python_new(r, v->kind, line);
    made->integer = v->integer;
    made->real = v->real;
    made->text = v->text;
    made->why = v->why;
    made->gap = v->gap ? line : 0;
    for (int32_t i = 0; i < v->n && !r->limit; i++) {
        struct value *item = import_value(r, v->items[i].value, line, deep + 1);
        if (v->kind == VALUE_DICT)
            python_put(r, made, v->items[i].key, line, item);
        else
            python_append(r, made, item);
    }
    return made;
}

static bool is_data(const struct python_name *n)
{
    return n->value->kind != VALUE_UNKNOWN && strncmp(n->name, "__", 2) != 0 &&
           !strchr(n->name, '.');
}

static bool is_class(const struct python_name *n)
{
    const struct value *v = n->value;
    return v->kind == VALUE_DICT && v->text && strcmp(v->text, n->name) == 0;
}

/* A class that holds values, whose calls make instances; a trainer's make what it is. */
static bool makes_instances(const struct python_name *n)
{
    size_t len = strlen(n->name);
    return is_class(n) && n->value->n > 0 &&
           !(len >= 7 && strcmp(n->name + len - 7, "Trainer") == 0);
}

/* from module import * */
static bool takes_all(const struct python_import *in)
{
    return !in->name && !in->as;
}

/* What a module imports itself is of where it is from: from package import name. */
static bool is_passed_on(const struct python_name *n, const struct python_import *in)
{
    bool wanted = takes_all(in) ? *n->name != '_' && !strchr(n->name, '.')
                                : in->name && strcmp(n->name, in->name) == 0;
    return wanted && n->value->kind == VALUE_UNKNOWN && n->value->text &&
           strcmp(n->value->why, "it is imported") == 0;
}

/* Functions of a module that all is imported of: names of theirs, by which they are
 * called. */
static void bind_functions(struct python_parser *r, const struct python *p,
                           const struct python_import *in)
{
    for (const char *s = p->text; s && !r->limit; s = strchr(s, '\n')) {
        s += *s == '\n';
        size_t n = strncmp(s, "def ", 4) == 0 ? strcspn(s + 4, "( \n") : 0;
        if (n == 0 || s[4] == '_')
            continue;
        const char *name = arena_strndup(r->p->arena, s + 4, n);
        struct value *v = python_unknown(r, in->line, "it is imported");
        v->text = arena_printf(r->p->arena, "%s.%s", in->module, name);
        v->integer = PYTHON_SOMETHING;
        python_bind(r, name, v);
    }
}

/* The module's names: all of them with what precedes them, or one as another name. */
static int64_t bind_names(struct python_parser *r, const struct python *p,
                          const struct python_import *in)
{
    int64_t n = 0;
    for (int64_t i = 0; i < p->names.n && !r->limit; i++) {
        const struct python_name *x = &p->names.v[i];
        if (is_passed_on(x, in))
            python_bind(r, in->name ? in->as : x->name,
                        import_value(r, x->value, in->line, 0));
        if (!is_data(x) || (in->name && strcmp(x->name, in->name) != 0))
            continue;
        const char *as = in->name ? in->as
                         : in->as ? arena_printf(r->p->arena, "%s.%s", in->as, x->name)
                                  : x->name;
        struct value *v = import_value(r, x->value, in->line, 0);
        if (is_class(x)) {
            const char *path = arena_printf(r->p->arena, "%s.%s", in->module, x->name);
            VEC_PUSH(&r->foreign, ((struct python_foreign_class) { as, path }));
            v->why = v->why ? v->why : path; /* of no other: it is the module's own */
        }
        python_bind(r, as, v);
        if (makes_instances(x))
            python_import_class(r, as, v);
        n++;
    }
    return n;
}

/* Says once which file is read. */
static void note(struct python_parser *r, const struct python_import *in,
                 const char *path, const struct python *p)
{
    bool asks = false;
    for (int64_t i = 0; i < p->notes.n; i++)
        asks |= strstr(p->notes.v[i].text, "environment") != NULL;
    const char *said =
        arena_printf(r->p->arena, "%.160s is read: what it binds is taken%s", path,
                     asks ? ", its environment's variables by their defaults" : "");
    for (int64_t i = 0; i < r->p->notes.n; i++)
        if (strcmp(r->p->notes.v[i].text, said) == 0)
            return;
    python_note(r, in->line, "%s", said);
}

/* The module's text as it was read: the last one is kept, since each name that is imported
 * of it asks for it. */
static bool read_module(struct python_parser *r, const char *name, int64_t line)
{
    static const char *const none[] = { NULL };
    const struct python_modules *m = r->wanted->modules;
    struct python_last_module *last = &r->last_module;
    const char *path = NULL;
    if (last->name && strcmp(last->name, name) == 0)
        return true;
    if (!m || *m->left <= 0 || m->deep >= MODULE_DEPTH_MAX)
        return false;
    const char *text = m->text(m->of, r->p->arena, name, &path);
    if (!text)
        return false;
    struct python_modules inner = *m;
    struct python_wanted wanted = { .calls = none,
                                    .same = r->wanted->same,
                                    .modules = &inner,
                                    .given = r->wanted->given,
                                    .words = r->wanted->words,
                                    .environment = r->wanted->environment,
                                    .gpu = r->wanted->gpu };
    struct err err = { 0 };
    int nested = NESTED_MAX; /* what a module imports takes nothing of the text's own */
    inner.left = m->deep ? m->left : &nested;
    inner.deep++;
    python_spend(m, text);
    python_release(&last->read);
    *last = (struct python_last_module) { .name = name, .path = path };
    struct value *bound = python_new(r, VALUE_DICT, line);
    python_share_environment(r, bound); /* each rank is one to its modules, too */
    wanted.bound = bound;
    bool makes = r->wanted->calls[0] && python_makes(text);
    if (makes) { /* what it makes is the text's */
        wanted.calls = r->wanted->calls;
        wanted.modules_of = r->wanted->modules_of;
        wanted.line = line;
        python_hand_command(r, text, &wanted);
    }
    last->sound =
        python_read(&last->read, r->p->arena, text, strlen(text), &wanted, &err) == 0;
    if (last->sound && makes)
        python_take_calls(r, &last->read, true);
    return true;
}

bool python_import(struct python_parser *r, const struct python_import *in)
{
    if (!read_module(r, in->module, in->line))
        return false;
    const struct python_last_module *last = &r->last_module;
    if (last->sound && takes_all(in))
        bind_functions(r, &last->read, in);
    if (last->sound && bind_names(r, &last->read, in) > 0)
        note(r, in, last->path, &last->read);
    return true;
}

/* Functions that load ---------------------------------------------------------------- */

static bool loads_documents(const char *text)
{
    static const char *const loaders[] = { "safe_load(", "yaml.load(", "json.load(",
                                           "OmegaConf.load(", NULL };
    return names_within(loaders, text);
}

static void add_text(struct strbuf *to, const char *text)
{
    strbuf_addstr(to, "\"");
    for (const char *c = text; *c; c++)
        strbuf_printf(to, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    strbuf_addstr(to, "\"");
}

/* The arguments as a text has them; false: one is more than text or a number. */
static bool add_arguments(struct strbuf *to, const struct value *arguments)
{
    for (int32_t i = 0; i < arguments->n; i++) {
        const struct value_item *it = &arguments->items[i];
        if (i)
            strbuf_addstr(to, ", ");
        if (*it->key < '0' || *it->key > '9')
            strbuf_printf(to, "%s=", it->key);
        if (it->value->kind == VALUE_STRING && !strchr(it->value->text, '\n'))
            add_text(to, it->value->text);
        else if (it->value->kind == VALUE_INT)
            strbuf_printf(to, "%" PRId64, it->value->integer);
        else
            return false;
    }
    return !arguments->gap;
}

/* What the last line of a module's text gives; NULL: it is not known. */
static struct value *last_line(struct python_parser *r, const char *text, size_t len,
                               const char *name, int64_t line)
{
    static const char *const none[] = { NULL };
    struct python_modules inner = *r->wanted->modules;
    struct python_wanted wanted = {
        .calls = none, .same = none, .gpu = r->wanted->gpu, .modules = &inner
    };
    struct value *v = NULL;
    struct python p;
    struct err err = { 0 };
    inner.deep++;
    python_spend(&inner, text);
    if (python_read(&p, r->p->arena, text, len, &wanted, &err) == 0) {
        const struct value *made = python_name(&p, name);
        if (made && made->kind == VALUE_DICT)
            v = import_value(r, made, line, 0);
        for (int64_t i = 0; v && i < p.notes.n; i++)
            if (strstr(p.notes.v[i].text, " is read"))
                python_note(r, line, "%s", p.notes.v[i].text);
    }
    python_release(&p);
    return v;
}

struct value *python_imported_load(struct python_parser *r, const char *function,
                                   const struct value *arguments, int64_t line)
{
    const struct python_modules *m = r->wanted->modules;
    const char *dot = strrchr(function, '.'), *path = NULL;
    if (!m || !dot || *m->left <= 0 || m->deep >= MODULE_DEPTH_MAX)
        return NULL;
    const char *text =
        m->text(m->of, r->p->arena,
                arena_strndup(r->p->arena, function, (size_t)(dot - function)), &path);
    if (!text || !loads_documents(text) ||
        !strstr(text, arena_printf(r->p->arena, "def %s(", dot + 1)))
        return NULL;
    struct strbuf call;
    struct value *v = NULL;
    strbuf_init(&call);
    strbuf_printf(&call, "%s\n\n_loaded = %s(", text, dot + 1);
    if (add_arguments(&call, arguments)) {
        strbuf_addstr(&call, ")\n");
        v = last_line(r, arena_strdup(r->p->arena, strbuf_get(&call)), call.len,
                      "_loaded", line);
    }
    strbuf_release(&call);
    return v;
}

/* Statements ----------------------------------------------------------------------- */

/* What a module of the user's own binds: NAME of `from`, or all of a module. */
static void import_own(struct python_parser *r, const char *from, const char *path,
                       const char *name, int64_t line)
{
    bool relative = from && strcmp(from, ".") == 0;
    const char *module =
        !from || relative ? path : arena_printf(r->p->arena, "%s.%s", from, path);
    const struct python_import all = { module, NULL, name, line };
    const struct python_import one = { from, path, name, line };
    if (!python_import(r, &all) && from && !relative)
        python_import(r, &one);
}

/* from a.b import C as D, E, and import F: what D, E and F name, when they are called. */
static void read_imports(struct python_parser *r, const char *from)
{
    bool bracket = python_at(r, "(");
    if (bracket)
        python_open(r);
    while (!python_stopped(r) && r->t.kind == TOKEN_NAME) {
        int64_t line = r->t.line;
        const char *path = python_path(r), *name = path;
        if (python_at(r, "as")) {
            python_advance(r);
            name = r->t.kind == TOKEN_NAME ? python_path(r) : path;
        }
        if (from || name != path || !strchr(path, '.')) {
            struct value *v = python_unknown(r, line, "it is imported");
            v->text = from ? arena_printf(r->p->arena, "%s.%s", from, path) : path;
            v->integer = PYTHON_SOMETHING;
            python_bind(r, name, v);
        }
        import_own(r, from, path, name, line);
        if (!python_at(r, ","))
            break;
        python_advance(r);
    }
    if (bracket)
        python_close(r, ")");
    else if (python_at(r, "*")) {
        const struct python_import all = { from, NULL, NULL, r->t.line };
        if (from)
            python_import(r, &all);
        python_advance(r);
    }
}

/* Whether a module is of other devices than NVIDIA's GPUs, and is not there: what tries to
 * import it goes on with what it has for that. */
static bool is_elsewhere(const char *module)
{
    static const char *const roots[] = {
        "torch_xla",         "torch_npu",  "torch_neuronx",
        "habana_frameworks", "torch_musa", "intel_extension_for_pytorch",
        "torch_neuron",      "mlx",        NULL
    };
    for (const char *const *m = roots; *m; m++) {
        size_t n = strlen(*m);
        if (strncmp(module, *m, n) == 0 && (!module[n] || module[n] == '.'))
            return true;
    }
    return false;
}

void python_read_import(struct python_parser *r)
{
    const char *from = NULL;
    if (python_at(r, "from")) {
        python_advance(r);
        while (python_at(r, ".") || python_at(r, "..."))
            python_advance(r);
        from =
            r->t.kind == TOKEN_NAME && !python_at(r, "import") ? python_path(r) : ".";
        r->failed |= !python_at(r, "import");
    }
    python_advance(r);
    bool absent =
        r->in.tries && r->t.kind == TOKEN_NAME &&
        is_elsewhere(from ? from : arena_strndup(r->p->arena, r->t.s, (size_t)r->t.n));
    read_imports(r, from);
    if (absent && !r->failed)
        r->in.stop = PYTHON_RAISE;
}
