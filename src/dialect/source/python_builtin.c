/* Functions of Python and of its library that literals are given to: none is run, the
 * plain ones are known. */
#include "base/names.h"
#include "dialect/source/python_parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    struct value *all;
    struct value *first, *second, *third; /* NULL: not given */
    int64_t line;
};

typedef struct value *function_of(struct python_parser *r, const struct arguments *a);

static bool is_number(const struct value *v)
{
    return v &&
           (v->kind == VALUE_INT || v->kind == VALUE_REAL || v->kind == VALUE_BOOL);
}

static double number(const struct value *v)
{
    return v->kind == VALUE_REAL ? v->real : (double)v->integer;
}

/* Not known, and why of the argument's, if that is not. */
static struct value *lost(struct python_parser *r, const struct arguments *a,
                          const char *what)
{
    const struct value *v = a->first;
    struct value *u = v && v->kind == VALUE_UNKNOWN
                          ? python_unknown(r, a->line, "%s", v->why)
                          : python_unknown(r, a->line, "%s is a call", what);
    u->text = v ? v->text : NULL;
    return u;
}

/* Numbers -------------------------------------------------------------------------- */

static struct value *whole_of(struct python_parser *r, const struct arguments *a,
                              double x, const char *what)
{
    if (!(fabs(x) < 9e18))
        return lost(r, a, what);
    return python_int(r, a->line, (int64_t)x);
}

static struct value *to_int(struct python_parser *r, const struct arguments *a)
{
    if (!a->first)
        return python_int(r, a->line, 0);
    if (a->first->kind == VALUE_REAL)
        return whole_of(r, a, trunc(a->first->real), "int()");
    if (is_number(a->first))
        return python_int(r, a->line, a->first->integer);
    if (a->first->kind == VALUE_STRING && !a->second) {
        char *end;
        errno = 0;
        long long n = strtoll(a->first->text, &end, 10);
        if (end != a->first->text && !*end && !errno)
            return python_int(r, a->line, n);
    }
    return lost(r, a, "int()");
}

static struct value *to_float(struct python_parser *r, const struct arguments *a)
{
    if (is_number(a->first))
        return python_real(r, a->line, number(a->first));
    if (a->first && a->first->kind == VALUE_STRING) {
        char *end;
        double x = strtod(a->first->text, &end);
        if (end != a->first->text && !*end && isfinite(x))
            return python_real(r, a->line, x);
    }
    return lost(r, a, "float()");
}

static struct value *to_str(struct python_parser *r, const struct arguments *a)
{
    const char *text = a->first ? python_string(r, a->first) : "";
    return text ? python_text(r, a->line, text) : lost(r, a, "str()");
}

static struct value *to_bool(struct python_parser *r, const struct arguments *a)
{
    int truth = a->first ? python_truth(a->first) : 0;
    return truth >= 0 ? python_bool(r, a->line, truth) : lost(r, a, "bool()");
}

static struct value *length(struct python_parser *r, const struct arguments *a)
{
    const struct value *v = a->first;
    if (v && v->kind == VALUE_STRING) {
        int64_t n = 0;
        for (const char *s = v->text; *s; s++)
            n += ((unsigned char)*s & 0xc0) != 0x80;
        return python_int(r, a->line, n);
    }
    bool known = v && (v->kind == VALUE_LIST || v->kind == VALUE_DICT) && !v->gap;
    return known ? python_int(r, a->line, v->n) : lost(r, a, "len()");
}

/* max(a, b) and max([a, b]), `sign` -1 for min. */
static struct value *extreme(struct python_parser *r, const struct arguments *a,
                             int sign)
{
    const struct value *list = a->second ? a->all : a->first;
    struct value *best = NULL;
    bool known = list && !list->gap &&
                 (list->kind == VALUE_LIST || (list->kind == VALUE_DICT && a->second));
    for (int32_t i = 0; known && i < list->n; i++) {
        struct value *v = list->items[i].value;
        if (v->kind == VALUE_UNKNOWN)
            return python_unknown(r, a->line, "%s", v->why);
        known = is_number(v) &&
                (!list->items[i].key || isdigit((unsigned char)*list->items[i].key));
        if (known && (!best || sign * number(v) > sign * number(best)))
            best = v;
    }
    return known && best ? best : lost(r, a, sign > 0 ? "max()" : "min()");
}

