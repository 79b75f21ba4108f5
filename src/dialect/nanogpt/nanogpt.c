#include "dialect/nanogpt/nanogpt.h"

#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/python/python.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"

#include <ctype.h>
#include <string.h>

/* Whether the program counts the batches of one GPU: of what is given, a note of ours. */
static const char accumulation[] = "gradient_accumulation_steps";
static const char each_gpu[] = "gradient accumulation of each GPU";

enum { KNOWN_LEAST = 4, COPIED_MAX = 20000 };

/* The model ------------------------------------------------------------------------ */

/* What init_from has for sizes that it loads (model.py: from_pretrained). */
static const struct {
    const char *name;
    int layers, heads, width;
} released[] = {
    { "gpt2", 12, 12, 768 },
    { "gpt2-medium", 24, 16, 1024 },
    { "gpt2-large", 36, 20, 1280 },
    { "gpt2-xl", 48, 25, 1600 },
};

static void set_model(struct launch_context *t, const char *key, json_t *value,
                      const struct value_item *from)
{
    launch_set(t, launch_pointer(t, "/model", key), value, from);
}

/* A size of the text's own. */
static void take_size(struct launch_context *t, const char *name, const char *key)
{
    const struct value_item *it = launch_hyper(t, name);
    int64_t n;
    launch_hear(t, it);
    if (it && launch_whole(it->value, &n) && n > 0)
        set_model(t, key, json_integer((json_int_t)n), it);
    else if (it)
        launch_unresolved_item(t, launch_pointer(t, "/model", key), it,
                               "number of at least 1");
}

/* Of a data set with a meta.pkl its characters, else GPT-2's in a round number. */
static void take_vocabulary(struct launch_context *t)
{
    static const char at[] = "/model/vocab_size";
    const struct value_item *it = launch_hyper(t, "dataset");
    const char *name = it && it->value->kind == VALUE_STRING ? it->value->text : "";
    launch_hear(t, it);
    if (strcmp(name, "shakespeare_char") == 0)
        launch_set(t, at, json_integer(65), it);
    else if (!it || it->value->kind != VALUE_STRING || strstr(name, "char"))
        launch_add_unresolved(t, at, it ? it->line : t->l->line,
                              "dataset: how many characters it has is in its meta.pkl");
    else
        launch_set(t, at, json_integer(50304), it);
}

/* From weights of GPT-2, whose linear layers have a bias, or from nothing. */
static void take_model(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    const char *from = it->value->kind == VALUE_STRING ? it->value->text : "";
    const struct value_item *bias = launch_hyper(t, "bias");
    size_t i = 0, n = sizeof(released) / sizeof(released[0]);
    while (i < n && strcmp(released[i].name, from) != 0)
        i++;
    if (i == n && strcmp(from, "scratch") != 0) {
        launch_add_unresolved(t, row->pointer, it->line,
                              "init_from: which model it is, is not known by it");
        return;
    }
    set_model(t, "model_type", json_string("megatron"), it);
    if (i < n) {
        set_model(t, "num_layers", json_integer(released[i].layers), it);
        set_model(t, "num_attention_heads", json_integer(released[i].heads), it);
        set_model(t, "hidden_size", json_integer(released[i].width), it);
        set_model(t, "vocab_size", json_integer(50257), it);
    } else {
        take_size(t, "n_layer", "num_layers");
        take_size(t, "n_head", "num_attention_heads");
        take_size(t, "n_embd", "hidden_size");
        take_vocabulary(t);
    }
    take_size(t, "block_size", "max_position_embeddings");
    if (i < n)
        set_model(t, "add_bias_linear", json_true(), it);
    else if (bias && bias->value->kind != VALUE_UNKNOWN)
        set_model(t, "add_bias_linear", json_boolean(launch_true(bias->value)), bias);
    launch_hear(t, bias);
}

