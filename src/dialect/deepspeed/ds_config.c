/* DeepSpeed's configuration as a file, and its values that are "auto". */
#include "config/pointer.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/source/files.h"
#include "model/model.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { VALUES_MAX = 500 };

/* The file ------------------------------------------------------------------------- */

bool deepspeed_recognises(const struct dialect_input *in)
{
    static const char *const marks[] = { "zero_optimization", "train_batch_size",
                                         "train_micro_batch_size_per_gpu" };
    /* of scenarios, and of programs whose batch is called so */
    static const char *const others[] = { "training",      "cluster",  "base_model",
                                          "model_name",    "model_id", "model",
                                          "learning_rate", "lr" };
    bool marked = false, other = false;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        marked |= value_get(in->root, marks[i]) != NULL;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        other |= value_get(in->root, others[i]) != NULL;
    return marked && !other;
}

/* Read apart, so that what is no JSON is somebody else's to report. */
/* By its keys, whatever its name ends with (open-instruct's end with .conf). */
static bool is_config(const char *file)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const struct dialect_input in = {
        .source = DIALECT_DOCUMENT,
        .root = value_keys_of_json(cfg_load(&loader, file)),
    };
    bool is_one = in.root && deepspeed_recognises(&in);
    cfg_loader_release(&loader);
    return is_one;
}

/* Alone: the rest is for --set to say. */
void deepspeed_read(struct launch_context *t, const struct dialect_input *in)
{
    t->l->title = "DeepSpeed's configuration";
    t->l->what = "the configuration";
    t->l->line = 1;
    deepspeed_take(t, in->root, "");
    deepspeed_unresolved_autos(t);
}

static struct value *value_of_root(struct cfg root)
{
    return cfg_is_object(root)
               ? value_of_json(root, VALUES_MAX, "what is none of DeepSpeed's")
               : NULL;
}

struct value *deepspeed_load(struct cfg_loader *loader, const char *file)
{
    return value_of_root(cfg_load(loader, file));
}

/* Next to a script ----------------------------------------------------------------- */

const struct value *deepspeed_parse(struct cfg_loader *loader, const char *file,
                                    const char *text, int64_t line)
{
    const char *name =
        arena_printf(&loader->arena, "%s, the text of line %" PRId64, file, line);
    struct cfg root = cfg_parse(loader, name, text, strlen(text));
    struct value *v = value_of_root(root);
    if (v)
        value_move_by(v, line - 1);
    return v;
}

/* Of a path in SageMaker's container, where source_dir is /opt/ml/code
 * (sagemaker-training-toolkit, environment.py), what is within it. */
static const char *within_code(const char *name)
{
    static const char code[] = "/opt/ml/code/";
    return strncmp(name, code, sizeof(code) - 1) == 0 ? name + sizeof(code) - 1 : name;
}

const char *deepspeed_find(struct launch_context *t, const char *name)
{
    name = within_code(name);
    const char *slash = strrchr(t->l->where, '/');
    int n = slash && *name != '/' ? (int)(slash - t->l->where + 1) : 0;
    const struct value_item *dir = value_get(t->call->arguments, "source_dir");
    const char *inside =
        dir && dir->value->kind == VALUE_STRING ? dir->value->text : "";
    const char *places[] = {
        arena_printf(t->arena, "%.*s%s", n, t->l->where, name),
        arena_printf(t->arena, "%.*s%s/%s", n, t->l->where, inside, name),
        name,
        source_files_next_to(t->arena, t->l->where, name),
    };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (places[i] && is_config(places[i]))
            return places[i];
    return NULL;
}

/* Configurations that axolotl (deepspeed_configs, 0.18), LLaMA-Factory
 * (examples/deepspeed, 0.9.6) and LLaVA (scripts, 1.2.2) ship, which their users name
 * without having them. */
