/* Sizes of a model that the text builds, by the names that most call them, where its modules
 * do not say them: n_head of its settings. */
#include "base/names.h"
#include "dialect/user_script/user_script_stack.h"

enum { WALK_MAX = 6 };

/* A number among the members of an object, at any depth. */
static int64_t member_of(const struct value *v, const char *const *names, int deep)
{
    int64_t n;
    for (const char *const *name = names; v && v->kind == VALUE_DICT && *name; name++) {
        const struct value_item *it = value_get(v, *name);
        if (it && launch_whole(it->value, &n) && n > 0)
            return n;
    }
    for (int32_t i = 0; v && v->kind == VALUE_DICT && deep < WALK_MAX && i < v->n;
         i++) {
        n = member_of(v->items[i].value, names, deep + 1);
        if (n > 0)
            return n;
    }
    return 0;
}

int64_t user_script_member(const struct value *v, const char *const *names)
{
    return member_of(v, names, 0);
}

/* Whether a number, if any, is the one that was found so far. */
static bool agrees(int64_t own, int64_t *found)
{
    bool same = !own || !*found || own == *found;
    *found = own ? own : *found;
    return same;
}

/* What an object, or settings by another name (llama_config), say: of classes defaults
 * alone are known. */
static int64_t said_by(const struct python_name *n, const char *const *names)
{
    const struct value *v = n->value;
    bool dict = v && v->kind == VALUE_DICT,
         settings = dict && (names_ends(n->name, "config") ||
                             names_ends(n->name, "args") || names_ends(n->name, "cfg"));
    return dict && (settings || !v->text) ? member_of(v, names, WALK_MAX) : 0;
}

/* What objects say that modules are given: CausalSelfAttention(config). 0: they differ. */
static int64_t given_to_modules(const struct python *p, const char *const *names)
{
    int64_t found = 0;
    for (int64_t i = 0; i < p->modules.n; i++) {
        const struct value *v = value_member(p->modules.v[i].arguments, "0");
        bool object = v && v->kind == VALUE_DICT && v->text;
        if (object && !agrees(member_of(v, names, WALK_MAX), &found))
            return 0;
    }
    return found;
}

/* A number of the text that is called so, of its command's arguments, or else a member of
 * its objects, where all that have one agree: of classes defaults alone are known. 0:
 * there is none. */
int64_t user_script_size(const struct python *p, const char *const *names)
{
    static const char *const settings[] = { "config", "cfg",        "conf",
                                            "args",   "model_args", "model_config",
                                            "params", NULL };
    int64_t found = 0, own;
    for (int64_t i = 0; i < p->names.n; i++)
        if (names_listed(names, p->names.v[i].name) &&
            launch_whole(p->names.v[i].value, &own) && own > 0)
            return own;
    own = p->parsed ? member_of(p->parsed, names, WALK_MAX) : 0;
    for (int64_t i = p->left.n; i-- > 0 && !own;)
        if (names_listed(settings, p->left.v[i].name))
            own = member_of(p->left.v[i].value, names, 0);
    for (int64_t i = 0; i < p->names.n && !own; i++)
        if (names_listed(settings, p->names.v[i].name))
            own = member_of(p->names.v[i].value, names, 0);
    if (own)
        return own;
    for (int64_t i = 0; i < p->left.n; i++)
        if (!agrees(said_by(&p->left.v[i], names), &found))
            return 0;
    for (int64_t i = 0; i < p->names.n; i++)
        if (!agrees(said_by(&p->names.v[i], names), &found))
            return 0;
    return found ? found : given_to_modules(p, names);
}