static struct value *largest(struct python_parser *r, const struct arguments *a)
{
    return extreme(r, a, 1);
}

static struct value *smallest(struct python_parser *r, const struct arguments *a)
{
    return extreme(r, a, -1);
}

static struct value *sum_of(struct python_parser *r, const struct arguments *a)
{
    struct value *v = a->second ? a->second : python_int(r, a->line, 0);
    if (!a->first || a->first->kind != VALUE_LIST || a->first->gap)
        return lost(r, a, "sum()");
    for (int32_t i = 0; i < a->first->n; i++)
        v = python_calculate(r, "+", v, a->first->items[i].value);
    return v;
}

static struct value *absolute(struct python_parser *r, const struct arguments *a)
{
    if (!is_number(a->first) || a->first->integer == INT64_MIN)
        return lost(r, a, "abs()");
    return a->first->kind == VALUE_REAL
               ? python_real(r, a->line, fabs(a->first->real))
               : python_int(r, a->line, llabs(a->first->integer));
}

static struct value *rounded(struct python_parser *r, const struct arguments *a)
{
    if (!is_number(a->first) || a->second)
        return lost(r, a, "round()");
    return whole_of(r, a, nearbyint(number(a->first)), "round()"); /* to even */
}

static struct value *ceiling(struct python_parser *r, const struct arguments *a)
{
    return is_number(a->first) ? whole_of(r, a, ceil(number(a->first)), "math.ceil()")
                               : lost(r, a, "math.ceil()");
}

static struct value *floor_of(struct python_parser *r, const struct arguments *a)
{
    return is_number(a->first) ? whole_of(r, a, floor(number(a->first)), "math.floor()")
                               : lost(r, a, "math.floor()");
}

/* Lists ---------------------------------------------------------------------------- */

static struct value *to_list(struct python_parser *r, const struct arguments *a)
{
    struct value *list =
        a->first ? python_items(r, a->first) : python_new(r, VALUE_LIST, a->line);
    return list ? list : lost(r, a, "list()");
}

static struct value *reversed(struct python_parser *r, const struct arguments *a)
{
    struct value *list = a->first ? python_items(r, a->first) : NULL;
    for (int32_t i = 0; list && i < list->n / 2; i++) {
        struct value_item it = list->items[i];
        list->items[i] = list->items[list->n - 1 - i];
        list->items[list->n - 1 - i] = it;
    }
    return list ? list : lost(r, a, "reversed()");
}

static struct value *range_of(struct python_parser *r, const struct arguments *a)
{
    int64_t from = 0, to = 0, step = 1;
    const struct value *ends[] = { a->first, a->second, a->third };
    for (int i = 0; i < 3; i++)
        if (ends[i] && ends[i]->kind != VALUE_INT)
            return python_unknown(r, a->line, "%s",
                                  ends[i]->kind == VALUE_UNKNOWN ? ends[i]->why
                                                                 : "it is a range");
    if (!a->first)
        return lost(r, a, "range()");
    from = a->second ? a->first->integer : 0;
    to = a->second ? a->second->integer : a->first->integer;
    step = a->third ? a->third->integer : 1;
    struct value *list = python_new(r, VALUE_LIST, a->line);
    for (int64_t i = from; step && (step > 0 ? i < to : i > to) && !r->limit;) {
        if (list->n == PYTHON_ITEMS_MAX)
            return python_unknown(r, a->line, "it is a range of more than %d numbers",
                                  PYTHON_ITEMS_MAX);
        python_append(r, list, python_int(r, a->line, i));
        if (__builtin_add_overflow(i, step, &i))
            break;
    }
    return list;
}

