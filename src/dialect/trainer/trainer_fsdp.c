/* The Hugging Face Trainer's fsdp: "full_shard auto_wrap" and the like
 * (transformers.TrainingArguments.fsdp). */
#include "base/names.h"
#include "base/units.h"
#include "config/pointer.h"
#include "dialect/trainer/trainer.h"
#include "hardware/instance.h"

#include <inttypes.h>
#include <string.h>

/* Between words; quotes that a shell left, too: --fsdp '"full_shard auto_wrap"'. */
static const char between[] = " ,\"'";

static bool text_has(const struct value *v, const char *word)
{
    size_t n = strlen(word);
    for (const char *s = v->kind == VALUE_STRING ? v->text : NULL; s && *s;) {
        size_t m = strcspn(s, between);
        if (m == n && strncmp(s, word, n) == 0)
            return true;
        s += m + strspn(s + m, between);
    }
    return false;
}

/* Of a list its strings alone: what is in lists within it is no option, and a list may
 * hold itself. */
static bool has_word(const struct value *v, const char *word)
{
    if (launch_true(v))
        return strcmp(word, "full_shard") == 0;
    for (int32_t i = 0; v->kind == VALUE_LIST && i < v->n; i++)
        if (text_has(v->items[i].value, word))
            return true;
    return text_has(v, word);
}

int64_t trainer_gpus_of(const json_t *cluster)
{
    const char *name = json_string_value(json_object_get(cluster, "instance"));
    const json_t *used = json_object_get(cluster, "gpus_per_instance");
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const struct instance *inst =
        name ? instance_get(&loader, name, (struct cfg) { 0 }) : NULL;
    int64_t n = json_is_integer(used) ? (int64_t)json_integer_value(used)
                : inst                ? inst->n_gpus
                                      : 0;
    cfg_loader_release(&loader);
    return n;
}

static const char degree_at[] = "/parallelism/sharding/degree";

/* hybrid_shard shards inside an instance, and replicates over them. */
void trainer_take_hybrid(struct launch_context *t, const struct value_item *it)
{
    int64_t n = trainer_gpus_of(json_object_get(t->tree, "cluster"));
    if (n > 0) {
        launch_set(t, degree_at, json_integer((json_int_t)n), it);
        return;
    }
    t->l->shard_copies = -1;
    launch_add_unresolved(
        t, degree_at, it->value->line,
        "%s: hybrid_shard is over the GPUs of an instance, which is not known",
        it->key);
}

void trainer_take_copies(struct launch_context *t, const struct value_item *it)
{
    int64_t copies;
    if (!launch_whole(it->value, &copies) || copies < 1) {
        launch_unresolved_item(t, degree_at, it, "whole number of at least 1");
        return;
    }
    t->l->shard_copies = copies;
    launch_add_unresolved(t, degree_at, it->value->line,
                          "%s: over how many GPUs is sharded depends on the number of "
                          "GPUs: all over %" PRId64 " x tensor x pipeline",
                          it->key, copies);
}

static int64_t degree_of(struct cfg root, const char *pointer)
{
    const json_t *v = pointer_get(root.json, pointer);
    return json_is_integer(v) ? (int64_t)json_integer_value(v) : 1;
}

/* The GPUs of one copy of a model on `each` GPUs of every instance; 0: not known, or no
 * whole number. */
static int64_t shard_of(struct cfg root, int64_t copies, int64_t each)
{
    const json_t *count = pointer_get(root.json, "/cluster/count");
    int64_t all =
                json_is_integer(count) ? (int64_t)json_integer_value(count) * each : 0,
            parts = copies * degree_of(root, "/parallelism/tensor") *
                    degree_of(root, "/parallelism/pipeline");
    return parts > 0 && all % parts == 0 ? all / parts : 0;
}

