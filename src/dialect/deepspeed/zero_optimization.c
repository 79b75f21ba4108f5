/* The zero_optimization of DeepSpeed's configuration. */
#include "base/names.h"
#include "dialect/deepspeed/deepspeed.h"
#include "scenario/libraries.h"
#include "scenario/scenario.h"

#include <inttypes.h>

/* Elements; more than any model has. */
#define BUCKET_MAX 1000000000000

static const struct value_item *zero_get(const struct deepspeed *c, const char *name,
                                         const char *other)
{
    const struct value_item *it = c->zero ? value_get(c->zero, name) : NULL;
    return it || !other || !c->zero ? it : value_get(c->zero, other);
}

/* "zero_optimization": true was stage 1 once. */
int64_t deepspeed_stage(const struct deepspeed *c)
{
    const struct value_item *it = value_get(c->root, "zero_optimization"),
                            *stage = zero_get(c, "stage", NULL);
    int64_t n = 0;
    if (it && it->value->kind == VALUE_BOOL)
        return it->value->integer ? 1 : 0;
    if (it && it->value->kind != VALUE_DICT && it->value->kind != VALUE_NONE)
        deepspeed_wrong(c, it, "", DIAG_WRONG_TYPE,
                        "is no object (write for example { \"stage\": 2 })");
    if (!stage)
        return 0;
    if (launch_whole(stage->value, &n) && n >= 0 && n <= SHARDING_FULL)
        return n;
    if (stage->value->kind == VALUE_UNKNOWN && *c->prefix) { /* a program makes it */
        launch_add_unknown(
            c->t, "/parallelism/sharding/strategy",
            arena_printf(c->t->arena, "%szero_optimization.stage", c->prefix),
            stage->value);
        return SHARDING_GRADIENTS; /* for what else is said of it */
    }
    deepspeed_bad_value(c, stage, "zero_optimization.",
                        "no stage (write 0, 1, 2 or 3)");
    return 0;
}

static void take_stage(const struct deepspeed *c)
{
    deepspeed_set(c, "/parallelism/library", json_string("deepspeed"),
                  "DeepSpeed's own", c->where);
    if (c->stage && !launch_is_unresolved(c->t, "/parallelism/sharding/strategy"))
        deepspeed_set(c, "/parallelism/sharding/strategy",
                      json_string(names_of(parallelism_sharding_names, (int)c->stage)),
                      "zero_optimization.stage", c->where);
}

/* Only stage 3 overlaps by default; without ZeRO nothing ever does. */
static void take_overlap(const struct deepspeed *c)
{
    const struct value_item *it = zero_get(c, "overlap_comm", NULL);
    bool given =
        c->stage && it && it->value->kind != VALUE_NONE && !deepspeed_is_auto(it);
    bool overlaps = given ? launch_true(it->value) : c->stage == SHARDING_FULL;
    if (given)
        deepspeed_check_switch(c, it, "zero_optimization.");
    deepspeed_set(c, "/parallelism/overlap", json_boolean(overlaps),
                  given ? "zero_optimization.overlap_comm" : "overlap_comm's default",
                  given ? it : c->where);
}

/* In elements; below stage 3, buckets are those of bytes. */
static void take_bucket(const struct deepspeed *c)
{
    static const char pointer[] = "/parallelism/bucket_size",
                      of_units[] = "/parallelism/sharding/reduce_bucket_elements";
    const struct value_item *it =
        c->stage ? zero_get(c, "reduce_bucket_size", NULL) : NULL;
    int64_t n = library_named("deepspeed")->bucket.elements;
    bool full = c->stage == SHARDING_FULL,
         given = deepspeed_whole(c, it, "zero_optimization.", 1, &n);
    const char *key =
        given ? "zero_optimization.reduce_bucket_size" : "reduce_bucket_size's default";
    n = n < BUCKET_MAX ? n : BUCKET_MAX;
    if (deepspeed_is_auto(it))
        deepspeed_auto(c, it,
                       (struct launch_auto) { .pointer = full ? of_units : pointer,
                                              .squared = full ? 1 : c->width_B,
                                              .unit = full ? "" : "B" });
    else if (full && given)
        deepspeed_set(c, of_units, json_integer((json_int_t)n), key, it);
    else if (!full)
        deepspeed_set(c, pointer, json_sprintf("%" PRId64 "B", n * c->width_B), key,
                      given ? it : c->where);
}

static void take_sizes(const struct deepspeed *c)
{
    static const struct {
        const char *key, *other, *pointer;
        int64_t floor;    /* what less counts as */
        double of_hidden; /* "auto" */
    } sizes[] = {
        { "stage3_param_persistence_threshold", "param_persistence_threshold",
          "/parallelism/sharding/param_persistence_elements", 0, 10 },
        { "stage3_max_live_parameters", "max_live_parameters",
          "/parallelism/sharding/max_live_elements", 1, 0 }, /* 0 gathers none ahead */
        { "stage3_max_reuse_distance", "max_reuse_distance",
          "/parallelism/sharding/max_reuse_elements", 0, 0 },
    };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct value_item *it = zero_get(c, sizes[i].key, sizes[i].other);
        int64_t n;
        if (deepspeed_is_auto(it) && sizes[i].of_hidden > 0) {
            deepspeed_auto(c, it,
                           (struct launch_auto) { .pointer = sizes[i].pointer,
                                                  .linear = sizes[i].of_hidden,
                                                  .unit = "" });
        } else if (deepspeed_whole(c, it, "zero_optimization.", 0, &n)) {
            n = n > sizes[i].floor ? n : sizes[i].floor;
            deepspeed_set(c, sizes[i].pointer, json_integer((json_int_t)n),
                          arena_printf(c->t->arena, "zero_optimization.%s", it->key),
                          it);
        }
    }
}

