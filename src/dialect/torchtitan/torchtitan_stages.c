/* Pipelines of torchtitan: schedules of PyTorch by name, and which layers a stage has
 * (torchtitan/distributed/pipeline_parallel.py, @b5bcd76c; get_schedule_class of
 * torch/distributed/pipelining/schedules.py, PyTorch @00722e64). */
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/torchtitan/torchtitan.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define WIDE "/parallelism/"
#define KEY "parallelism.pipeline_parallel_"

static const struct value_item *named(const struct value *c, const char *now,
                                      const char *before)
{
    const struct value_item *it = value_get(c, now);
    return it ? it : value_get(c, before);
}

/* Schedules ------------------------------------------------------------------------ */

/* Of several stages a rank, and of two as a V. Names are in lower case: PyTorch reads
 * them in any. */
static const struct schedule_name {
    const char *name, *schedule;
    bool many, folds;
} schedules[] = {
    { "1f1b", "1f1b", false, false },
    { "gpipe", "gpipe", false, false },
    { "interleaved1f1b", "interleaved", true, false },
    { "interleaved_1f1b", "interleaved", true, false },
    { "loopedbfs", "looped-bfs", true, false },
    { "interleavedzerobubble", "interleaved-zb", true, false },
    { "zbvzerobubble", "zb-v", true, true },
    { "dualpipev", "dualpipe-v", true, true },
};

static const struct schedule_name *find_schedule(const char *text)
{
    for (size_t i = 0; text && i < sizeof(schedules) / sizeof(schedules[0]); i++) {
        const char *a = text, *b = schedules[i].name;
        while (*a && tolower((unsigned char)*a) == *b)
            a++, b++;
        if (!*a && !*b)
            return &schedules[i];
    }
    return NULL;
}

static const struct schedule_name *take_name(struct launch_context *t,
                                             const struct value *c)
{
    const struct value_item *it =
        named(c, KEY "schedule", "experimental.pipeline_parallel_schedule");
    launch_hear(t, it);
    if (!it) {
        launch_assume(t, WIDE "schedule", json_string("1f1b"),
                      "pipeline_parallel_schedule's default");
        return &schedules[0];
    }
    const struct schedule_name *found =
        it->value->kind == VALUE_STRING ? find_schedule(it->value->text) : NULL;
    if (found)
        launch_set(t, WIDE "schedule", json_string(found->schedule), it);
    else
        launch_unresolved_item(t, WIDE "schedule", it,
                               "schedule that is simulated (1F1B, GPipe, "
                               "Interleaved1F1B, LoopedBFS, InterleavedZeroBubble, "
                               "ZBVZeroBubble, DualPipeV)");
    return found;
}

/* A table of passes takes the schedule's place. */
static void refuse_csv(struct launch_context *t, const struct value *c)
{
    const struct value_item *it =
        named(c, KEY "schedule_csv", "experimental.pipeline_parallel_schedule_csv");
    launch_hear(t, it);
    if (it && (it->value->kind != VALUE_STRING || it->value->text[0]))
        launch_unresolved_item(t, WIDE "schedule", it,
                               "schedule that is simulated, but a table of passes");
}

/* Stages --------------------------------------------------------------------------- */

/* Layers of each part; NULL: it is no list of names, or its ends are elsewhere. */
static json_t *counts_of(const struct value *parts)
{
    json_t *counts = json_array();
    bool ok = parts->kind == VALUE_LIST && parts->n > 1;
    for (int32_t i = 0; ok && i < parts->n; i++) {
        const struct value *part = parts->items[i].value;
        int64_t n = 0;
        ok = part->kind == VALUE_LIST;
        for (int32_t k = 0; ok && k < part->n; k++) {
            const struct value *name = part->items[k].value;
            ok = name->kind == VALUE_STRING;
            if (!ok)
                break;
            n += strncmp(name->text, "layers.", 7) == 0;
            ok = (i == 0 || strcmp(name->text, "tok_embeddings") != 0) &&
                 (i == parts->n - 1 || (strcmp(name->text, "output") != 0 &&
                                        strcmp(name->text, "lm_head") != 0));
        }
        json_array_append_new(counts, json_integer((json_int_t)n));
    }
    if (ok)
        return counts;
    json_decref(counts);
    return NULL;
}