void trainer_settle_hybrid(struct launch *l, struct cfg root)
{
    const struct launch_unresolved *open = launch_unresolved_of(l, degree_at);
    int64_t each = trainer_gpus_of(json_object_get(root.json, "cluster")),
            n = l->shard_copies < 0 ? each : shard_of(root, l->shard_copies, each);
    struct err err = { 0 };
    if (!open || !l->shard_copies || launch_is_set(root, degree_at) || n == 0)
        return;
    pointer_set(root.json, degree_at, json_integer((json_int_t)n), &err);
    if (l->shard_copies < 0)
        launch_note(l, open->line, DIAG_ASSUMED,
                    "hybrid_shard is over the %" PRId64 " GPU%s of an instance", n,
                    units_plural(n));
    else
        launch_note(
            l, open->line, DIAG_ASSUMED,
            "%" PRId64 " cop%s of the model: each sharded over %" PRId64 " GPU%s",
            l->shard_copies, l->shard_copies == 1 ? "y" : "ies", n, units_plural(n));
}

/* CPUOffload moves parameters, too; those that stay gathered are simulated on the
 * GPU. */
void trainer_take_offload(struct launch_context *t, const struct value_item *it,
                          bool full)
{
    launch_set(t, "/parallelism/sharding/offload",
               json_string(full ? "parameters" : "optimizer"), it);
    if (!full)
        launch_note(t->l, it->value->line, DIAG_APPROXIMATE,
                    "%s: of what is offloaded, optimizer states alone are simulated in "
                    "host memory",
                    it->key);
}

/* Names the words that transformers' FSDPOption has not (trainer_utils.py). */
static void note_words(struct launch_context *t, const struct value_item *it)
{
    static const char *const known[] = {
        "full_shard",         "shard_grad_op", "no_shard",  "offload",
        "hybrid_shard_zero2", "hybrid_shard",  "auto_wrap", NULL,
    };
    const struct value *v = it->value;
    for (int32_t i = 0; i < (v->kind == VALUE_LIST ? v->n : 1); i++) {
        const struct value *e = v->kind == VALUE_LIST ? v->items[i].value : v;
        for (const char *s = e->kind == VALUE_STRING ? e->text : ""; *s;) {
            size_t n = strcspn(s, between);
            char *word = arena_strndup(t->arena, s, n);
            if (n && !launch_true(e) && !names_listed(known, word))
                diags_add(
                    &t->l->loader->diags,
                    diag_at_line(DIAG_WARNING, DIAG_UNKNOWN_NAME, t->l->file, e->line),
                    "%s: \"%.40s\" is no option of the Trainer's "
                    "FSDP",
                    it->key, word);
            s += n + strspn(s + n, between);
        }
    }
}

/* Whether there is a word; "" and [] shard nothing. */
static bool asks(const struct value *v)
{
    const char *text = v->kind == VALUE_STRING ? v->text : "";
    return text[strspn(text, between)] || (v->kind == VALUE_LIST && v->n > 0);
}

/* Without "auto_wrap" nothing names a policy (training_args.py, __post_init__). */
static void take_units(struct launch_context *t, const struct value_item *it)
{
    bool wraps = has_word(it->value, "auto_wrap") || launch_true(it->value);
    t->l->wraps = t->l->wraps || wraps;
    if (!wraps)
        t->l->unwrapped_line = it->line;
}

void trainer_take_fsdp(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    static const struct {
        const char *word, *strategy;
        bool hybrid;
    } strategies[] = {
        { "full_shard", "full", false },
        { "hybrid_shard", "full", true },
        { "shard_grad_op", "gradients", false },
        { "hybrid_shard_zero2", "gradients", true },
        { "no_shard", "none", false },
        { "auto_wrap", "full", false }, /* full_shard is Accelerate's default */
    };
    if (it->value->kind == VALUE_UNKNOWN) {
        launch_unresolved_item(t, "/parallelism/sharding/strategy", it, "string");
        return;
    }
    for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
        if (!has_word(it->value, strategies[i].word))
            continue;
        t->converts = t->l->accelerated = true;
        launch_set(t, row->pointer, json_string("fsdp"), it);
        launch_set(t, "/parallelism/sharding/strategy",
                   json_string(strategies[i].strategy), it);
        if (strategies[i].hybrid)
            trainer_take_hybrid(t, it);
        if (has_word(it->value, "offload"))
            trainer_take_offload(t, it, strcmp(strategies[i].strategy, "full") == 0);
        note_words(t, it);
        take_units(t, it);
        return;
    }
    if (asks(it->value) && !launch_is_off(it->value))
        launch_unresolved_item(t, "/parallelism/library", it, "strategy of FSDP");
}
