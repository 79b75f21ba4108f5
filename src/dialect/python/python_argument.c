/* Arguments of a script in its own text, as argparse has them. */
#include "base/names.h"
#include "dialect/python/python_parse.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What was given ----------------------------------------------------------------------- */

/* A word as what it looks like: 8, 1e-4, True. */
static struct value *typed_text(struct python_parser *r, int64_t line, const char *text)
{
    char *end;
    size_t digits = strspn(text + (*text == '-'), "0123456789");
    bool yes = strcmp(text, "True") == 0 || strcmp(text, "true") == 0;
    if (yes || strcmp(text, "False") == 0 || strcmp(text, "false") == 0)
        return python_bool(r, line, yes);
    if (digits && digits < 19 && !text[digits + (*text == '-')])
        return python_int(r, line, strtoll(text, NULL, 10));
    double x = strtod(text, &end);
    if (strpbrk(text, "0123456789") == text + (*text == '-') && !*end && isfinite(x))
        return python_real(r, line, x);
    return python_text(r, line, text);
}

struct value *python_typed(struct python_parser *r, const struct value *v, int deep)
{
    int64_t line = v->line > 0 ? -v->line : -1;
    if (deep > PYTHON_DEPTH_MAX)
        return python_unknown(r, line, "it holds itself");
    if (v->kind == VALUE_STRING)
        return typed_text(r, line, v->text);
    struct value *copy = python_new(r, v->kind, line);
    copy->integer = v->integer;
    copy->real = v->real;
    copy->text = v->text;
    copy->why = v->why;
    for (int32_t i = 0; i < v->n && !r->limit; i++) {
        struct value *e = python_typed(r, v->items[i].value, deep + 1);
        if (v->kind == VALUE_DICT)
            python_put(r, copy, v->items[i].key, line, e);
        else
            python_append(r, copy, e);
    }
    return copy;
}

struct value *python_given(struct python_parser *r, const char *name)
{
    const struct value *v = value_member(r->wanted->given, name);
    return v ? python_typed(r, v, 0) : NULL;
}

/* argparse ----------------------------------------------------------------------------- */

/* "--batch-size/-b" as a name: batch_size. */
static const char *as_name(struct python_parser *r, const char *option)
{
    option += strspn(option, "-");
    char *name = arena_strndup(r->p->arena, option, strcspn(option, "/"));
    for (char *s = name; *s; s++)
        *s = *s == '-' ? '_' : *s;
    return name;
}

/* The long option, or a positional argument, that an argument's i-th value is; NULL: it is
 * neither. */
static const char *option_at(const struct value *arguments, int32_t i)
{
    const struct value_item *it = &arguments->items[i];
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "-";
    bool positional = *it->key >= '0' && *it->key <= '9';
    return positional && (strncmp(text, "--", 2) == 0 || *text != '-') ? text : NULL;
}

/* The name of an argument: its first long option, without dashes. */
static const char *argument_name(struct python_parser *r, const struct value *arguments)
{
    const struct value *dest = value_member(arguments, "dest");
    const char *best = dest && dest->kind == VALUE_STRING ? dest->text : NULL;
    for (int32_t i = 0; !best && i < arguments->n; i++)
        best = option_at(arguments, i);
    return best ? as_name(r, best) : NULL;
}

/* What is given by any of an argument's long options; NULL: nothing. */
static struct value *any_given(struct python_parser *r, const struct value *arguments)
{
    struct value *v = NULL;
    for (int32_t i = 0; !v && i < arguments->n; i++) {
        const char *option = option_at(arguments, i);
        v = option && *option == '-' ? python_given(r, as_name(r, option)) : NULL;
    }
    return v;
}

/* Whether it may be left out, and is None then. */
static bool is_optional(const struct value *arguments)
{
    const struct value *first = value_member(arguments, "0"),
                       *required = value_member(arguments, "required");
    return first && first->kind == VALUE_STRING && *first->text == '-' &&
           !(required && python_truth(required) != 0);
}

