/* Arguments of calls that no row reads: which of them a step does not depend on, and
 * that the others are named. */
#include "base/names.h"
#include "base/strbuf.h"
#include "config/pointer.h"
#include "dialect/launch/entry_points.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"

#include <inttypes.h>
#include <string.h>

/* clang-format off */
/* transformers 4.57, accelerate 1.12, trl 0.24: of the calls' own arguments. */
static const char *const of_trainer[] = {
    "0", "1", "2", "3", "4", "5", "6", "model", "args", "train_dataset", "eval_dataset", "tokenizer", "processing_class", "data_collator",
    "callbacks", "compute_metrics", "compute_loss_func", "preprocess_logits_for_metrics", "formatting_func",
    "dataset_text_field", "dataset_kwargs", "peft_config", "ref_model", "dataset_batch_size", "num_of_sequences",
    "chars_per_token", "infinite", "model_init", "reward_funcs", "reward_model", "value_model", "is_encoder_decoder",
    "max_prompt_length", "max_target_length", "max_completion_length", "loss_type", "label_smoothing", NULL,
};
static const char *const of_model[] = {
    "0", "pretrained_model_name_or_path", "model_name", "trust_remote_code", "cache_dir", "revision", "token", "use_auth_token", "low_cpu_mem_usage",
    "num_labels", "id2label", "label2id", "ignore_mismatched_sizes", "from_tf", "use_safetensors", "local_files_only",
    "use_cache", "pad_token_id", "quantization_config", "finetuning_task", "problem_type", "variant", "weights_only",
    "force_download", "full_finetuning", "fast_inference", "gpu_memory_utilization", "max_lora_rank", NULL,
};
static const char *const of_accelerator[] = {
    "mixed_precision", "log_with", "project_dir", "logging_dir", "project_config", "split_batches", "rng_types",
    "step_scheduler_with_optimizer", "dispatch_batches", "even_batches", "gradient_accumulation_plugin", "kwargs_handlers", "dataloader_config", "device_placement", NULL,
};
/* lightning 2.5 */
static const char *const of_lightning[] = {
    "accelerator", "strategy", "distributed_backend", "devices", "gpus", "num_nodes", "precision", "logger", "callbacks", "fast_dev_run", "max_time", "min_epochs", "min_steps",
    "limit_train_batches", "limit_val_batches", "limit_test_batches", "limit_predict_batches", "val_check_interval", "check_val_every_n_epoch", "num_sanity_val_steps",
    "log_every_n_steps", "enable_checkpointing", "enable_progress_bar", "enable_model_summary", "gradient_clip_algorithm", "deterministic", "benchmark",
    "inference_mode", "use_distributed_sampler", "reload_dataloaders_every_n_epochs", "default_root_dir", "loggers", "resume_from_checkpoint", "checkpoint_callback",
    "progress_bar_refresh_rate", "weights_summary", "replace_sampler_ddp", "auto_select_gpus", "move_metrics_to_cpu", "amp_backend", "terminate_on_nan", NULL,
};
/* What decides how the states are held. */
static const char *const plugins[] = { "fsdp_plugin", "deepspeed_plugin", "deepspeed_plugins",
    "megatron_lm_plugin", "parallelism_config", "plugins", NULL };

static const struct { enum user_script_part part; const char *const *idle; } calls[] = {
    { SCRIPT_TRAINER, of_trainer }, { SCRIPT_MODEL, of_model }, { SCRIPT_ACCELERATOR, of_accelerator }, { SCRIPT_LIGHTNING, of_lightning },
};
/* clang-format on */

/* What a trainer has of optimizers, where that is known (user_script_optimizer.c). */
static bool is_optimizer(const struct user_script *g, const char *argument)
{
    static const char *const names[] = { "optimizers", "optimizer_cls_and_kwargs",
                                         NULL };
    return names_listed(names, argument) && user_script_knows_optimizer(g);
}

