/* Functions of Python that make lists and dictionaries. */
#include "dialect/python/python_builtin.h"

static struct value *to_list(struct python_parser *r, const struct python_arguments *a)
{
    struct value *list =
        a->first ? python_items(r, a->first) : python_new(r, VALUE_LIST, a->line);
    return list ? list : python_lost(r, a, "list()");
}

static struct value *reversed(struct python_parser *r, const struct python_arguments *a)
{
    struct value *list = a->first ? python_items(r, a->first) : NULL;
    for (int32_t i = 0; list && i < list->n / 2; i++) {
        struct value_item it = list->items[i];
        list->items[i] = list->items[list->n - 1 - i];
        list->items[list->n - 1 - i] = it;
    }
    return list ? list : python_lost(r, a, "reversed()");
}

static struct value *range_of(struct python_parser *r, const struct python_arguments *a)
{
    int64_t from = 0, to = 0, step = 1;
    const struct value *ends[] = { a->first, a->second, a->third };
    for (int i = 0; i < 3; i++)
        if (ends[i] && ends[i]->kind != VALUE_INT)
            return python_unknown(r, a->line, "%s",
                                  ends[i]->kind == VALUE_UNKNOWN ? ends[i]->why
                                                                 : "it is a range");
    if (!a->first)
        return python_lost(r, a, "range()");
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

/* The number of an item from a start on, which need not be known. */
static struct value *number_of(struct python_parser *r,
                               const struct python_arguments *a,
                               const struct value *from, int32_t i)
{
    if (from && (from->kind != VALUE_INT || from->integer >= 1 << 30 ||
                 from->integer < -(1 << 30)))
        return python_unknown(r, a->line, "%s",
                              from->kind == VALUE_UNKNOWN
                                  ? from->why
                                  : "enumerate() starts at what is no number");
    return python_int(r, a->line, (from ? from->integer : 0) + i);
}

/* enumerate(x, 1) and zip(x, y): pairs. */
static struct value *pairs_of(struct python_parser *r, const struct python_arguments *a,
                              const struct value *x, const struct value *y,
                              const struct value *from)
{
    const struct value *firsts = x ? python_items(r, x) : NULL;
    const struct value *seconds = y ? python_items(r, y) : NULL;
    if (!seconds || (x && !firsts))
        return python_lost(r, a, x ? "zip()" : "enumerate()");
    struct value *list = python_new(r, VALUE_LIST, a->line);
    for (int32_t i = 0; i < seconds->n && (!x || i < firsts->n) && !r->limit; i++) {
        struct value *pair = python_new(r, VALUE_LIST, a->line);
        python_append(r, pair, x ? firsts->items[i].value : number_of(r, a, from, i));
        python_append(r, pair, seconds->items[i].value);
        python_append(r, list, pair);
    }
    return list;
}

static struct value *enumerated(struct python_parser *r,
                                const struct python_arguments *a)
{
    return pairs_of(r, a, NULL, a->first, python_placed(a, a->second, "start"));
}

static struct value *zipped(struct python_parser *r, const struct python_arguments *a)
{
    return a->third ? python_lost(r, a, "zip()")
                    : pairs_of(r, a, a->first, a->second, NULL);
}

/* dict(other, a=1); of a list of pairs too. */
static struct value *to_dict(struct python_parser *r, const struct python_arguments *a)
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
            return python_lost(r, a, "dict()");
        python_put(r, v, key, pair->line, pair->items[1].value);
    }
    if (!pairs)
        python_merge(r, v, a->first);
    for (int32_t i = 1; i < a->all->n; i++)
        python_put(r, v, a->all->items[i].key, a->all->items[i].line,
                   a->all->items[i].value);
    return v;
}

/* vars(args): what the object has, which is a dictionary here, and the same. */
static struct value *variables(struct python_parser *r,
                               const struct python_arguments *a)
{
    return a->first && a->first->kind == VALUE_DICT ? a->first
                                                    : python_lost(r, a, "vars()");
}

/* argparse.Namespace(a=1, **vars(other)): an object of its arguments. */
static struct value *namespace(struct python_parser *r,
                               const struct python_arguments *a)
{
    (void)r;
    return a->all;
}

/* _pair(16): (16, 16) of one number. */
static struct value *pair_of(struct python_parser *r, const struct python_arguments *a)
{
    if (!a->first || a->first->kind == VALUE_UNKNOWN)
        return python_lost(r, a, "_pair()");
    if (a->first->kind == VALUE_LIST)
        return (struct value *)(uintptr_t)a->first;
    struct value *v = python_new(r, VALUE_LIST, a->line);
    python_append(r, v, (struct value *)(uintptr_t)a->first);
    python_append(r, v, (struct value *)(uintptr_t)a->first);
    return v;
}

const struct python_function_row python_lists[] = {
    { "torch.nn.modules.utils._pair", pair_of },
    { "timm.layers.to_2tuple", pair_of },
    { "timm.models.layers.to_2tuple", pair_of },
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
    /* whose members are attributes, too: dictionaries of other libraries */
    { "Box", to_dict },
    { "box.Box", to_dict },
    { "EasyDict", to_dict },
    { "easydict.EasyDict", to_dict },
    { "edict", to_dict },
    { "AttrDict", to_dict },
    { "attrdict.AttrDict", to_dict },
    { "AttributeDict", to_dict },
    { "Munch", to_dict },
    { "munch.Munch", to_dict },
    { "munchify", to_dict },
    { "munch.munchify", to_dict },
    { "DotMap", to_dict },
    { "dotmap.DotMap", to_dict },
    { "addict.Dict", to_dict },
    { "ml_collections.ConfigDict", to_dict },
    { "ml_collections.config_dict.ConfigDict", to_dict },
    { "ConfigDict", to_dict },
    { "OmegaConf.create", to_dict },
    { "omegaconf.OmegaConf.create", to_dict },
    { "omegaconf.DictConfig", to_dict },
    { NULL, NULL },
};