/* enumerate(x, 1) and zip(x, y): pairs. */
static struct value *pairs_of(struct python_parser *r, const struct arguments *a,
                              const struct value *x, const struct value *y,
                              int64_t from)
{
    const struct value *firsts = x ? python_items(r, x) : NULL;
    const struct value *seconds = y ? python_items(r, y) : NULL;
    if (!seconds || (x && !firsts))
        return lost(r, a, x ? "zip()" : "enumerate()");
    struct value *list = python_new(r, VALUE_LIST, a->line);
    for (int32_t i = 0; i < seconds->n && (!x || i < firsts->n) && !r->limit; i++) {
        struct value *pair = python_new(r, VALUE_LIST, a->line);
        python_append(r, pair,
                      x ? firsts->items[i].value : python_int(r, a->line, from + i));
        python_append(r, pair, seconds->items[i].value);
        python_append(r, list, pair);
    }
    return list;
}

static struct value *enumerated(struct python_parser *r, const struct arguments *a)
{
    const struct value_item *start = value_get(a->all, "start");
    const struct value *from = a->second ? a->second : start ? start->value : NULL;
    int64_t first =
        from && from->kind == VALUE_INT && from->integer < 1 << 30 ? from->integer : 0;
    return pairs_of(r, a, NULL, a->first, first);
}

static struct value *zipped(struct python_parser *r, const struct arguments *a)
{
    return a->third ? lost(r, a, "zip()") : pairs_of(r, a, a->first, a->second, 0);
}

/* dict(other, a=1); of a list of pairs too. */
static struct value *to_dict(struct python_parser *r, const struct arguments *a)
{
    if (!a->first)
        return a->all;
    struct value *v = python_new(r, VALUE_DICT, a->all->line);
    bool pairs = a->first->kind == VALUE_LIST && !a->first->gap;
    for (int32_t i = 0; pairs && i < a->first->n && !r->limit; i++) {
        const struct value *pair = a->first->items[i].value;
        const char *key = pair->kind == VALUE_LIST && pair->n == 2
                              ? python_key(r, pair->items[0].value)
                              : NULL;
        if (!key)
            return lost(r, a, "dict()");
        python_put(r, v, key, pair->line, pair->items[1].value);
    }
    if (!pairs)
        python_merge(r, v, a->first);
    for (int32_t i = 1; i < a->all->n; i++)
        python_put(r, v, a->all->items[i].key, a->all->items[i].line,
                   a->all->items[i].value);
    return v;
}

/* vars(args): what the object has, which is a dictionary here. */
static struct value *variables(struct python_parser *r, const struct arguments *a)
{
    bool known = a->first && a->first->kind == VALUE_DICT;
    struct value *v = known ? python_copy(r, a->first) : lost(r, a, "vars()");
    if (known)
        v->gap = a->first->gap;
    return v;
}

/* argparse.Namespace(a=1, **vars(other)): an object of its arguments. */
static struct value *namespace(struct python_parser *r, const struct arguments *a)
{
    (void)r;
    return a->all;
}

/* The library ---------------------------------------------------------------------- */

/* os.environ.get("NAME", default), os.getenv: what the text has set, or nobody has. */
static struct value *environment(struct python_parser *r, const struct arguments *a)
{
    const char *name =
        a->first && a->first->kind == VALUE_STRING ? a->first->text : "a variable";
    const struct value_item *named = value_get(a->all, "default");
    struct value *other = a->second ? a->second : named ? named->value : NULL;
    const struct value *set = python_find(r, PYTHON_ENVIRONMENT);
    const struct value_item *own =
        set && set->kind == VALUE_DICT ? value_get(set, name) : NULL;
    if (own)
        return own->value;
    if (!other)
        return python_unknown(r, a->line, "%.60s of the environment is not known",
                              name);
    const char *shown = python_string(r, other);
    python_note(r, a->line,
                "%.60s of the environment is taken to be %.60s, its default "
                "here",
                name, shown ? shown : "its default");
    return other;
}

/* ParameterInteger(name="Count", default_value=2) of a pipeline of SageMaker's
 * (sagemaker-python-sdk 2.2x and 3.x, workflow/parameters.py): what a start that gives no
 * other is given. */