static void take_dropout(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    double p;
    if (!launch_real(it->value, &p)) {
        launch_unresolved_item(t, row->pointer, it, "probability");
        return;
    }
    set_model(t, "hidden_dropout", json_real(p), it);
    set_model(t, "attention_dropout", json_real(p), it);
}

/* The training --------------------------------------------------------------------- */

/* Of all ranks together, where train.py divides it by their number. */
static void take_batch(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    const struct value_item *each = launch_hyper(t, "batch_size");
    int64_t steps, batch;
    if (!launch_whole(it->value, &steps) || steps < 1) {
        launch_unresolved_item(t, row->pointer, it, "number of at least 1");
        return;
    }
    if (launch_hyper(t, each_gpu)) { /* before 2023-04, and copies of it */
        launch_set(t, "/training/gradient_accumulation_steps",
                   json_integer((json_int_t)steps), it);
        return;
    }
    if (each && launch_whole(each->value, &batch) && batch > 0 &&
        batch < INT32_MAX / steps)
        launch_set(t, row->pointer, json_integer((json_int_t)batch * steps), it);
    launch_note(t->l, it->line, DIAG_ASSUMED,
                "gradient_accumulation_steps: %lld are of all GPUs together, each of "
                "which has its share of them",
                (long long)steps);
}

/* bfloat16 where the GPU has it, else float16, unless it is said. */
static void take_type(struct launch_context *t, const struct dialect_option *row,
                      const struct value_item *it)
{
    static const struct dialect_word types[] = {
        { "bfloat16", "amp_bf16" },
        { "float16", "amp_fp16" },
        { "float32", "tf32" },
        { NULL, NULL },
    };
    const struct dialect_option known = { .pointer = row->pointer, .words = types };
    if (it->value->kind != VALUE_UNKNOWN) {
        dialect_take_as(t, &known, it, DIALECT_WORD);
        return;
    }
    bool old = t->l->arch && t->l->arch < 80;
    launch_set(t, row->pointer, json_string(old ? "amp_fp16" : "amp_bf16"), it);
    launch_note(t->l, it->line, DIAG_ASSUMED,
                "dtype: %s is taken, as GPUs %s (give --set /training/precision=%s for "
                "another)",
                old ? "float16" : "bfloat16",
                old ? "before the A100 have it" : "from the A100 on have it",
                old ? "amp_bf16" : "amp_fp16");
}

static void refuse(struct launch_context *t, const struct value_item *it,
                   const char *what)
{
    diags_add(&t->l->loader->diags,
              diag_at_line(DIAG_ERROR, DIAG_REFUSED_KEY, t->l->file, it->line),
              "%s: %s (training on GPUs is)", it->key, what);
}

static void take_evaluation(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it)
{
    (void)row;
    if (launch_true(it->value))
        refuse(t, it,
               "the program evaluates, and trains nothing, which is not simulated");
}

static void take_device(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    const char *name = it->value->kind == VALUE_STRING ? it->value->text : "cuda";
    (void)row;
    if (strncmp(name, "cuda", 4) != 0)
        refuse(t, it, "training on what is no GPU of CUDA is not simulated");
}