/* What the command's words give an option of one letter, "-b 8" or "-b8"; NULL. */
static struct value *short_given(struct python_parser *r, const char *option, bool sets,
                                 const struct value *action)
{
    const struct value *words = r->wanted->words;
    for (int32_t i = 1; words && i < words->n; i++) {
        const struct value *w = words->items[i].value;
        if (w->kind != VALUE_STRING || strncmp(w->text, option, 2) != 0)
            continue;
        if (sets && !w->text[2])
            return python_bool(r, -w->line, strcmp(action->text, "store_true") == 0);
        if (!sets && w->text[2])
            return python_typed(r,
                                value_new_string(r->p->arena,
                                                 w->text + 2 + (w->text[2] == '='),
                                                 w->line, 0),
                                0);
        if (!sets && i + 1 < words->n)
            return python_typed(r, words->items[i + 1].value, 0);
    }
    return NULL;
}

/* Of the options of one letter that an argument has. */
static struct value *any_short_given(struct python_parser *r,
                                     const struct value *arguments, bool sets,
                                     const struct value *action)
{
    struct value *found = NULL;
    for (int32_t i = 0; !found && i < arguments->n; i++) {
        const struct value *v = arguments->items[i].value;
        bool positional =
            *arguments->items[i].key >= '0' && *arguments->items[i].key <= '9';
        if (positional && v->kind == VALUE_STRING && v->text[0] == '-' && v->text[1] &&
            v->text[1] != '-' && !v->text[2])
            found = short_given(r, v->text, sets, action);
    }
    return found;
}

/* Whether a switch asks a script to train, which nobody would give to simulate what it
 * does else. */
static bool asks_training(struct python_parser *r, const char *name)
{
    static const char *const names[] = { "train", "do_train", "training", NULL };
    bool asks = names_listed(names, name);
    if (asks)
        python_note(r, r->t.line, "--%s is taken to be given", name);
    return asks;
}

/* Whether a word of the command may be an argument that has no option's name. */
static bool has_bare_word(const struct python_parser *r)
{
    const struct value *words = r->wanted->words;
    bool after = false; /* an option, whose value it is */
    for (int32_t i = 1; words && i < words->n; i++) {
        const struct value *w = words->items[i].value;
        bool option = w->kind == VALUE_STRING && *w->text == '-';
        if (!option && !after)
            return true;
        after = option && !strchr(w->text, '=');
    }
    return false;
}

/* What the command gives an argument, as its words say it; NULL: nothing. */
static struct value *given_of(struct python_parser *r, const struct value *arguments,
                              const char *name, bool sets, const struct value *action)
{
    const struct value *first = value_member(arguments, "0"),
                       *type = value_member(arguments, "type");
    struct value *v = python_given(r, name);
    v = v ? v : any_given(r, arguments);
    v = v ? v : any_short_given(r, arguments, sets, action);
    /* argparse.BooleanOptionalAction */
    if (!v && action && action->kind != VALUE_STRING &&
        python_given(r, arena_printf(r->p->arena, "no_%s", name)))
        v = python_bool(r, -1, false);
    bool bare = first && first->kind == VALUE_STRING && *first->text != '-';
    if (!v && bare && has_bare_word(r))
        v = python_unknown(r, -1, "%.60s is an argument of the script without a name",
                           name);
    /* lambda x: x == "true" makes what such a word looks like */
    if (v && v->kind != VALUE_BOOL && type && type->kind == VALUE_UNKNOWN &&
        type->why && strstr(type->why, "lambda"))
        v = python_unknown(r, -1, "a function makes --%.60s of a word", name);
    return v;
}