static void name_left(struct launch_context *t, const struct user_script *g,
                      const struct python_call *c, enum user_script_part part,
                      const char *const *idle)
{
    static const char library[] = "/parallelism/library";
    bool configured = part == SCRIPT_MODEL && user_script_configured(g);
    const char *name = python_last_part(c->function);
    struct strbuf left;
    strbuf_init(&left);
    for (int32_t i = 0; i < c->arguments->n; i++) {
        const struct value_item *it = &c->arguments->items[i];
        if (!it->key || names_listed(idle, it->key) ||
            user_script_reads(part, it->key) || launch_is_off(it->value) ||
            launch_is_heard(t, it) || is_optimizer(g, it->key) ||
            (configured && strcmp(it->key, "config") == 0) ||
            (names_listed(plugins, it->key) && it->value->kind == VALUE_DICT &&
             it->value->text))
            continue;
        strbuf_printf(&left, "%s%.60s", strbuf_get(&left)[0] ? ", " : "", it->key);
        if (names_listed(plugins, it->key) && !launch_has(t, library))
            launch_add_unresolved(t, library, g->line ? g->line : it->line,
                                  "%s of %.60s(...) decides how the model's states are "
                                  "held, and is not read",
                                  it->key, name);
    }
    if (strbuf_get(&left)[0])
        launch_note(t->l, g->line ? g->line : c->line, DIAG_NOT_SIMULATED,
                    "%.60s(...): not read, and may change time or memory: %s", name,
                    strbuf_get(&left));
    strbuf_release(&left);
}

/* Methods of a trainer's class that the text has of its own, and what is taken then: a loss
 * may run the model more than once, or on more sequences than the batch has. */
static const struct own_method {
    enum user_script_part part;
    const char *taken;
} own_methods[] = {
    { SCRIPT_LOSS, "a step is taken to be one pass of its batch" },
    { SCRIPT_OWN_LOADER, "batches are taken to be those of the trainer's arguments" },
    { SCRIPT_OWN_OPTIMIZER,
      "the optimizer is taken to be that of the trainer's arguments" },
};

static void name_method(struct launch_context *t, const struct user_script *g,
                        const struct own_method *m)
{
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        if (user_script_part_of(c) != m->part || c->quoted)
            continue;
        const char *at =
            g->line ? arena_printf(t->arena, " (line %lld)", (long long)c->line) : "";
        launch_note(t->l, g->line ? g->line : c->line, DIAG_NOT_SIMULATED,
                    "%.60s%s is the text's own: %s", python_last_part(c->function), at,
                    m->taken);
        return;
    }
}

static void name_methods(struct launch_context *t, const struct user_script *g)
{
    bool trains = g->parts[SCRIPT_TRAINER] || g->parts[SCRIPT_ARGUMENTS];
    for (size_t i = 0; trains && i < sizeof(own_methods) / sizeof(own_methods[0]); i++)
        if (own_methods[i].part != SCRIPT_OWN_OPTIMIZER ||
            !user_script_knows_optimizer(g))
            name_method(t, g, &own_methods[i]);
}

/* What a call of AutoTokenizer.from_pretrained(...) loads; NULL: it is no such call. */
static const struct value *tokenizer_of(const struct python_call *c)
{
    const char *last = python_last_part(c->function);
    return strcmp(last, "from_pretrained") == 0 && strstr(c->function, "Tokenizer")
               ? user_script_given(c, "pretrained_model_name_or_path", "0")
               : NULL;
}

/* model.resize_token_embeddings(len(tokenizer)): of a tokenizer that is not the model's,
 * the vocabulary is another. */
static void name_resized(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *resized = NULL;
    const struct value *of = NULL;
    const struct value_item *model = value_get(g->words, "model_name_or_path");
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        const struct value *v = c->quoted ? NULL : tokenizer_of(c);
        of = v ? v : of;
        if (!c->quoted &&
            strcmp(python_last_part(c->function), "resize_token_embeddings") == 0)
            resized = c;
    }
    const struct python_call *c = g->parts[SCRIPT_CONFIGURATION];
    const struct value *name = model ? model->value : user_script_given(c, "", "0");
    if (!resized || !of || of->kind != VALUE_STRING || !name ||
        name->kind != VALUE_STRING || strcmp(of->text, name->text) == 0)
        return;
    launch_note(t->l, g->line ? g->line : resized->line, DIAG_NOT_SIMULATED,
                "resize_token_embeddings(...): the vocabulary is that of %.60s, and is "
                "taken to be the model's (a config.json with its vocab_size has it)",
                of->text);
}

/* Whether two models are loaded as the same one, as far as is known. */
static bool is_alike(const struct python_call *a, const struct python_call *b)
{
    static const char name[] = "pretrained_model_name_or_path";
    static const char *const quantised[] = { "quantization_config", "load_in_4bit",
                                             "load_in_8bit" };
    const struct value *x = user_script_given(a, name, "0"),
                       *y = user_script_given(b, name, "0");
    bool same = !x || !y || x->kind != VALUE_STRING || y->kind != VALUE_STRING ||
                strcmp(x->text, y->text) == 0;
    for (size_t i = 0; i < sizeof(quantised) / sizeof(quantised[0]); i++)
        same &= !value_get(a->arguments, quantised[i]) ==
                !value_get(b->arguments, quantised[i]);
    return same;
}

