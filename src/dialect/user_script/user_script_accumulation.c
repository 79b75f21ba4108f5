/* How many microbatches a step of a text's own loop has: by a call of its optimizer that
 * not each backward() has, and by usual names. */
#include "base/names.h"
#include "dialect/user_script/user_script.h"

#include <ctype.h>
#include <string.h>

/* What gave the object of a method; SCRIPT_PARTS: nothing that is known. */
static enum user_script_part part_of_object(const struct python *p,
                                            const struct python_call *c)
{
    const struct python_call *made = c->of ? user_script_maker(p, c->of) : NULL;
    return made ? user_script_part_of(made) : SCRIPT_PARTS;
}

/* optimizer.step(), by its name or by what made it; where a text has none, the step() of
 * anything that is no schedule or bar. */
bool user_script_steps(const struct python *p, const struct python_call *c)
{
    static const char *const others[] = { "sched",  "lr",    "prof",     "env",
                                          "ema",    "warm",  "engine",   "bar",
                                          "timer",  "log",   "model",    "state",
                                          "update", "meter", "progress", NULL };
    const char *last = python_last_part(c->function);
    if (user_script_part_of(c) == SCRIPT_STEP)
        return true;
    if (strcmp(last, "step") != 0 || last == c->function)
        return false;
    if (part_of_object(p, c) == SCRIPT_OPTIMIZER)
        return true;
    for (int64_t i = 0; i < p->calls.n; i++)
        if (user_script_part_of(&p->calls.v[i]) == SCRIPT_STEP && !p->calls.v[i].quoted)
            return false;
    return part_of_object(p, c) == SCRIPT_PARTS && !names_within(others, c->function);
}

/* Whether a condition that is not known is by its words one of every few batches: if last:,
 * if should_step: */
static bool waits(const struct python_call *c)
{
    static const char *const words[] = { "accum", "boundary", "should_step", "do_step",
                                         "last",  "update",   NULL };
    return c->unsure && c->condition && names_within(words, c->condition);
}

static bool is_within(const struct python_call *c, const struct python_call *other)
{
    return c->within == other->within ||
           (c->within && other->within && strcmp(c->within, other->within) == 0);
}

/* The loops around the backward() of the deepest, of the function that a step is in; of any
 * other, where that has none. */
static int32_t deepest_backward(const struct python *p, const struct python_call *step)
{
    int32_t deepest = -1, any = 0;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (user_script_part_of(c) != SCRIPT_BACKWARD || c->quoted)
            continue;
        any = c->loops > any ? c->loops : any;
        deepest = is_within(c, step) && c->loops > deepest ? c->loops : deepest;
    }
    return deepest < 0 ? any : deepest;
}

/* Whether a step is in a loop of its own, over optimizers: a backward() of the function
 * that it is in, and none of that loop. */
static bool has_own_loop(const struct python *p, const struct python_call *step)
{
    bool any = false;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (user_script_part_of(c) != SCRIPT_BACKWARD || c->quoted ||
            !is_within(c, step))
            continue;
        any = true;
        if (c->loop == step->loop || (c->line > step->loop && c->line < step->line))
            return false;
    }
    return any && step->loop > 0;
}

/* The call of an optimizer that not each backward() has: every few of them, or after a
 * loop of theirs. NULL: there is none. */
static const struct python_call *periodic_step(const struct user_script *g)
{
    const struct python *p = g->python;
    const struct python_call *step = NULL;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (user_script_steps(p, c) && !c->quoted && (!step || !step->every))
            step = c;
    }
    if (!step)
        return NULL;
    int32_t loops = step->loops - has_own_loop(p, step);
    return step->every || loops < deepest_backward(p, step) || waits(step) ? step
                                                                           : NULL;
}

/* Calls as another at its line; -1: some are under a condition that is not known. */
static int64_t calls_at(const struct python *p, const struct python_call *as)
{
    int64_t n = 0;
    for (int64_t i = 0; i < p->calls.n && n >= 0; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (strcmp(c->function, as->function) == 0 && !c->quoted && c->line == as->line)
            n = c->unsure ? -1 : n + 1;
    }
    return n;
}

