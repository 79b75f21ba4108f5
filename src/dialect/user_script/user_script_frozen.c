/* Parameters that a text switches off or, next to adapters, on: param.requires_grad = False
 * in a loop over names, module.requires_grad_(False). Which these are is read of whole
 * modules alone (user_script_freezes.c). */
#include "base/names.h"
#include "dialect/peft/peft.h"
#include "dialect/user_script/user_script_stack.h"

#include <stdio.h>
#include <string.h>

/* Of a second model, which is asked for elsewhere: "ref_model.requires_grad_". */
static bool is_second(const char *path)
{
    static const char *const parts[] = { "ref_", "reference", "teacher", "reward",
                                         "old_", "target_",   "encoding" };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(path, parts[i]))
            return true;
    return false;
}

/* Where the reader of a text's lines is: calls are asked about in the order of the text,
 * which so is read once. A call before the last one asked about starts it anew. */
struct reader {
    const char *text, *at; /* the whole; the line after those that were read */
    int64_t line;          /* of the last one that was */
    int64_t second; /* the last that heads a loop over a second model's parameters */
    int64_t loop;   /* over any's */
    bool named;     /* the last line speaks of requires_grad */
};

static void read_line(struct reader *r)
{
    enum { LINE_MAX = 160 };
    char line[LINE_MAX];
    size_t n = strcspn(r->at, "\n");
    snprintf(line, sizeof(line), "%.*s", n < LINE_MAX ? (int)n : LINE_MAX - 1, r->at);
    r->at += n + (r->at[n] != '\0');
    r->line++;
    r->named = strstr(line, "requires_grad");
    if (strstr(line, "for ") && strstr(line, "parameters()")) {
        r->loop = r->line;
        if (is_second(line))
            r->second = r->line;
    }
}

/* Whether a call is in a loop over the parameters of a second model, a few lines below its
 * head: "for p in self.ref_model.parameters():". */
static bool is_of_second(struct reader *r, const struct python_call *c)
{
    enum { LINES_ABOVE = 3 };
    if (c->line < r->line)
        *r = (struct reader) { .text = r->text, .at = r->text };
    while (r->line < c->line && *r->at)
        read_line(r);
    return r->line == c->line && r->named && /* else the line is of another text */
           r->second > 0 && r->second == r->loop && c->line - r->second <= LINES_ABOVE;
}

/* The first that is switched off, or by what is not known; NULL. `parts` is what all of
 * them switch off, where each is a part of the model; empty: that is not known. */
static const struct python_call *switched_off(struct launch_context *t,
                                              const struct python *p, json_t **parts)
{
    struct reader lines = { .text = p->text ? p->text : "" };
    const struct python_call *found = NULL;
    bool known = true;
    lines.at = lines.text;
    *parts = json_array();
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        const struct value *v = user_script_given(c, "requires_grad", "0");
        bool of = user_script_part_of(c) == SCRIPT_FROZEN && !c->quoted;
        bool off = v && v->kind == VALUE_BOOL && !v->integer;
        if (!of || is_second(c->function) || is_of_second(&lines, c))
            continue;
        known = known && off && user_script_freezes(*parts, t->arena, p, c);
        if (!found && v && (v->kind == VALUE_UNKNOWN || off))
            found = c;
    }
    if (!known)
        json_array_clear(*parts);
    return found;
}

/* Whether a function puts adapters of the program's own, or of loralib, into a model, or
 * leaves them alone trainable: inject_lora(model), mark_only_lora_as_trainable(model). */
static bool puts_adapters(const struct python_call *c)
{
    static const char *const others[] = {
        "save", "load",   "merge",   "state", "print", "count", "path",
        "name", "dir",    "onfig",   "parse", "args",  "num",   "eval",
        "test", "param",  "fetch",   "find",  "check", "has",   "is_",
        "log",  "Config", "lora_to", "fuse",  NULL
    };
    const char *last = python_last_part(c->function);
    bool only = strstr(last, "only") && strstr(last, "as_trainable");
    bool named = strstr(last, "lora") || strstr(last, "LoRA");
    return !c->quoted && !c->imported && user_script_part_of(c) == SCRIPT_PARTS &&
           (only || (named && !names_within(others, last)));
}

/* The parameters of such are trained alone, which their calls do not say whole. */
static void ask_adapters(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = NULL;
    for (int64_t i = 0; i < g->python->calls.n && !c; i++)
        if (puts_adapters(&g->python->calls.v[i]))
            c = &g->python->calls.v[i];
    if (!c || t->adapters || launch_has(t, PEFT_LORA) ||
        launch_is_unresolved(t, PEFT_LORA))
        return;
    launch_add_unresolved(t, PEFT_LORA, g->line ? g->line : c->line,
                          "%.60s(...) of line %lld: adapters of the program's own are "
                          "not read (null is none)",
                          c->function, (long long)c->line);
    launch_add_example(t, PEFT_LORA, PEFT_EXAMPLE);
}