static const struct shipped {
    const char *name;
    int stage;
    bool states, parameters; /* in host memory */
    bool overlaps;
} shipped[] = {
    { "deepspeed_configs/zero1.json", 1, false, false, true },
    { "deepspeed_configs/zero2.json", 2, true, false, true },
    { "deepspeed_configs/zero3.json", 3, false, false, true },
    { "deepspeed_configs/zero3_bf16.json", 3, false, false, true },
    { "deepspeed_configs/zero3_bf16_cpuoffload_all.json", 3, true, true, true },
    { "deepspeed_configs/zero3_bf16_cpuoffload_params.json", 3, false, true, true },
    { "deepspeed/ds_z0_config.json", 0, false, false, false },
    { "deepspeed/ds_z2_config.json", 2, false, false, false },
    { "deepspeed/ds_z2_offload_config.json", 2, true, false, false },
    { "deepspeed/ds_z3_config.json", 3, false, false, false },
    { "deepspeed/ds_z3_offload_config.json", 3, true, true, false },
    { "scripts/zero2.json", 2, false, false, true },
    { "scripts/zero3.json", 3, false, false, true },
    { "scripts/zero3_offload.json", 3, true, true, true },
};

/* The stage that a name has, "ds_config_zero3.json", "zero_stage1.json"; -1: it has none,
 * or has something in host memory, and not what. */
static int stage_named(const char *name)
{
    static const char *const before[] = { "zero", "stage", "_z", "-z" };
    const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name;
    if (strstr(file, "offload") || strstr(file, "nvme") || strstr(file, "hpz"))
        return -1;
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        const char *at = strstr(file, before[i]);
        at = at ? at + strlen(before[i]) : "";
        at += strspn(at, "_-");
        if (*at >= '0' && *at <= '3' && !isdigit((unsigned char)at[1]))
            return *at - '0';
    }
    return -1;
}

static const struct value *parse_row(struct launch_context *t, const struct shipped *s,
                                     int64_t line)
{
    static const char offload[] = ",\"offload_%s\":{\"device\":\"cpu\"}";
    const char *text = arena_printf(
        t->arena,
        "{\"zero_optimization\":{\"stage\":%d,\"overlap_comm\":%s,"
        "\"reduce_bucket_size\":%s%s%s},\"bf16\":{\"enabled\":\"auto\"},"
        "\"fp16\":{\"enabled\":\"auto\"},\"gradient_clipping\":\"auto\","
        "\"train_micro_batch_size_per_gpu\":\"auto\"}",
        s->stage, s->overlaps ? "true" : "false", s->stage == 3 ? "\"auto\"" : "5e8",
        s->states ? arena_printf(t->arena, offload, "optimizer") : "",
        s->parameters ? arena_printf(t->arena, offload, "param") : "");
    return deepspeed_parse(t->l->loader, t->l->file, text, line);
}

static const struct value *shipped_of(struct launch_context *t, const char *name,
                                      int64_t line)
{
    for (size_t i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++) {
        const struct shipped *s = &shipped[i];
        size_t n = strlen(name), m = strlen(s->name);
        if (n < m || strcmp(name + n - m, s->name) != 0)
            continue;
        launch_note(t->l, line, DIAG_ASSUMED,
                    "%s is not here; it is taken as its project ships it: ZeRO-%d%s",
                    name, s->stage,
                    s->states       ? ", optimizer states in host memory"
                    : s->parameters ? ", parameters in host memory"
                                    : "");
        return parse_row(t, s, line);
    }
    const struct shipped by_name = { name, stage_named(name), false, false, true };
    if (by_name.stage < 0)
        return NULL;
    launch_note(
        t->l, line, DIAG_ASSUMED,
        "%s is not here; by its name it is taken to be ZeRO-%d with overlap_comm "
        "and nothing in host memory (put it next to the script)",
        name, by_name.stage);
    return parse_row(t, &by_name, line);
}

/* "deepspeed_config" is of a program's own with DeepSpeed's launcher, the Trainer's and
 * Accelerate's words are others. */
static void take_for(struct launch_context *t, const struct value_item *it,
                     const struct value *config, const char *name)
{
    const char *prefix = arena_printf(t->arena, "%s: ", name);
    if (strcmp(it->key, "deepspeed") == 0 ||
        strcmp(it->key, "deepspeed_config_file") == 0)
        deepspeed_take_for_trainer(t, config, prefix);
    else
        deepspeed_take(t, config, prefix);
}

