/* The program that a command or an estimator starts: its text with the arguments that it
 * is given, and a command's options with the document that it names. */
#include "dialect/user_script/user_script.h"

#include "base/file.h"
#include "base/names.h"
#include "config/pointer.h"
#include "dialect/accelerate/accelerate.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/megatron/megatron.h"
#include "dialect/openrlhf/openrlhf.h"
#include "dialect/peft/peft.h"
#include "dialect/source/files.h"
#include "dialect/trainer/trainer.h"
#include "dialect/trl/trl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COPIED_MAX = 20000 };

/* The ranks that the starter gives the program: -1: they are not known; 0: it is started
 * alone. */
static int64_t ranks_of(const struct launch_context *t)
{
    static const char at[] = "/cluster/gpus_per_instance";
    const json_t *n = pointer_get(t->tree, "/cluster/count"),
                 *each = pointer_get(t->tree, at);
    bool alone = !t->command && !launch_has(t, "/distribution");
    int64_t count = t->l->count          ? t->l->count
                    : json_is_integer(n) ? json_integer_value(n)
                                         : 0,
            gpus = json_is_integer(each)         ? json_integer_value(each)
                   : launch_is_unresolved(t, at) ? 0
                                                 : t->l->gpus;
    bool bounded = count > 0 && count < INT16_MAX && gpus > 0 && gpus < INT16_MAX;
    return alone ? 0 : bounded ? count * gpus : -1;
}

static int read_text(struct python *p, struct arena *arena, const struct launch *l,
                     const struct user_script_start *s, int64_t ranks)
{
    struct launch_imports imports;
    const struct python_wanted wanted = {
        .calls = user_script_calls,
        .same = user_script_same,
        .kept = user_script_kept,
        .attributes = user_script_attributes,
        .modules_of = user_script_modules,
        .enough = user_script_is_enough,
        .given = s->given,
        .words = s->words,
        .environment = s->environment,
        .gpu = { l->gpus, l->arch, ranks, l->memory_B },
        .modules = launch_imports(&imports, l, s->name),
    };
    struct err err = { 0 };
    return python_read(p, arena, s->text, strlen(s->text), &wanted, &err);
}

bool user_script_is_program(struct arena *arena, struct launch *l, const char *text)
{
    for (int64_t i = 0; i < l->judged.n; i++)
        if (strcmp(l->judged.v[i].text, text) == 0)
            return l->judged.v[i].trains;
    struct value nothing = { .kind = VALUE_DICT, .line = 1 };
    const struct user_script_start s = { .text = text, .given = &nothing };
    struct launch_judged judged = { arena_strdup(&l->loader->arena, text), false };
    struct user_script g;
    struct python p;
    if (read_text(&p, arena, l, &s, 0) == 0) {
        user_script_gather(&g, arena, &p);
        judged.trains = user_script_trains(&g) || user_script_loops(&g);
    }
    python_release(&p);
    VEC_PUSH(&l->judged, judged);
    return judged.trains;
}

/* Where its values are: what it was given at its own line, the rest at the program's
 * name. Noted are those of the rest that a row may take. */
static void place_words(struct launch_context *t, struct user_script *g,
                        const struct user_script_start *s)
{
    int64_t budget = COPIED_MAX;
    struct strbuf own;
    strbuf_init(&own);
    for (int32_t i = 0; i < g->words->n; i++) {
        struct value_item *it = &g->words->items[i];
        int64_t line = it->value->line;
        struct value *v = value_copy(t->arena, it->value, &budget);
        if (!v)
            break;
        value_move_to(v, line < 0 ? -line : s->line);
        bool said = line >= 0 && it->line > 0 && own.len < 1000;
        if (said)
            strbuf_printf(&own, "%s%.60s (%" PRId64 ")", own.len ? ", " : "", it->key,
                          it->line);
        *it = (struct value_item) { it->key, v->line, v };
    }
    if (own.len)
        launch_note(t->l, s->line, DIAG_ASSUMED, "values of %.80s, by line: %s",
                    launch_last_part(s->name), strbuf_get(&own));
    strbuf_release(&own);
}