static struct value *pipeline_parameter(struct python_parser *r,
                                        const struct arguments *a)
{
    const struct value_item *named = value_get(a->all, "name"),
                            *other = value_get(a->all, "default_value");
    const struct value *id = named ? named->value : a->first;
    const char *name = id && id->kind == VALUE_STRING ? id->text : "a parameter";
    struct value *v = other ? other->value : a->second;
    if (!v || v->kind == VALUE_NONE)
        return python_unknown(r, a->line,
                              "%.60s is a parameter of the pipeline, which its start "
                              "gives",
                              name);
    const char *shown = python_string(r, v);
    if (shown)
        python_note(r, a->line,
                    "%.60s, a parameter of the pipeline, is taken to be %.60s, its "
                    "default",
                    name, shown);
    return v;
}

static struct value *path_join(struct python_parser *r, const struct arguments *a)
{
    struct strbuf b;
    const char *why = a->all->gap || !a->all->n ? "os.path.join() is a call" : NULL;
    strbuf_init(&b);
    for (int32_t i = 0; i < a->all->n && !why && b.len < PYTHON_STRING_MAX; i++) {
        const struct value *v = a->all->items[i].value;
        if (v->kind != VALUE_STRING) {
            why = v->kind == VALUE_UNKNOWN ? v->why : "os.path.join() is a call";
            continue;
        }
        if (*v->text == '/')
            strbuf_release(&b), strbuf_init(&b);
        bool slash = b.len && strbuf_get(&b)[b.len - 1] != '/';
        strbuf_printf(&b, "%s%s", slash ? "/" : "", v->text);
    }
    struct value *v =
        why ? python_unknown(r, a->line, "%s", why)
            : python_text(r, a->line, arena_strdup(r->p->arena, strbuf_get(&b)));
    if (why && a->all->n) /* its last part says most */
        v->text = a->all->items[a->all->n - 1].value->text;
    strbuf_release(&b);
    return v;
}

static struct value *deep_copy(struct python_parser *r, const struct arguments *a)
{
    return a->first ? python_deep_copy(r, a->first) : lost(r, a, "deepcopy()");
}

static struct value *device_count(struct python_parser *r, const struct arguments *a)
{
    if (r->wanted->gpu.count)
        return python_int(r, a->line, r->wanted->gpu.count);
    return python_unknown(r, a->line,
                          "device_count() is the instance's number of GPUs");
}

static struct value *world_size(struct python_parser *r, const struct arguments *a)
{
    if (r->wanted->gpu.world > 0)
        return python_int(r, a->line, r->wanted->gpu.world);
    return python_unknown(r, a->line,
                          "get_world_size() is the number of GPUs (--set "
                          "/cluster/instance=NAME and /cluster/count=N)");
}

/* sm80 and newer compute in bf16 (torch/cuda/__init__.py, PyTorch 2.4). */
static struct value *bf16_supported(struct python_parser *r, const struct arguments *a)
{
    if (r->wanted->gpu.arch)
        return python_bool(r, a->line, r->wanted->gpu.arch >= 80);
    return python_unknown(r, a->line,
                          "whether bf16 is supported, is the instance's GPU to say "
                          "(--set /cluster/instance=NAME)");
}

static struct value *capability(struct python_parser *r, const struct arguments *a)
{
    int64_t arch = r->wanted->gpu.arch;
    if (!arch)
        return python_unknown(r, a->line,
                              "get_device_capability() is the instance's GPU's (--set "
                              "/cluster/instance=NAME)");
    struct value *v = python_new(r, VALUE_LIST, a->line);
    python_put(r, v, NULL, a->line, python_int(r, a->line, arch / 10));
    python_put(r, v, NULL, a->line, python_int(r, a->line, arch % 10));
    return v;
}

/* torch.cuda.is_available(): a job that is simulated has GPUs. */
static struct value *available(struct python_parser *r, const struct arguments *a)
{
    return python_bool(r, a->line, true);
}

/* field(default=1) and field(default_factory=lambda: [1]) of a dataclass. */
static struct value *field(struct python_parser *r, const struct arguments *a)
{
    const struct value_item *it = value_get(a->all, "default"),
                            *made = value_get(a->all, "default_factory");
    if (made && made->value->kind == VALUE_UNKNOWN && made->value->items)
        return made->value->items[0].value;
    return it ? it->value : python_unknown(r, a->line, "its field has no default here");
}