/* "cpu", "nvme" or "none"; "auto" is for Accelerate to fill, whose default is none
 * (accelerate/utils/dataclasses.py, v0.20 to v1.10); the old switches are true or
 * false. */
static bool offloads(const struct deepspeed *c, const struct value_item *it)
{
    static const struct name_value devices[] = {
        { "none", 0 }, { "cpu", 1 }, { "nvme", 2 }, { "auto", 3 }, { NULL, 0 }
    };
    int where = 0;
    if (!it || it->value->kind == VALUE_NONE)
        return false;
    if (it->value->kind == VALUE_BOOL)
        return it->value->integer;
    const struct value_item *device = value_get(it->value, "device");
    const char *word =
        device && device->value->kind == VALUE_STRING ? device->value->text : "";
    if (!device && it->value->kind == VALUE_DICT) { /* zero/offload_config.py, 0.18 */
        launch_note(c->t->l, it->value->line, DIAG_WITHOUT_EFFECT,
                    "%s%s: without a device nothing is offloaded (DeepSpeed's default "
                    "is none)",
                    c->prefix, it->key);
        return false;
    }
    if (names_find(devices, word, &where))
        deepspeed_wrong(
            c, it, "zero_optimization.", DIAG_MISSING,
            "has no device (write \"device\": \"cpu\", \"nvme\" or \"none\")");
    if (where == 2)
        launch_note(c->t->l, it->value->line, DIAG_APPROXIMATE,
                    "%s%s: host memory is taken for the NVMe disk, whose transfers are "
                    "not simulated",
                    c->prefix, it->key);
    if (where == 3)
        launch_note(c->t->l, it->value->line, DIAG_ASSUMED,
                    "%s%s: the device \"auto\" is none unless Accelerate's "
                    "configuration gives one",
                    c->prefix, it->key);
    return where == 1 || where == 2;
}

static void take_offload(const struct deepspeed *c)
{
    const struct value_item *states = zero_get(c, "offload_optimizer", "cpu_offload"),
                            *params = zero_get(c, "offload_param", "cpu_offload_param");
    params = params ? params : zero_get(c, "cpu_offload_params", NULL);
    bool with_states = offloads(c, states), with_params = offloads(c, params);
    if (with_params && c->stage != SHARDING_FULL) {
        /* stages 1 and 2 do not read it (DeepSpeed 0.18, runtime/engine.py) */
        launch_note(c->t->l, params->value->line, DIAG_LEFT_OUT,
                    "%szero_optimization.%s: without effect below stage 3", c->prefix,
                    params->key);
        with_params = false;
    }
    if (with_states && c->stage == 0)
        deepspeed_wrong(c, states, "zero_optimization.", DIAG_REQUIRES,
                        "needs stage 1, 2 or 3");
    else if (with_params || with_states)
        deepspeed_set(c, "/parallelism/sharding/offload",
                      json_string(with_params ? "parameters" : "optimizer"),
                      with_params ? "zero_optimization.offload_param"
                                  : "zero_optimization.offload_optimizer",
                      with_params ? params : states);
    if (with_params && !with_states)
        launch_note(c->t->l, params->value->line, DIAG_ASSUMED,
                    "%soffload_param: optimizer states are assumed to be with the "
                    "parameters",
                    c->prefix);
}

/* MiCS shards over groups of so many ranks; -1 is none. */
static void take_mics(const struct deepspeed *c)
{
    const struct value_item *size = zero_get(c, "mics_shard_size", NULL),
                            *two = zero_get(c, "mics_hierarchical_params_gather", NULL);
    int64_t n;
    if (!deepspeed_whole(c, size, "zero_optimization.", -1, &n) || n <= 0)
        return;
    if (c->stage != SHARDING_FULL) {
        deepspeed_wrong(c, size, "zero_optimization.", DIAG_REQUIRES,
                        "MiCS needs stage 3");
        return;
    }
    deepspeed_set(c, "/parallelism/sharding/degree", json_integer((json_int_t)n),
                  "zero_optimization.mics_shard_size", size);
    if (two && launch_true(two->value))
        deepspeed_set(c, "/parallelism/sharding/hierarchical_allgather", json_true(),
                      "zero_optimization.mics_hierarchical_params_gather", two);
}

void deepspeed_take_zero(const struct deepspeed *c)
{
    take_stage(c);
    take_overlap(c);
    take_bucket(c);
    take_offload(c);
    if (c->stage == SHARDING_FULL)
        take_sizes(c);
    take_mics(c);
}