/* Whether a word of the text is the field that an option is, by whatever name. tf32 rounds
 * what stays fp32, and says of no precision that there is none. */
static bool is_made(const struct user_script *g, const char *option)
{
    static const char *const rounds[] = { "tf32", "allow_tf32", NULL };
    const struct dialect_option *o = dialect_option_of(trl_tables, "", option), *w;
    for (int32_t i = 0; o && o->pointer && i < g->words->n; i++) {
        const struct value_item *it = &g->words->items[i];
        w = dialect_option_of(trl_tables, "", it->key);
        if (w && w->pointer && strcmp(w->pointer, o->pointer) == 0 &&
            it->value->kind != VALUE_UNKNOWN && !launch_is_off(it->value) &&
            strcmp(it->key, option) != 0 && !names_listed(rounds, it->key))
            return true;
    }
    return !o;
}

/* The word by which the text names a folder of the machine as its model, where the option
 * names one by its id: model_id, and from_pretrained("/tmp/model"). NULL: it does not. */
static const struct value_item *local_model(const struct user_script *g,
                                            const struct value_item *option)
{
    static const char *const names[] = { "model_id", "model_name", "model_name_or_path",
                                         NULL };
    const struct value_item *it = value_get(g->words, "model_name_or_path");
    const char *id = option->value->kind == VALUE_STRING ? option->value->text : "/";
    bool local = it && it->value->kind == VALUE_STRING && it->value->text[0] == '/';
    return local && names_listed(names, option->key) && *id != '/' && strchr(id, '/')
               ? it
               : NULL;
}

/* What rows take an option for by its beginning; NULL: nothing else. */
static const char *begun(const char *option)
{
    const char *whole = dialect_option_begun(trainer_tables, "", option);
    return whole && strcmp(whole, option) != 0 ? whole : NULL;
}

/* Whether an option is there by both names, and the other says what became of it. */
static bool is_twice(const struct user_script *g, const struct value *given,
                     const char *option)
{
    const char *whole = begun(option);
    bool twice = whole && value_get(given, whole) && value_get(g->words, whole);
    for (int32_t i = 0; i < given->n && !twice; i++) {
        const char *other = begun(given->items[i].key);
        twice = other && strcmp(other, option) == 0;
    }
    return twice;
}

/* Whether an option describes adapters, and the text, which takes its options itself, has
 * no such one: parse_known_args() passes it over. */
static bool is_strange(const struct user_script_start *s, const char *option)
{
    return s->text && strstr(s->text, "parse_known_args(") &&
           !strstr(s->text, option) && !peft_is_named(s->text) && peft_row(option);
}

/* Options of the rows of which the text made nothing that is known; the others are its
 * own, and acted in it. */
static void add_options(struct launch_context *t, struct user_script *g,
                        const struct user_script_start *s)
{
    const struct value *given = s->given;
    struct strbuf others;
    strbuf_init(&others);
    for (int32_t i = 0; given && i < given->n; i++) {
        const struct value_item *o = &given->items[i],
                                *it = value_get(g->words, o->key);
        const struct value_item *folder = local_model(g, o);
        bool base = g->loose_base && it && strncmp(o->key, "load_in_", 8) == 0;
        if (folder) { /* what the text has downloaded there is what it was asked for */
            g->words->items[folder - g->words->items] =
                (struct value_item) { folder->key, o->line, o->value };
        } else if (is_made(g, o->key)) {
            if (others.len < 1000 && !is_twice(g, given, o->key) &&
                strcmp(o->key, "local_rank") != 0) /* of the starter */
                strbuf_printf(&others, "%s%.60s", others.len ? ", " : "", o->key);
        } else if (!it && is_strange(s, o->key))
            launch_note(t->l, o->line, DIAG_LEFT_OUT,
                        "%.60s is left out: %.80s has no such option", o->key,
                        launch_last_part(s->name));
        else if (!it)
            value_add(t->arena, g->words, o->key, o->line, o->value);
        else if (base || it->value->kind == VALUE_UNKNOWN)
            g->words->items[it - g->words->items] = *o;
    }
    if (others.len)
        launch_note(t->l, s->line, DIAG_ASSUMED, "%.80s decides by its own text: %s",
                    launch_last_part(s->name), strbuf_get(&others));
    strbuf_release(&others);
}