/* How many backward() each step of the optimizer has, where loops of known lengths are
 * read; 0: they say nothing, -1: not for certain. Where one was not read to its end, the
 * last step may have fewer. */
static int64_t counted_microbatches(const struct user_script *g)
{
    const struct python *p = g->python;
    const struct python_call *step = NULL, *backward = NULL;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        enum user_script_part part = user_script_part_of(c);
        step = user_script_steps(p, c) && !c->quoted ? c : step;
        backward = part == SCRIPT_BACKWARD && !c->quoted ? c : backward;
    }
    int64_t n = backward ? calls_at(p, backward) : 0,
            steps = step ? calls_at(p, step) : 0;
    if (backward && !step)
        return p->cut && n > 1 ? -1 : 0;
    if (n < 1 || steps < 1 || n <= steps)
        return 0;
    int64_t k = n / steps;
    bool inner = step->loops < backward->loops && n % steps == 0 && !p->cut,
         sure = k <= steps && n - k * steps < k;
    return inner || sure ? k : -1;
}

/* Whether a name is usual for how many microbatches a step has. */
static bool counts_microbatches(const char *name)
{
    static const char *const of[] = { "step", "iter", "grad", "freq", "every", "num" };
    char lower[64];
    size_t n = 0;
    for (const char *s = python_last_part(name); *s && n + 1 < sizeof(lower); s++)
        lower[n++] = (char)tolower((unsigned char)*s);
    lower[n] = '\0';
    bool any = strcmp(lower, "accumulation") == 0 || strstr(lower, "grad_acc");
    for (size_t i = 0; !any && strstr(lower, "accum") && i < sizeof(of) / sizeof(of[0]);
         i++)
        any = strstr(lower, of[i]) != NULL;
    return any;
}

/* What is found so far: a number goes before what is not known. */
struct microbatches {
    const struct value *v; /* NULL: nothing */
    const char *name;
    const char *other; /* of the same object, whose number is another; or NULL */
};

/* 4.0, too, as divisions give it. */
static bool is_number(const struct value *v)
{
    return v->kind == VALUE_INT || v->kind == VALUE_REAL;
}

static void look_at(struct microbatches *m, const char *name, const struct value *v)
{
    int64_t n;
    bool imported = v && v->kind == VALUE_UNKNOWN && v->why &&
                    strcmp(v->why, "it is imported") == 0;
    bool number = v && is_number(v) && launch_whole(v, &n) && n >= 1,
         before = m->v && is_number(m->v);
    if (v && !before && !imported && counts_microbatches(name) &&
        (number || (!m->v && v->kind == VALUE_UNKNOWN)))
        *m = (struct microbatches) { v, name, NULL };
}

/* Whether an object's field is by its name such a number too, and another. */
static bool differs(const struct microbatches *m, const struct value_item *it)
{
    int64_t n, first;
    return m->v && is_number(m->v) && is_number(it->value) &&
           counts_microbatches(it->key) && launch_whole(it->value, &n) && n >= 1 &&
           launch_whole(m->v, &first) && n != first;
}

/* Fields of objects of the text's classes; `classes`: those that the classes have. */
static void look_at_fields(struct microbatches *m, const struct python *p, bool classes)
{
    for (int64_t i = 0; i < p->names.n; i++) {
        const struct value *v = p->names.v[i].value;
        bool fields = v && v->kind == VALUE_DICT && v->text &&
                      (strcmp(v->text, p->names.v[i].name) == 0) == classes;
        for (int32_t k = 0; fields && k < v->n; k++) {
            look_at(m, v->items[k].key, v->items[k].value);
            if (!classes && differs(m, &v->items[k]))
                m->other = v->items[k].key;
        }
    }
}

/* By usual names: of the text, its functions, its argparse, fields of its objects, and of
 * classes where no object has one. */