/* parser.add_argument("--lr", type=float, default=1e-4): args.lr is the default. */
void python_add_argument(struct python_parser *r, const struct value *arguments,
                         int64_t line)
{
    const char *name = argument_name(r, arguments);
    const struct value *action = value_member(arguments, "action"),
                       *given = value_member(arguments, "default");
    bool sets = action && action->kind == VALUE_STRING &&
                strncmp(action->text, "store_", 6) == 0;
    if (!name)
        return;
    struct value *v = given_of(r, arguments, name, sets, action);
    v = v       ? v
        : given ? (struct value *)(uintptr_t)given
        : sets && strcmp(action->text, "store_const") != 0
            ? python_bool(r, line,
                          strcmp(action->text, "store_true") != 0 ||
                              (!r->wanted->given && asks_training(r, name)))
        : r->wanted->given && is_optional(arguments)
            ? python_new(r, VALUE_NONE, line)
            : python_unknown(r, line,
                             "--%.60s is an argument of the "
                             "script",
                             name);
    if (!r->parsed)
        r->parsed = python_new(r, VALUE_DICT, line);
    python_put(r, r->parsed, name, line, v);
}

const char *python_completed(const struct value *dict, const char *name, bool word)
{
    size_t n = strlen(name);
    const char *found = NULL;
    if (value_get(dict, name) || n == 0)
        return NULL;
    for (int32_t i = 0; i < dict->n; i++) {
        const char *key = dict->items[i].key;
        if (strncmp(key, name, n) != 0 || (word && n < 3) ||
            (word && key[n] == '_' && strcmp(key + n, "_or_path") != 0))
            continue;
        if (found)
            return NULL;
        found = key;
    }
    return found;
}

/* What was given by the beginning of an option's name. */
static void complete(struct python_parser *r)
{
    const struct value *given = r->wanted->given;
    for (int32_t i = 0; given && r->parsed && i < given->n && !r->limit; i++) {
        const char *key = python_completed(r->parsed, given->items[i].key, false);
        r->lex.work += r->parsed->n / 8;
        if (key)
            python_put(r, r->parsed, key, r->parsed->line,
                       python_typed(r, given->items[i].value, 0));
    }
}

void python_set_defaults(struct python_parser *r, const struct value *arguments,
                         int64_t line)
{
    if (!r->parsed)
        r->parsed = python_new(r, VALUE_DICT, line);
    for (int32_t i = 0; i < arguments->n && !r->limit; i++) {
        const struct value_item *it = &arguments->items[i];
        const struct value *now = value_member(r->parsed, it->key);
        if (!now || now->line >= 0) /* of the text, and not of the command */
            python_put(r, r->parsed, it->key, it->line, it->value);
    }
    for (int32_t i = 0; arguments->gap && i < r->parsed->n && !r->limit; i++)
        if (r->parsed->items[i].value->line >= 0)
            r->parsed->items[i].value =
                python_unknown(r, line, "set_defaults() is given what is not known");
}

/* parse_args(["--lr", "1e-4", "--bf16"]): the text's own words. */
static void take_words(struct python_parser *r, struct value *parsed,
                       const struct value *words)
{
    for (int32_t i = 0; i < words->n && !r->limit; i++) {
        const struct value *w = words->items[i].value,
                           *next = i + 1 < words->n ? words->items[i + 1].value : NULL;
        if (w->kind != VALUE_STRING || strncmp(w->text, "--", 2) != 0)
            continue;
        const char *equals = strchr(w->text, '=');
        char *name = arena_strndup(r->p->arena, w->text + 2,
                                   equals ? (size_t)(equals - w->text) - 2
                                          : strlen(w->text) - 2);
        for (char *c = name; *c; c++)
            *c = *c == '-' ? '_' : *c;
        const struct value *now = value_member(parsed, name);
        bool valued = !equals && next &&
                      (next->kind != VALUE_STRING || strncmp(next->text, "--", 2) != 0);
        struct value *v =
            equals   ? typed_text(r, w->line, equals + 1)
            : valued ? python_typed(r, next, 0)
                     : python_bool(r, w->line,
                                   !(now && now->kind == VALUE_BOOL && now->integer));
        v->line = w->line;
        python_put(r, parsed, name, w->line, v);
        i += valued;
    }
}

