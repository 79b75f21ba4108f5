/* Fully sharded data parallelism under Megatron: PyTorch's, or its own (core_v0.19.0:
 * megatron/training/arguments.py, megatron/core/distributed/fsdp); replicas of shards. */
#include "dialect/megatron/megatron.h"

#include "config/pointer.h"

#include <inttypes.h>
#include <string.h>

#define WIDE "/parallelism/"

static bool is_on(const struct value_item *it)
{
    return it && launch_true(it->value);
}

/* One group of shards is a part of the data-parallel ranks (HSDP; instances of the
 * distributed optimizer). */
void megatron_take_instances(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *it =
        launch_option(c, "--num-distributed-optimizer-instances");
    int64_t n,
        world = launch_number(t, "/cluster/count", 1) *
                launch_number(t, "/cluster/gpus_per_instance", 0),
        model =
            launch_number(t, WIDE "tensor", 1) * launch_number(t, WIDE "pipeline", 1);
    if (!it || !launch_has(t, WIDE "sharding/strategy"))
        return;
    if (!launch_whole(it->value, &n))
        launch_unresolved_item(t, WIDE "sharding/degree", it, "number of instances");
    else if (n > 1 && world < 1)
        launch_add_unresolved(t, WIDE "sharding/degree", it->line,
                              "%s: how many GPUs there are, is not known", it->key);
    else if (n > 1 && world % (model * n) != 0)
        launch_wrong_option(t, it, DIAG_NOT_DIVISIBLE,
                            "%" PRId64
                            " GPUs are no multiple of tensor x pipeline %" PRId64
                            " x %" PRId64 " instances",
                            world, model, n);
    else if (n > 1)
        launch_decide(t, WIDE "sharding/degree",
                      json_integer((json_int_t)(world / model / n)), it, "");
    launch_hear(t, it);
}

bool megatron_is_fsdp(const struct launch_context *t)
{
    const char *library = json_string_value(pointer_get(t->tree, WIDE "library"));
    return library &&
           (strcmp(library, "fsdp") == 0 || strcmp(library, "megatron-fsdp") == 0);
}

static void take_full(struct launch_context *t, const struct value_item *it,
                      const char *library)
{
    launch_decide(t, WIDE "library", json_string(library), it, "");
    launch_decide(t, WIDE "sharding/strategy", json_string("full"), it, "");
}

bool megatron_take_shards(struct launch_context *t, const struct megatron_fsdp *given)
{
    const struct value_item *how = given->how;
    const char *word = how && how->value->text ? how->value->text : "no_shard";
    bool own = is_on(given->own);
    if (own && strcmp(word, "optim_grads_params") == 0)
        take_full(t, how, "megatron-fsdp");
    else if (own && strcmp(word, "optim") == 0)
        launch_decide(t, WIDE "sharding/strategy", json_string("optimizer"), how, "");
    else if (own && how && strcmp(word, "no_shard") != 0)
        launch_add_unresolved(
            t, WIDE "sharding/strategy", how->line,
            "%s: %.40s is not simulated under Megatron; \"optimizer\" "
            "shards less, \"full\" of library megatron-fsdp more",
            how->key, word);
    else if (is_on(given->torch))
        take_full(t, given->torch, "fsdp");
    if (own)
        launch_hear(t, how);
    launch_hear(t, given->own);
    launch_hear(t, given->torch);
    bool full = megatron_is_fsdp(t);
    if (full && is_on(given->keeps))
        launch_decide(t, WIDE "sharding/reshard_after_forward", json_false(),
                      given->keeps, "");
    return full;
}

/* Without a word on what is sharded, all is from Megatron-Core 0.18 of 2026-06 on, and
 * nothing more before it (arguments.py of core_v0.17.0 and core_v0.18.0). */
static void ask_shards(struct launch_context *t, const struct value_item *own)
{
    static const char library[] = WIDE "library", strategy[] = WIDE "sharding/strategy";
    launch_add_unresolved(t, library, own->line,
                          "%s: without --data-parallel-sharding-strategy it shards all "
                          "from Megatron-Core 0.18 (2026-06) on, and before it nothing "
                          "more than megatron does",
                          own->key);
    launch_add_example(t, library, "megatron-fsdp");
    launch_add_unresolved(t, strategy, own->line,
                          "%s: full with megatron-fsdp, and with megatron optimizer, "
                          "or none without --use-distributed-optimizer",
                          own->key);
    launch_add_example(t, strategy, "full");
}

bool megatron_take_fsdp(struct launch_context *t, const struct launch_command *c)
{
    static const char *const own[] = { "--use-megatron-fsdp", "--use-custom-fsdp",
                                       NULL };
    const struct value_item *on = launch_any_option(c, own),
                            *how =
                                launch_option(c, "--data-parallel-sharding-strategy");
    struct value *all =
        value_new_string(t->arena, "optim_grads_params", on ? on->line : 0, 0);
    struct value_item *later = ARENA_NEW(t->arena, struct value_item);
    *later = (struct value_item) { "data-parallel-sharding-strategy's default",
                                   all->line, all };
    bool says = how || !is_on(on), since = megatron_is_since(c, "0.18");
    if (!says && !since)
        ask_shards(t, on);
    return megatron_take_shards(
        t, &(struct megatron_fsdp) {
               .own = on,
               .torch = launch_option(c, "--use-torch-fsdp2"),
               .how = !says && since ? later : how,
               .keeps = launch_option(c, "--torch-fsdp2-no-reshard-after-forward"),
           });
}