/* Of copies that choose among several; AdamW is nanoGPT's own. */
static void take_optimizer(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it)
{
    const char *name = it->value->kind == VALUE_STRING ? it->value->text : "adamw";
    char *plain = arena_strdup(t->arena, name);
    for (char *c = plain; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    for (const struct dialect_word *w = trainer_optimizer_words; w->word; w++)
        if (strcmp(w->word, plain) == 0) {
            launch_set(t, row->pointer, json_string(w->value), it);
            return;
        }
    if (strcmp(plain, "adamw") != 0 && strcmp(plain, "adam") != 0)
        launch_add_unresolved(t, row->pointer, it->line,
                              "%s: \"%.40s\" is the program's own", it->key, name);
}

/* clang-format off */
static const struct dialect_option rows[] = {
    ROW("device", "/training/task", .take = take_device), ROW("eval_only", "/training/task", .take = take_evaluation),
    ROW("init_from", "/model", .take = take_model), ROW("dropout", "/model/hidden_dropout", .take = take_dropout),
    ROW("batch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("gradient_accumulation_steps", "/training/global_batch_size", .take = take_batch),
    ROW("block_size", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("dtype", "/training/precision", .take = take_type), ROW("grad_clip", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("max_iters", "/training/steps", .kind = DIALECT_POSITIVE), ROW("optimizer_name", "/training/optimizer", .take = take_optimizer),
    ROW("optimizer_type", "/training/optimizer", .take = take_optimizer), ROW_END,
};
static const struct dialect_option others[] = {
    ROW_ACTS("n_layer", "/model/num_layers"), ROW_ACTS("n_head", "/model/num_attention_heads"), ROW_ACTS("n_embd", "/model/hidden_size"),
    ROW_ACTS("bias", "/model/add_bias_linear"), ROW_ACTS("dataset", "/model/vocab_size"), ROW_UNSIMULATED("compile"),
    ROW_IDLE("out_dir"), ROW_IDLE("eval_interval"), ROW_IDLE("log_interval"), ROW_IDLE("eval_iters"), ROW_IDLE("always_save_checkpoint"), ROW_IDLE("wandb_log"),
    ROW_IDLE("wandb_project"), ROW_IDLE("wandb_run_name"), ROW_IDLE("learning_rate"), ROW_IDLE("weight_decay"), ROW_IDLE("beta1"), ROW_IDLE("beta2"),
    ROW_IDLE("decay_lr"), ROW_IDLE("warmup_iters"), ROW_IDLE("lr_decay_iters"), ROW_IDLE("min_lr"), ROW_IDLE("backend"), ROW_END,
};
const struct dialect_table nanogpt_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* Of train.py, where it is not next to what is read. */
static const char defaults[] =
    "init_from = 'scratch'; dataset = 'openwebtext'; gradient_accumulation_steps = 40; batch_size = 12; block_size = 1024\n"
    "n_layer = 12; n_head = 12; n_embd = 768; dropout = 0.0; bias = False; grad_clip = 1.0; max_iters = 600000; compile = True\n";
/* clang-format on */

/* What is given -------------------------------------------------------------------- */

static bool is_known(const char *name)
{
    return dialect_option_of(nanogpt_tables, "", name) != NULL;
}

/* train.py itself, by the names that it binds. */
static bool is_program(const struct python *p)
{
    static const char *const names[] = { "init_from",  "gradient_accumulation_steps",
                                         "block_size", "n_layer",
                                         "n_embd",     "always_save_checkpoint",
                                         "decay_lr",   NULL };
    for (const char *const *name = names; *name; name++)
        if (!python_name(p, *name))
            return false;
    return true;
}

/* A file of config/: some of the names, and no others. */
static bool is_configuration(const struct python *p)
{
    static const char *const own[] = { "__name__", "__file__", PYTHON_ENVIRONMENT,
                                       "sys.argv", NULL };
    int64_t known = 0, foreign = 0;
    for (int64_t i = 0; i < p->names.n; i++)
        known += is_known(p->names.v[i].name);
    for (int64_t i = 0; i < p->names.n; i++)
        foreign += p->names.v[i].value->kind != VALUE_UNKNOWN && /* imported */
                   !is_known(p->names.v[i].name) &&
                   !names_listed(own, p->names.v[i].name);
    return known >= KNOWN_LEAST && foreign == 0 && p->calls.n == 0 &&
           (python_name(p, "eval_iters") || python_name(p, "init_from") ||
            python_name(p, "block_size"));
}

static void put(struct launch_context *t, struct value *all, const char *name,
                int64_t line, struct value *v)
{
    const struct value_item *old = value_get(all, name);
    if (old)
        all->items[old - all->items] =
            (struct value_item) { arena_strdup(t->arena, name), line, v };
    else
        value_add(t->arena, all, arena_strdup(t->arena, name), line, v);
}

/* A copy's own names that say of the model what nanoGPT's is not. */
static void name_own(struct launch_context *t, const struct python_name *n,
                     int64_t line)
{
    static const char *const parts[] = { "expert", "moe",  "kv_head", "kv_group",
                                         "lora",   "rope", "rotary",  "swiglu" };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(n->name, parts[i]) && n->value->kind != VALUE_UNKNOWN &&
            !launch_is_off(n->value))
            launch_note(t->l, line ? line : n->value->line, DIAG_NOT_SIMULATED,
                        "%.60s is the program's own, and is not read: the model is "
                        "taken to be nanoGPT's",
                        n->name);
}

/* The names of a text; with a line, all of them are there. */
static void put_names(struct launch_context *t, struct value *all,
                      const struct python *p, int64_t line)
{
    int64_t budget = COPIED_MAX;
    for (int64_t i = 0; i < p->names.n; i++) {
        const struct python_name *n = &p->names.v[i];
        struct value *v =
            is_known(n->name) ? value_copy(t->arena, n->value, &budget) : NULL;
        if (!v)
            name_own(t, n, line);
        if (v && line)
            value_move_to(v, line);
        if (v)
            put(t, all, n->name, v->line, v);
    }
}

/* Whether a program divides its accumulation by the number of ranks: the number before
 * is then of all of them, and it is read as one rank has it. */
static bool divides(const char *text)
{
    while ((text = strstr(text, accumulation)) != NULL) {
        text += sizeof(accumulation) - 1;
        const char *next = text + strspn(text, " ");
        bool again = *next == '=' && next[1] != '=';
        next += again ? 1 : 0;
        next += again ? strspn(next, " (int") : 0;
        if (again && strncmp(next, accumulation, sizeof(accumulation) - 1) == 0)
            next +=
                sizeof(accumulation) - 1 + strspn(next + sizeof(accumulation) - 1, " ");
        if (*next == '/')
            return true;
    }
    return false;
}

static void put_text(struct launch_context *t, struct value *all, const char *text,
                     int64_t line)
{
    const struct python *p = launch_read_names(t->l, text, 0);
    if (p)
        put_names(t, all, p, line);
}

/* The accumulation of a program, of all ranks where it divides it; with a line, it is
 * there. */
static void put_accumulation(struct launch_context *t, struct value *all,
                             const char *text, int64_t line)
{
    if (!divides(text)) {
        put(t, all, each_gpu, line ? line : 1, value_new_bool(t->arena, true, line));
        return;
    }
    const struct python *p = launch_read_names(t->l, text, 1);
    const struct value *v = p ? python_name(p, accumulation) : NULL;
    int64_t budget = COPIED_MAX;
    struct value *own = v ? value_copy(t->arena, v, &budget) : NULL;
    if (own && line)
        value_move_to(own, line);
    if (own)
        put(t, all, accumulation, own->line, own);
}

/* What train.py has where nothing is given; its lines are of the file that is read. */
static void put_defaults(struct launch_context *t, struct value *all, int64_t line)
{
    put_text(t, all, defaults, line);
    struct value *type = value_new(t->arena, VALUE_UNKNOWN, line, 0);
    type->why = "the GPU decides it";
    put(t, all, "dtype", line, type);
}

static void take_all(struct launch_context *t, struct value *all, const char *text,
                     int64_t line)
{
    static const char optimizer_at[] = "/training/optimizer";
    struct value v = { .kind = VALUE_NONE, .line = line };
    const struct value_item own = { "train.py", line, &v };
    t->hyper[t->n_hyper++] = all;
    launch_take_rows(t, rows, NULL);
    launch_set(t, "/training/task", json_string("causal-lm"), &own);
    if (!launch_has(t, optimizer_at) && !launch_is_unresolved(t, optimizer_at) &&
        !(text && nanogpt_ask_optimizer(t, text, line)))
        launch_set(t, optimizer_at, json_string("adamw"), &own);
    launch_set(t, "/training/attention", json_string("sdpa"), &own);
    launch_set(t, "/parallelism/library", json_string("ddp"), &own);
    const struct value_item *note = value_get(all, each_gpu);
    if (note)
        value_remove(all, (int32_t)(note - all->items));
    dialect_report(t, nanogpt_tables, "", all,
                   (struct dialect_place) { line, "", "", true });
    t->n_hyper--;
}

/* Commands ------------------------------------------------------------------------- */

static bool is_file(const char *word)
{
    size_t n = strlen(word);
    return word[0] != '-' && n > 3 && strcmp(word + n - 3, ".py") == 0;
}

static bool text_is(struct launch *l, const char *text,
                    bool (*is)(const struct python *p))
{
    const struct python *p = launch_read_names(l, text, 0);
    return p && is(p);
}

static bool recognises_command(const struct dialect_input *in)
{
    const struct launch_command *c = in->command;
    const struct shell_word *w = c ? c->command->words : NULL;
    if (!in->context || !c)
        return false;
    const char *text =
        launch_program_text(in->context->l, in->context->arena, w[c->script].text);
    if (text)
        return text_is(in->context->l, text, is_program);
    if (strcmp(launch_last_part(w[c->script].text), "train.py") != 0)
        return false;
    for (int32_t i = c->script + 1; i < c->command->n; i++) {
        text = is_file(w[i].text)
                   ? launch_program_text(in->context->l, in->context->arena, w[i].text)
                   : NULL;
        if (text && text_is(in->context->l, text, is_configuration))
            return true;
    }
    return value_get(in->root, "--n-embd") && value_get(in->root, "--block-size");
}

bool nanogpt_recognises(const struct dialect_input *in)
{
    return in->source == DIALECT_COMMAND
               ? recognises_command(in)
               : is_program(in->python) || is_configuration(in->python);
}

/* train.py's own values, those of the files that it executes, and --key=value. */
static void read_command(struct launch_context *t, const struct launch_command *c)
{
    const struct shell_word *w = c->command->words;
    int64_t line = c->command->line;
    struct value *all = value_new(t->arena, VALUE_DICT, line, 0);
    const struct shell_word *lost = NULL;
    const char *own = launch_program_text(t->l, t->arena, w[c->script].text);
    put_defaults(t, all, line);
    if (own)
        put_text(t, all, own, line);
    if (own)
        put_accumulation(t, all, own, line);
    for (int32_t i = c->script + 1; i < c->command->n; i++) {
        const char *text =
            is_file(w[i].text) ? launch_program_text(t->l, t->arena, w[i].text) : NULL;
        if (text)
            put_text(t, all, text, w[i].line);
        else if (is_file(w[i].text))
            lost = &w[i];
    }
    if (lost) {
        diags_add(
            &t->l->loader->diags,
            diag_at_line(DIAG_ERROR, DIAG_UNREADABLE, t->l->file, lost->line),
            "\"%.80s\", which train.py executes, was not found (put it next to the "
            "script)",
            lost->text);
        return;
    }
    for (int32_t i = 0; i < c->options.n; i++) {
        const struct value_item *it = &c->options.items[i];
        put(t, all, launch_argument(t->arena, it->key), it->line, it->value);
    }
    take_all(t, all, own, line);
}

void nanogpt_read(struct launch_context *t, const struct dialect_input *in)
{
    if (in->source == DIALECT_COMMAND) {
        read_command(t, in->command);
        return;
    }
    struct value *all = value_new(t->arena, VALUE_DICT, 1, 0);
    t->l->title = is_program(in->python) ? "nanoGPT's train.py: read, not run"
                                         : "nanoGPT's configuration";
    t->l->line = 1;
    put_defaults(t, all, 1);
    put_names(t, all, in->python, 0);
    const char *text = is_program(in->python) ? in->python->text : NULL;
    if (text)
        put_accumulation(t, all, text, 0);
    take_all(t, all, text, 1);
}