bool python_is_dtype(const char *path)
{
    static const char *const types[] = { "bfloat16", "float16", "half", "float32",
                                         "float",    "float64", NULL };
    return strncmp(path, "torch.", 6) == 0 && names_listed(types, path + 6);
}

/* getattr(torch, "bfloat16"), getattr(options, "size", 1). */
static struct value *attribute(struct python_parser *r, const struct arguments *a)
{
    const struct value *x = a->first;
    const char *key = a->second ? python_key(r, a->second) : NULL;
    const struct value_item *it = key ? value_get(x, key) : NULL;
    const char *path = x && key && x->kind == VALUE_UNKNOWN && x->text
                           ? arena_printf(r->p->arena, "%s.%s", x->text, key)
                           : "";
    if (it)
        return it->value;
    if (python_is_dtype(path))
        return python_text(r, a->line, path);
    if (a->third && x && x->kind == VALUE_DICT && !x->gap)
        return a->third;
    return lost(r, a, "getattr()");
}

struct value *python_builtin(struct python_parser *r, const char *function,
                             struct value *arguments, int64_t line)
{
    static const struct {
        const char *name;
        function_of *call;
    } rows[] = {
        { "int", to_int },
        { "float", to_float },
        { "str", to_str },
        { "bool", to_bool },
        { "len", length },
        { "max", largest },
        { "min", smallest },
        { "sum", sum_of },
        { "abs", absolute },
        { "round", rounded },
        { "math.ceil", ceiling },
        { "math.floor", floor_of },
        { "list", to_list },
        { "tuple", to_list },
        { "reversed", reversed },
        { "range", range_of },
        { "enumerate", enumerated },
        { "zip", zipped },
        { "dict", to_dict },
        { "vars", variables },
        { "argparse.Namespace", namespace },
        { "Namespace", namespace },
        { "types.SimpleNamespace", namespace },
        { "SimpleNamespace", namespace },
        { "OrderedDict", to_dict },
        { "collections.OrderedDict", to_dict },
        { "os.environ.get", environment },
        { "os.getenv", environment },
        { "os.path.join", path_join },
        { "Path", path_join },
        { "pathlib.Path", path_join },
        { "deepcopy", deep_copy },
        { "copy.deepcopy", deep_copy },
        { "copy.copy", deep_copy },
        { "torch.cuda.device_count", device_count },
        { "torch.distributed.get_world_size", world_size },
        { "olmo_core.distributed.utils.get_world_size", world_size },
        { "torch.cuda.is_bf16_supported", bf16_supported },
        { "is_bf16_supported", bf16_supported },
        { "is_bfloat16_supported", bf16_supported }, /* Unsloth's */
        { "unsloth.is_bfloat16_supported", bf16_supported },
        { "unsloth.is_bf16_supported", bf16_supported },
        { "is_torch_bf16_gpu_available", bf16_supported },
        { "transformers.utils.is_torch_bf16_gpu_available", bf16_supported },
        { "torch.cuda.get_device_capability", capability },
        { "torch.cuda.is_available", available },
        { "getattr", attribute },
        { "field", field },
        { "dataclasses.field", field },
        { "*ParameterString", pipeline_parameter },
        { "*ParameterInteger", pipeline_parameter },
        { "*ParameterFloat", pipeline_parameter },
        { "*ParameterBoolean", pipeline_parameter },
    };
    struct arguments a = { .all = arguments, .line = line };
    const struct value_item *it = value_get(arguments, "0");
    a.first = it ? it->value : NULL;
    it = value_get(arguments, "1");
    a.second = it ? it->value : NULL;
    it = value_get(arguments, "2");
    a.third = it ? it->value : NULL;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].name, function) == 0 ||
            (*rows[i].name == '*' &&
             strcmp(rows[i].name + 1, python_last_part(function)) == 0))
            return rows[i].call(r, &a);
    return NULL;
}