/* args = parser.parse_args() */
struct value *python_parse_args(struct python_parser *r, const char *method,
                                const struct value *arguments, int64_t line)
{
    complete(r);
    struct value *v = r->parsed ? python_copy(r, r->parsed)
                                : python_unknown(r, line, "parse_args() is a call");
    const struct value *own = value_member(arguments, "0");
    own = own ? own : value_member(arguments, "args");
    if (own && own->kind == VALUE_LIST && !own->gap && v->kind == VALUE_DICT)
        take_words(r, v, own);
    if (r->parsed && !r->parsed_noted && !r->wanted->given)
        python_note(r, line,
                    "the script's own arguments are taken to be their defaults");
    r->parsed_noted |= r->parsed != NULL;
    if (strcmp(method, "parse_known_args") != 0)
        return v;
    struct value *both = python_new(r, VALUE_LIST, line);
    python_append(r, both, v);
    python_append(r, both, python_new(r, VALUE_LIST, line));
    return both;
}

/* Arguments of the Trainer ------------------------------------------------------------- */

static const char *const trl_configs[] = { "SFTConfig",  "DPOConfig", "KTOConfig",
                                           "ORPOConfig", "CPOConfig", "RewardConfig",
                                           NULL };
static const char trainer_mark[] = "TrainingArguments", trl_mark[] = "SFTConfig",
                  model_mark[] = "ModelConfig";

/* TRL's configurations are such arguments too, whose switches have other defaults. */
void python_mark_arguments(struct value *v, const char *name)
{
    const char *last = python_last_part(name);
    size_t n = strlen(last), m = sizeof(trainer_mark) - 1;
    if (n >= m && strcmp(last + n - m, trainer_mark) == 0)
        v->text = trainer_mark;
    else if (names_listed(trl_configs, last))
        v->text = trl_mark;
    else if (strcmp(name, "trl.ModelConfig") == 0)
        v->text = model_mark;
}

/* FSDP's options after __post_init__(), where none was given. */
static struct value *no_fsdp_config(struct python_parser *r, int64_t line)
{
    static const char *const off[] = { "xla", "xla_fsdp_v2", "xla_fsdp_grad_ckpt" };
    struct value *v = python_new(r, VALUE_DICT, line);
    python_put(r, v, "min_num_params", line, python_int(r, line, 0));
    for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
        python_put(r, v, off[i], line, python_bool(r, line, false));
    return v;
}

/* Of the Trainer's arguments, TRL's among them. */
static struct value *of_trainer(struct python_parser *r, const char *name, int64_t line)
{
    static const char *const none[] = { "deepspeed", "tf32", NULL };
    return names_listed(none, name)           ? python_new(r, VALUE_NONE, line)
           : strcmp(name, "fsdp") == 0        ? python_new(r, VALUE_LIST, line)
           : strcmp(name, "fsdp_config") == 0 ? no_fsdp_config(r, line)
                                              : NULL;
}

/* Arguments that were not given (transformers/training_args.py, 4.57; trl/trainer/
 * model_config.py, 0.24): what a program reads of them is known, unless a document that is
 * not there may give them. */
struct value *python_argument_left_out(struct python_parser *r, const struct value *x,
                                       const char *name, int64_t line)
{
    static const struct {
        const char *mark, *off[4];
    } switches[] = {
        { trainer_mark, { "gradient_checkpointing", "bf16", "fp16" } },
        { model_mark, { "load_in_4bit", "load_in_8bit", "use_peft" } },
    };
    const struct value *given = r->wanted->given;
    if (!given || given->gap || x->kind != VALUE_DICT || !x->text)
        return NULL;
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
        if (x->text == switches[i].mark && names_listed(switches[i].off, name))
            return python_bool(r, line, false);
    return x->text == trainer_mark || x->text == trl_mark ? of_trainer(r, name, line)
                                                          : NULL;
}