/* Whether a switch of the command asks for adapters, by any name that rows have: 1 or 0;
 * -1: none is given. */
static int asks_adapters(const struct value *given)
{
    int asks = -1;
    for (int32_t i = 0; given && i < given->n; i++) {
        const struct value_item *it = &given->items[i];
        const struct dialect_option *o = peft_row(it->key);
        if (o && o->pointer && o->kind == DIALECT_SWITCH &&
            strcmp(o->pointer, PEFT_LORA) == 0)
            asks = asks > 0 || launch_true(it->value);
    }
    return asks;
}

/* What a function that is not read makes of the arguments is what they say. TRL's
 * get_peft_config(args) is None unless use_peft is given (trl/trainer/utils.py, 0.24). */
static void settle_adapters(struct launch_context *t, struct user_script *g,
                            const struct user_script_start *s)
{
    static const char made[] = "get_peft_config(";
    const struct value_item *it = value_get(g->words, "use_peft");
    bool open = it && it->value->kind == VALUE_UNKNOWN && it->value->why,
         trl = open && strncmp(it->value->why, made, sizeof(made) - 1) == 0;
    int asks = open && s->given ? asks_adapters(s->given) : -1;
    if (launch_is_unresolved(t, "/model") || (asks < 0 && !(trl && s->given)))
        return;
    struct value *v =
        value_new(t->arena, asks > 0 ? VALUE_BOOL : VALUE_NONE, it->line, 0);
    v->integer = asks > 0;
    g->words->items[it - g->words->items] =
        (struct value_item) { it->key, it->line, v };
}

/* A loop of the text's own on pictures, with none of transformers' models. */
static bool convolves(const char *text)
{
    static const char *const parts[] = {
        "MaxPool2d(", "max_pool2d(", "BatchNorm2d(", "models.resnet", "resnet18(",
        "resnet34(",  "resnet50(",   "resnet101(",   "resnet152(",    NULL
    };
    return names_within(parts, text) && strstr(text, "backward(") &&
           !strstr(text, "transformers") && !strstr(text, "Attention") &&
           !strstr(text, "attn") && !strstr(text, "Transformer");
}

bool user_script_refuses(struct launch_context *t, const struct user_script_start *s)
{
    if (s->text && convolves(s->text)) {
        launch_refuse_entry(t->l, s->name, user_script_convolutions, s->line);
        return true;
    }
    bool rollouts = s->text && strstr(s->text, "verl.trainer.main_ppo");
    if (rollouts)
        launch_refuse_entry(t->l, s->name,
                            "starts verl's PPO or GRPO, which generates samples",
                            s->line);
    return rollouts;
}

bool user_script_load(struct user_script *g, struct launch_context *t,
                      const struct user_script_start *s)
{
    struct python p;
    if (read_text(&p, t->arena, t->l, s, ranks_of(t))) {
        python_release(&p);
        return false;
    }
    user_script_give_lightning(t, &p);
    user_script_gather(g, t->arena, &p);
    g->program = s->name;
    g->text = p;
    g->python = &g->text;
    bool batch = value_get(g->words, "per_device_train_batch_size");
    bool plain = user_script_loops(g) && (s->words || (s->plain && batch));
    if (!user_script_trains(g) && !plain) {
        user_script_release(g);
        return false;
    }
    place_words(t, g, s);
    g->line = s->line;
    add_options(t, g, s);
    settle_adapters(t, g, s);
    user_script_drop_unused(t, g, s);
    return true;
}

void user_script_release(struct user_script *g)
{
    python_release(&g->text);
}

/* Commands ------------------------------------------------------------------------- */