/* A reference that is another model than the trained one, or held otherwise. */
static void name_reference(struct launch_context *t, const struct user_script *g)
{
    const struct value *given =
        user_script_given(g->parts[SCRIPT_TRAINER], "ref_model", "1");
    const struct python_call *c = user_script_maker(g->python, given),
                             *model = g->parts[SCRIPT_MODEL];
    if (!c || !model || user_script_part_of(c) != SCRIPT_MODEL || is_alike(c, model))
        return;
    launch_note(t->l, g->line ? g->line : c->line, DIAG_NOT_SIMULATED,
                "%.60s(...) loads another reference than the model that is trained, "
                "and is taken to be as large, in the same type",
                c->function);
}

/* The line after which a loop's passes before backward() begin: of what ends another
 * loop's, or switches the model. What is under no_grad() is no pass. */
static int64_t passes_from(const struct user_script *g,
                           const struct python_call *backward, bool *open)
{
    static const char *const marks[] = { "backward", "step",           "train", "eval",
                                         "no_grad",  "inference_mode", NULL };
    int64_t from = 0;
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        const char *last = python_last_part(c->function);
        if (c->around == backward->around && !c->imported && c->line > from &&
            c->line < backward->line && names_listed(marks, last)) {
            from = c->line;
            *open = strcmp(last, "no_grad") == 0 || strcmp(last, "inference_mode") == 0;
        }
    }
    return from;
}

static bool is_pass(const struct python_call *c)
{
    static const char *const names[] = { "model", "self.model", "model.forward",
                                         "self.model.forward", NULL },
                             *const others[] = { "ref",    "teacher", "old",
                                                 "target", "eval",    NULL };
    return names_listed(names, c->function) && !c->quoted && !c->unsure &&
           !c->imported && c->target && !names_within(others, c->target);
}

/* How often a loop of the text's own runs its model before each backward(), by the calls
 * that are sure and at its depth; those of another model by its name are none. */
static int64_t passes_of(const struct user_script *g,
                         const struct python_call *backward)
{
    bool open = false; /* the first of them keeps nothing */
    int64_t n = 0, line = passes_from(g, backward, &open);
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        /* a loop whose rounds are known has each call as often */
        if (is_pass(c) && c->around == backward->around && backward->loops > 0 &&
            c->loops == backward->loops && c->line < backward->line && c->line > line) {
            line = c->line;
            n++;
        }
    }
    return n - open;
}

/* Passes of one step are as many sequences at once: all of them are kept for backward(). */
static bool take_passes(struct launch_context *t, const struct user_script *g,
                        const struct python_call *backward)
{
    static const char at[] = "/training/micro_batch_size";
    const json_t *batch = pointer_get(t->tree, at);
    int64_t n = passes_of(g, backward), line = g->line ? g->line : backward->line;
    if (n < 2 || trainer_prefers(t) || !json_is_integer(batch))
        return false;
    int64_t each = json_integer_value(batch);
    struct value v = { .kind = VALUE_INT, .line = line };
    const struct value_item from = { "the loop's passes", line, &v };
    launch_forget(t, at);
    json_object_del(json_object_get(t->tree, "training"), strrchr(at, '/') + 1);
    launch_set(t, at, json_integer((json_int_t)(each * n)), &from);
    launch_note(t->l, line, DIAG_ASSUMED,
                "the loop is the script's own, and runs the model %" PRId64
                " times on each batch of %" PRId64
                ": as many sequences are taken to be one batch",
                n, each);
    return true;
}

/* What else a loop of the text's own does with its model is not read; nor is a loop that is
 * elsewhere, of which the optimizer alone is seen. */
static void name_loop(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *const *p = g->parts, *c = p[SCRIPT_BACKWARD],
                                    *of = p[SCRIPT_OPTIMIZER];
    bool held = p[SCRIPT_LIGHTNING] || p[SCRIPT_ENGINE] || p[SCRIPT_ACCELERATOR] ||
                p[SCRIPT_BOOSTER] || user_script_is_keras(g);
    if (p[SCRIPT_TRAINER] || p[SCRIPT_ARGUMENTS] || (c && take_passes(t, g, c)) ||
        launch_is_unresolved(t, "/training/task"))
        return;
    if (c)
        launch_note(
            t->l, g->line ? g->line : c->line, DIAG_ASSUMED,
            "the loop is the script's own: it is taken to run the model once on each "
            "batch of its loader");
    else if (of && !held)
        launch_note(
            t->l, g->line ? g->line : of->line, DIAG_ASSUMED,
            "backward() is not seen: the loop is elsewhere, and is taken to update "
            "after each batch");
}