void user_script_ask_frozen(struct launch_context *t, const struct user_script *g)
{
    static const char at[] = "/training/frozen";
    json_t *parts;
    const struct python_call *c = switched_off(t, g->python, &parts);
    ask_adapters(t, g);
    bool asks = c && !t->adapters && !launch_has(t, PEFT_LORA) &&
                !launch_is_unresolved(t, PEFT_LORA) && !launch_has(t, at) &&
                !launch_is_unresolved(t, at);
    if (asks && json_array_size(parts)) {
        struct value v = { .kind = VALUE_BOOL, .line = g->line ? g->line : c->line };
        launch_set(t, at, parts,
                   &(const struct value_item) { c->function, v.line, &v });
        launch_note(t->l, v.line, DIAG_APPROXIMATE,
                    "%.60s: frozen are whole modules by their names; norms of "
                    "embeddings go with those of layers, a pooler with the head",
                    c->function);
        return;
    }
    json_decref(parts);
    if (!asks)
        return;
    launch_add_unresolved(t, at, g->line ? g->line : c->line,
                          "%.60s%s at line %lld: which parameters are frozen is not "
                          "read; [] is none, and [\"embeddings\", \"layers 0-23\"] or "
                          "[\"vision_tower\"] what is frozen",
                          c->function,
                          user_script_given(c, "requires_grad", "0")->kind == VALUE_BOOL
                              ? " = False"
                              : "",
                          (long long)c->line);
}

/* The first that is switched on after the model has its adapters, before it is trained;
 * adapters themselves are on. NULL: none. */
static const struct python_call *switched_on(const struct user_script *g)
{
    const struct python_call *const *p = g->parts, *with = p[SCRIPT_WRAPPED];
    if (!with && p[SCRIPT_ADAPTERS] &&
        strcmp(python_last_part(p[SCRIPT_ADAPTERS]->function), "get_peft_model") == 0)
        with = p[SCRIPT_ADAPTERS]; /* Unsloth's */
    const struct python_call *until =
        p[SCRIPT_TRAINER] ? p[SCRIPT_TRAINER] : p[SCRIPT_BACKWARD];
    for (const struct python_call *c = with; c && c < until; c++) {
        const struct value *v = user_script_given(c, "requires_grad", "0");
        bool on = v ? v->kind == VALUE_BOOL && v->integer
                    : strcmp(python_last_part(c->function), "requires_grad_") == 0;
        const char *where = c->condition ? c->condition : "";
        if (user_script_part_of(c) == SCRIPT_FROZEN && !c->quoted && !c->imported &&
            on && !strstr(where, "lora") && !strstr(where, "adapter") &&
            !strstr(where, "requires_grad"))
            return c;
    }
    return NULL;
}

void user_script_ask_unfrozen(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = switched_on(g);
    int64_t line = g->line ? g->line : c ? c->line : 0;
    bool adapters = launch_has(t, PEFT_LORA) && !launch_is_unresolved(t, PEFT_LORA);
    if (!c || !adapters || launch_is_unresolved(t, PEFT_TRAINED))
        return;
    if (launch_has(t, PEFT_TRAINED)) {
        launch_note(
            t->l, line, DIAG_NOT_SIMULATED,
            "%.60s = True at line %lld: what is trained of the model next to its "
            "adapters is not read",
            c->function, (long long)c->line);
        return;
    }
    launch_add_unresolved(
        t, PEFT_TRAINED, line,
        "%.60s = True at line %lld: which parameters are trained next "
        "to the adapters is not read; [] is none, "
        "[\"embeddings\", \"head\"] are those, and all are as without adapters "
        "(--set /training/lora=null)",
        c->function, (long long)c->line);
}

void user_script_note_merged(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->merged;
    if (c && !c->unsure && !launch_has(t, PEFT_LORA))
        launch_note(
            t->l, g->line ? g->line : c->line, DIAG_ASSUMED,
            "%.60s(): the training has no adapters after it, and is taken to be "
            "of all weights, which PEFT leaves frozen (give --set "
            "/training/frozen=... where some are)",
            c->function);
}

void user_script_ask_continued(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = NULL;
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *own = &g->python->calls.v[i];
        const struct value_item *on = value_get(own->arguments, "is_trainable");
        if (user_script_part_of(own) == SCRIPT_CONTINUED && !own->quoted && on &&
            launch_true(on->value))
            c = own;
    }
    if (!c || t->adapters || launch_has(t, PEFT_LORA) ||
        launch_is_unresolved(t, PEFT_LORA))
        return;
    launch_add_unresolved(t, PEFT_LORA, g->line ? g->line : c->line,
                          "%.60s(...) loads the adapters that are trained: their rank "
                          "and modules are in its adapter_config.json",
                          c->function);
    launch_add_example(t, PEFT_LORA, PEFT_EXAMPLE);
}

void user_script_propose_adapters(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_WRAPPED];
    if (c && !c->unsure && !g->merged && launch_is_unresolved(t, PEFT_LORA))
        launch_add_example(t, PEFT_LORA, PEFT_EXAMPLE);
}