/* Whether the document that the command names has words of the Trainer's or of TRL's. */
static bool has_document(const struct dialect_input *in)
{
    struct cfg_loader loader;
    struct launch l = *in->context->l;
    struct launch_context t = { .l = &l, .arena = in->context->arena };
    const struct value_item *it = trainer_document(&t, in->command);
    const char *name = it ? it->value->text : NULL;
    cfg_loader_init(&loader);
    l.loader = &loader;
    struct value *v = name ? trainer_load_next_to(&t, name, it->line) : NULL;
    const struct dialect_input document = { .source = DIALECT_DOCUMENT, .root = v };
    bool is_one = v && (trl_recognises(&document) || trainer_recognises(&document));
    cfg_loader_release(&loader);
    return is_one;
}

/* trl/scripts/sft.py itself, or what sends to it or imports it (TRL 0.13 and newer). */
static bool is_of_trl(const char *name, const char *text)
{
    static const char *const parts[] = { "trl/scripts/", "trl.scripts", NULL };
    return names_within(parts, text) || strstr(name, parts[0]) != NULL;
}

bool user_script_is_of_megatron(const char *text)
{
    static const char *const imports[] = { "from megatron", "import megatron",
                                           "import mpu", NULL };
    return names_within(imports, text);
}

bool user_script_recognises_command(const struct dialect_input *in)
{
    if (!in->context || !in->command)
        return false;
    const char *name = in->command->command->words[in->command->script].text;
    const char *text = launch_program_text(in->context->l, in->context->arena, name);
    /* a copy of OpenRLHF's programs, by options that are no other's */
    if (value_get(in->root, "--micro-train-batch-size") && openrlhf_recognises(in))
        return false;
    if (text && user_script_is_of_torchtitan(in->command, text))
        return false;
    if (text && user_script_is_of_megatron(text) &&
        (megatron_recognises(in) || strstr(text, "pretrain(")))
        return false;
    return (text && user_script_is_program(in->context->arena, in->context->l, text)) ||
           has_document(in) || is_of_trl(name, text);
}

/* sys.argv: the script and what follows it. */
static struct value *words_of(struct launch_context *t, const struct launch_command *c)
{
    struct value *list = value_new(t->arena, VALUE_LIST, c->command->line, 0);
    for (int32_t i = c->script; i < c->command->n; i++)
        value_add(t->arena, list, NULL, c->command->line,
                  launch_word_value(t->arena, &c->command->words[i],
                                    c->command->words[i].text));
    return list;
}

/* Without its text: what a document and options say, of the method that its name has. */
static void read_options(struct launch_context *t, const struct launch_command *c,
                         const char *name, const struct value *given)
{
    struct value v = { .line = c->command->line };
    const struct value_item entry = { launch_last_part(name), v.line, &v };
    launch_take_entry(t, name, &entry);
    trl_take(t, given, false);
    trl_cast(t, TRL_CASTS, true);
}

/* get_train_ds_config(...), which DeepSpeed-Chat's programs and their copies call, makes
 * DeepSpeed's configuration of these options. */
static void take_chat(struct launch_context *t, const struct launch_command *c,
                      struct user_script *g)
{
    struct value *options = value_new(t->arena, VALUE_DICT, c->command->line, 0);
    const struct value_item *it = value_get(g->words, "deepspeed"), *rank;
    for (int32_t i = 0; i < c->options.n; i++)
        value_add(t->arena, options, c->options.items[i].key + 2,
                  c->options.items[i].line, c->options.items[i].value);
    if (!g->parts[SCRIPT_ENGINE] || !trainer_chat_is(options))
        return;
    bool own = it && it->value->kind != VALUE_UNKNOWN && it->value->kind != VALUE_BOOL;
    if (it && !own)
        value_remove(g->words, (int32_t)(it - g->words->items));
    if ((rank = value_get(g->words, "lora_dim")) != NULL)
        value_remove(g->words, (int32_t)(rank - g->words->items));
    if (!launch_has(t, "/training/task"))
        trainer_take_chat_step(t, c, options);
    trainer_take_chat_adapters(t, options);
    if (!own) /* else its text is at hand, and makes a dictionary */
        trainer_take_chat_configuration(t, options, c->command->line);
}

/* Whether the starter gives each process --local_rank (torch/distributed/launch.py without
 * --use_env, deepspeed/launcher/launch.py without --no_local_rank). */