void deepspeed_take_file(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it)
{
    const struct value *v = it->value;
    if (v->kind == VALUE_DICT) {
        take_for(t, it, v, it->key);
        return;
    }
    bool alone = launch_true(v) && !launch_hyper(t, "deepspeed_config");
    if (alone && v->kind == VALUE_BOOL) {
        t->converts = true;
        launch_add_unresolved(t, row->pointer, v->line,
                              "%s: which configuration of DeepSpeed's is not said",
                              it->key);
    }
    if (v->kind != VALUE_STRING && v->kind != VALUE_UNKNOWN)
        return; /* "deepspeed": True next to "deepspeed_config" */
    const struct source_file *own =
        v->kind == VALUE_STRING ? launch_own_file(t->l, v->text) : NULL;
    if (own) {
        const struct value *written =
            deepspeed_parse(t->l->loader, t->l->file, own->text, own->line);
        if (written)
            take_for(t, it, written, v->text);
        return;
    }
    /* below a variable of the environment, too */
    bool named = v->kind == VALUE_STRING || (v->text && *v->text == '$');
    const char *file = named ? deepspeed_find(t, v->text) : NULL;
    if (!file && v->text && !strchr(launch_last_part(v->text), '$')) /* by its name */
        file = launch_path_next_to(t->l, v->text, v->line);
    struct value *read = file ? deepspeed_load(t->l->loader, file) : NULL;
    const struct value *known =
        !read && v->kind == VALUE_STRING ? shipped_of(t, v->text, v->line) : NULL;
    if (known) {
        take_for(t, it, known, v->text);
        return;
    }
    if (!read) {
        t->converts = true; /* whatever it says */
        launch_add_unresolved(
            t, row->pointer, v->line,
            "%s: DeepSpeed's configuration%s%.80s%s was not found (put it next to "
            "the script)",
            it->key, v->text ? " \"" : "", v->text ? v->text : "", v->text ? "\"" : "");
        return;
    }
    value_move_to(read, v->line);
    take_for(t, it, read, v->text);
}

/* "auto" --------------------------------------------------------------------------- */

/* max_grad_norm is 1 unless said otherwise (transformers.TrainingArguments). */
static void fill_clipping(struct launch_context *t, const struct launch_auto *a)
{
    const struct value one = { .kind = VALUE_REAL, .line = a->line, .real = 1 };
    const struct value_item from = { "max_grad_norm's default", a->line,
                                     (struct value *)(uintptr_t)&one };
    launch_set(t, a->pointer, json_real(1), &from);
}

void deepspeed_unresolved_autos(struct launch_context *t)
{
    for (int64_t i = 0; i < t->l->autos.n; i++) {
        const struct launch_auto *a = &t->l->autos.v[i];
        bool clips = a->argument && strcmp(a->argument, "max_grad_norm") == 0,
             precision = strcmp(a->pointer, "/training/precision") == 0;
        if (!a->argument || launch_has(t, a->pointer) ||
            launch_is_unresolved(t, a->pointer))
            continue;
        if (clips)
            fill_clipping(t, a);
        else if (!precision || t->n_hyper == 0) /* the Trainer's default is fp32 */
            launch_add_unresolved(t, a->pointer, a->line,
                                  "%s: \"auto\" is for the Trainer's %s to say", a->key,
                                  a->argument);
    }
}

/* 0: the model is not known, or has errors that its reader reports. */
static int64_t hidden_of(struct cfg root)
{
    struct cfg_loader loader;
    struct model m = { .hidden = 0 };
    json_t *model = json_object_get(root.json, "model");
    cfg_loader_init(&loader);
    struct cfg at = cfg_get(
        cfg_from_tree(&loader, "model", json_pack("{s:O}", "model", model)), "model");
    int64_t hidden = model && model_read(&m, &loader, at) == 0 ? m.hidden : 0;
    cfg_loader_release(&loader);
    return hidden;
}

void deepspeed_settle_autos(struct launch *l, struct cfg root)
{
    int64_t hidden = 0;
    for (int64_t i = 0; i < l->autos.n; i++) {
        const struct launch_auto *a = &l->autos.v[i];
        if (!a->unit || pointer_get(root.json, a->pointer))
            continue;
        hidden = hidden ? hidden : hidden_of(root);
        double h = (double)hidden, v = a->linear * h + a->squared * h * h;
        struct err err = { 0 };
        if (hidden == 0)
            return;
        pointer_set(root.json, a->pointer,
                    a->unit[0] ? json_sprintf("%.0f%s", v, a->unit)
                               : json_integer((json_int_t)v),
                    &err);
        launch_note(l, a->line, DIAG_ASSUMED,
                    "%s: \"auto\" is %.0f%s, of the model's hidden size %" PRId64,
                    a->key, v, a->unit[0] ? " B" : " elements", hidden);
    }
}