/* Which modules each part has, word by word; false: it is not written. */
static bool take_modules(struct launch_context *t, const struct value *c)
{
    const struct value_item *it =
        value_get(c, "parallelism.module_fqns_per_model_part");
    int64_t stages = launch_number(t, WIDE "pipeline", 1);
    launch_hear(t, it);
    if (!it || launch_is_off(it->value))
        return false;
    json_t *counts = counts_of(it->value);
    int64_t n = (int64_t)json_array_size(counts);
    if (n == 0 || n % stages)
        launch_unresolved_item(t, WIDE "partition", it,
                               "list of modules for each stage, embedding and output "
                               "at its ends");
    else {
        launch_set(t, WIDE "partition", json_incref(counts), it);
        if (n > stages)
            launch_set(t, WIDE "virtual_stages", json_integer((json_int_t)(n / stages)),
                       it);
    }
    json_decref(counts);
    return true;
}

/* Embedding and output count as layers, one each unless the file says how many; files
 * of 2024 ("experimental") count layers alone. */
static void take_ends(struct launch_context *t, const struct value *c)
{
    static const struct {
        const char *path, *key;
    } ends[] = { { KEY "first_stage_less_layers", "first_less" },
                 { KEY "last_stage_less_layers", "last_less" } };
    const struct value_item *given = NULL;
    json_t *less = json_object();
    for (int i = 0; i < 2; i++) {
        const struct value_item *it = value_get(c, ends[i].path);
        int64_t n = 1;
        launch_hear(t, it);
        given = it ? it : given;
        if (it && (!launch_whole(it->value, &n) || n < 0))
            launch_unresolved_item(t, WIDE "partition", it, "number of layers");
        json_object_set_new(less, ends[i].key, json_integer((json_int_t)n));
    }
    if (given)
        launch_set(t, WIDE "partition", json_incref(less), given);
    else if (!value_get(c, "experimental.pipeline_parallel_degree"))
        launch_assume(t, WIDE "partition", json_incref(less),
                      "pipeline_parallel_first_stage_less_layers and last, by default");
    json_decref(less);
}

static void take_chunks(struct launch_context *t, const struct value *c,
                        const struct schedule_name *s)
{
    const struct value_item *each = value_get(c, KEY "layers_per_stage");
    launch_hear(t, each);
    if (!s || !s->many)
        return;
    if (!s->folds && each && each->value->kind != VALUE_NONE)
        launch_note(t->l, each->line, DIAG_APPROXIMATE,
                    "%s: two stages on each rank are taken (give --set "
                    "/parallelism/virtual_stages=N)",
                    each->key);
    launch_assume(t, WIDE "virtual_stages", json_integer(2),
                  s->folds ? "the two stages of a V" : "two stages on each rank");
}

/* Pairs of microbatches that hide the exchange of experts' tokens: of DualPipeV alone,
 * from December 2025 on by default (torchtitan @fcc5643f, dual_pipe_v.py). */
static void take_overlap(struct launch_context *t, const struct value *c,
                         const struct schedule_name *s)
{
    const struct value_item *it = value_get(c, KEY "expert_parallel_overlap");
    launch_hear(t, it);
    if (!s || strcmp(s->schedule, "dualpipe-v") != 0 ||
        launch_number(t, WIDE "expert", 1) < 2)
        return;
    if (!it)
        launch_note(t->l, 1, DIAG_APPROXIMATE,
                    "pipeline_parallel_expert_parallel_overlap is not written: no "
                    "exchange of tokens is taken to be hidden (by default it is in "
                    "versions of December 2025 to March 2026: write it)");
    else if (launch_true(it->value))
        launch_set(t, WIDE "expert_overlap", json_string("microbatches"), it);
}

void torchtitan_take_stages(struct launch_context *t, const struct value *c)
{
    if (launch_number(t, WIDE "pipeline", 1) < 2)
        return;
    refuse_csv(t, c);
    const struct schedule_name *s = take_name(t, c);
    if (!take_modules(t, c))
        take_ends(t, c);
    take_chunks(t, c, s);
    take_overlap(t, c, s);
}