static bool passes_rank(const struct launch_command *c)
{
    static const char *const without[] = { "--use_env", "--use-env", "--no_local_rank",
                                           NULL };
    bool passes = false;
    for (int32_t i = 0; i < c->script; i++) {
        const char *word = c->command->words[i].text, *last = launch_last_part(word);
        if (names_listed(without, word))
            return false;
        passes |= strcmp(last, "torch.distributed.launch") == 0 ||
                  strcmp(last, "deepspeed") == 0;
    }
    return passes;
}

/* The program's options, and what its starter adds to them. */
static const struct value *with_rank(struct launch_context *t,
                                     const struct launch_command *c,
                                     const struct value *given)
{
    static const char name[] = "local_rank";
    int64_t budget = COPIED_MAX;
    struct value *all = passes_rank(c) && !value_get(given, name)
                            ? value_copy(t->arena, given, &budget)
                            : NULL;
    if (all)
        value_add(t->arena, all, name, c->command->line,
                  value_new_string(t->arena, "0", c->command->line, 0));
    return all ? all : given;
}

/* How a command starts its program, with what it gives it. */
static struct user_script_start start_of(struct launch_context *t,
                                         const struct launch_command *c,
                                         const struct value *given)
{
    const struct shell_word *w = &c->command->words[c->script];
    return (struct user_script_start) {
        .name = w->text,
        .text = launch_program_text(t->l, t->arena, w->text),
        .line = w->line,
        .given = with_rank(t, c, given),
        .words = words_of(t, c),
        .environment = launch_environment(t, c),
    };
}

void user_script_read_command(struct launch_context *t, const struct launch_command *c)
{
    struct value *accelerate = accelerate_take_command(t, c);
    if (c->unknown) {
        user_script_read_unknown(t, c, accelerate);
        return;
    }
    struct value *given = trainer_command_arguments(t, c);
    if (trainer_document(t, c)) {
        peft_open_sections(t, given);
        user_script_open_document(t, given);
        given->gap = launch_is_unresolved(t, "/model"); /* one that is not there */
    }
    const struct user_script_start start = start_of(t, c, given);
    struct user_script g;
    int32_t n = given->n;
    if (start.text) /* a program may read the document that is named by itself */
        user_script_add_written(t, c, given);
    if (user_script_refuses(t, &start))
        return;
    if (trainer_document(t, c) && launch_is_unresolved(t, "/model"))
        user_script_ask(t, start.line, "the document that the command names gives it");
    if (start.text && user_script_load(&g, t, &start)) {
        const char *program = launch_last_part(start.name);
        if (user_script_refuses_second(t, &g, given, program)) {
            user_script_release(&g);
            return;
        }
        take_chat(t, c, &g);
        if (trainer_document(t, c))
            user_script_drop_from(&g, given, n);
        user_script_take(t, &g);
        if (!g.parts[SCRIPT_MODEL])
            peft_ask_imported(t, start.name, start.line);
        if (!g.parts[SCRIPT_MODEL])
            peft_ask_base(t, start.line);
        user_script_take_own(t, &g, given, program);
        if (!accelerate)
            accelerate = accelerate_of_environment(
                t, python_name(g.python, PYTHON_ENVIRONMENT), start.line);
        if (!user_script_trains(&g))
            user_script_ask_plain(t, &g);
        if (!user_script_take_started_alone(t, &g))
            user_script_take_lightning_devices(t, &g);
        if (!launch_has(t, "/training/task") &&
            !launch_is_unresolved(t, "/training/task")) {
            struct value v = { .line = start.line };
            const struct value_item entry = { launch_last_part(start.name), v.line,
                                              &v };
            launch_take_entry(t, start.name, &entry);
        }
        launch_take_example(t, start.name, start.text, start.line);
        user_script_release(&g);
    } else if (start.text && !trainer_document(t, c) && !strstr(start.text, "trl")) {
        user_script_read_unknown(t, c, accelerate);
        return;
    } else {
        read_options(t, c, start.name, given);
        if (start.text)
            peft_ask_imported(t, start.name, start.line);
    }
    if (accelerate)
        accelerate_settle(t, accelerate);
}