/* Whether the text calls a method of its trainer; of any object, `any`. */
static bool calls_method(const struct user_script *g, const char *method, bool any)
{
    const struct python_call *trainer = g->parts[SCRIPT_TRAINER];
    const char *target = trainer && trainer->target ? trainer->target : "";
    size_t n = strlen(target);
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const char *function = g->python->calls.v[i].function;
        bool own = n && strncmp(function, target, n) == 0 && function[n] == '.' &&
                   strcmp(function + n + 1, method) == 0;
        if (own || (any && strcmp(python_last_part(function), method) == 0))
            return true;
    }
    return false;
}

bool user_script_refuses_evaluation(struct launch_context *t,
                                    const struct user_script *g)
{
    const struct python_call *trainer = g->parts[SCRIPT_TRAINER];
    bool evaluates =
        calls_method(g, "evaluate", false) || calls_method(g, "predict", false);
    if (!trainer || !evaluates || calls_method(g, "train", true))
        return false;
    launch_refuse_entry(t->l, python_last_part(trainer->function),
                        "evaluates here, and trains nothing",
                        g->line ? g->line : trainer->line);
    return true;
}

/* A trainer that this text does not start. */
static void name_idle(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *trainer = g->parts[SCRIPT_TRAINER];
    if (trainer && !calls_method(g, "train", true))
        launch_note(t->l, g->line ? g->line : trainer->line, DIAG_ASSUMED,
                    "%.60s(...): nothing here calls its train(), and it is taken to be "
                    "called",
                    trainer->function);
}

/* A training in a function that nothing of the text is seen to call, where what it calls
 * trains, too. */
static void name_uncalled(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *const *p = g->parts, *c = p[SCRIPT_TRAINER]
                                                            ? p[SCRIPT_TRAINER]
                                                            : p[SCRIPT_ARGUMENTS];
    bool others = false;
    for (int64_t i = 0; c && i < g->python->calls.n; i++) {
        const struct python_call *d = &g->python->calls.v[i];
        enum user_script_part part = user_script_part_of(d);
        bool trains = part == SCRIPT_LOADER || part == SCRIPT_OPTIMIZER ||
                      part == SCRIPT_BACKWARD || part == SCRIPT_ENGINE;
        others |= trains && d->within && !d->uncalled && !d->imported && c->within &&
                  strcmp(d->within, c->within) != 0;
    }
    if (c && c->uncalled && others)
        launch_note(t->l, g->line ? g->line : c->line, DIAG_NOT_SIMULATED,
                    "%.60s(...) is in %.60s(), which nothing here is seen to call: "
                    "what is called may train otherwise",
                    python_last_part(c->function), c->within);
}

/* LlamaAttention.forward = mine, layer.self_attn = mine: kernels of the text's own. */
static void name_replaced(struct launch_context *t, const struct user_script *g)
{
    static const char *const parts[] = { "self_attn", "attention", "attn", "mlp",
                                         NULL };
    for (int64_t i = 0; i < g->python->names.n; i++) {
        const struct python_name *n = &g->python->names.v[i];
        const char *last = n->name ? python_last_part(n->name) : "";
        bool dotted = n->name && last != n->name && strncmp(n->name, "self.", 5) != 0;
        bool forward = strcmp(last, "forward") == 0 && strstr(n->name, "Attention");
        if (!dotted || !n->value || !(forward || names_listed(parts, last)))
            continue;
        launch_note(t->l, g->line ? g->line : n->value->line, DIAG_NOT_SIMULATED,
                    "%.80s is given another: what that computes is not read, and the "
                    "model's own is simulated",
                    n->name);
        return;
    }
}

void user_script_name_left(struct launch_context *t, const struct user_script *g)
{
    name_methods(t, g);
    name_loop(t, g);
    name_resized(t, g);
    name_reference(t, g);
    name_idle(t, g);
    name_uncalled(t, g);
    name_replaced(t, g);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (g->parts[calls[i].part])
            name_left(t, g, g->parts[calls[i].part], calls[i].part, calls[i].idle);
}