static struct microbatches named_microbatches(const struct python *p)
{
    struct microbatches m = { NULL, "", NULL };
    for (int64_t i = 0; i < p->names.n; i++)
        look_at(&m, p->names.v[i].name, p->names.v[i].value);
    for (int64_t i = 0; i < p->left.n; i++)
        look_at(&m, p->left.v[i].name, p->left.v[i].value);
    for (int32_t i = 0; p->parsed && i < p->parsed->n; i++)
        look_at(&m, p->parsed->items[i].key, p->parsed->items[i].value);
    look_at_fields(&m, p, false);
    if (!m.v)
        look_at_fields(&m, p, true);
    return m;
}

/* Whether a loop of PyTorch alone calls its optimizer after each backward(), for certain. */
static bool steps_each(const struct user_script *g)
{
    bool steps = false, back = false;
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        enum user_script_part part = user_script_part_of(c);
        bool step = user_script_steps(g->python, c);
        if (c->quoted || (!step && part != SCRIPT_BACKWARD))
            continue;
        if (c->unsure || c->imported || !c->loops || c->every)
            return false;
        steps |= step;
        back |= part == SCRIPT_BACKWARD;
    }
    return steps && back && !g->parts[SCRIPT_ACCELERATOR] &&
           !g->parts[SCRIPT_LIGHTNING] && !g->parts[SCRIPT_BOOSTER] &&
           !g->parts[SCRIPT_HOROVOD];
}

static void take_counted(struct launch_context *t, const struct user_script *g,
                         int64_t n)
{
    const struct python_call *c = g->parts[SCRIPT_BACKWARD];
    struct value one = { .line = g->line ? g->line : c ? c->line : 0 };
    const struct value_item from = { "backward() of a step", one.line, &one };
    launch_set(t, "/training/gradient_accumulation_steps", json_integer((json_int_t)n),
               &from);
}

/* Of loops that no argument of a trainer counts. */
void user_script_take_accumulation(struct launch_context *t,
                                   const struct user_script *g)
{
    static const char at[] = "/training/gradient_accumulation_steps";
    const struct python_call *step = periodic_step(g);
    const int64_t counted = counted_microbatches(g);
    const struct microbatches m = named_microbatches(g->python);
    int64_t n = 0;
    bool number = m.v && is_number(m.v) && launch_whole(m.v, &n),
         every = step && step->every > 0;
    if (g->parts[SCRIPT_TRAINER] || g->parts[SCRIPT_ARGUMENTS] ||
        g->parts[SCRIPT_ENGINE] || launch_has(t, at) || launch_is_unresolved(t, at))
        return;
    if (counted > 0 && !(number && n == counted)) {
        take_counted(t, g, counted);
        return;
    }
    if (counted == 0 && !step && !(number && n == 1) && steps_each(g))
        return; /* a number of that name does something else */
    if (number && m.other && !every) {
        launch_add_unresolved(t, at,
                              g->line ? g->line
                              : step  ? step->line
                                      : 0,
                              "%.60s and %.60s are different numbers: which of them "
                              "the loop counts by is not known",
                              m.name, m.other);
    } else if (m.v && (number ? !every || step->every == n : !every)) {
        struct value one = *m.v;
        one.kind = number ? VALUE_INT : one.kind;
        one.integer = number ? n : one.integer;
        one.line = g->line ? g->line : m.v->line < 0 ? -m.v->line : m.v->line;
        const struct value_item from = { m.name, one.line, &one };
        dialect_take_as(t, &(struct dialect_option) { .pointer = at }, &from,
                        DIALECT_SIZE);
    } else if (every) {
        struct value one = { .line = g->line ? g->line : step->line };
        const struct value_item from = { step->function, one.line, &one };
        launch_set(t, at, json_integer((json_int_t)step->every), &from);
    } else if (step) {
        launch_add_unresolved(t, at, g->line ? g->line : step->line,
                              "%.60s() of line %lld is not called after each "
                              "backward(): how many batches a step has, is not known",
                              step->function, (long long)step->line);
    } else if (counted < 0) {
        launch_add_unresolved(t, at,
                              g->line ? g->line : g->parts[SCRIPT_BACKWARD]->line,
                              "the optimizer's step() is not called after each "
                              "backward(): how many batches a step has, is not known");
    }
}
