#include "compare/causes.h"

#include <string.h>

const char *const cause_names[CAUSE_N] = {
    [CAUSE_MODEL] = "model",
    [CAUSE_GPU] = "GPU",
    [CAUSE_NODE] = "node and network",
    [CAUSE_COUNT] = "number of GPUs",
    [CAUSE_SEQUENCE] = "sequence length",
    [CAUSE_BATCH] = "batch",
    [CAUSE_PRECISION] = "precision",
    [CAUSE_ATTENTION] = "attention",
    [CAUSE_RECOMPUTATION] = "recomputation",
    [CAUSE_OPTIMIZER] = "optimizer",
    [CAUSE_ADAPTERS] = "adapters",
    [CAUSE_TRAINING] = "training",
    [CAUSE_SOFTWARE] = "software",
    [CAUSE_LIBRARY] = "library",
    [CAUSE_SHARDING] = "sharding",
    [CAUSE_DEGREES] = "degrees and schedule",
    [CAUSE_OVERLAP] = "communication",
    [CAUSE_REST] = "rest",
};

/* The longest prefix decides. */
static const struct {
    const char *prefix;
    enum cause cause;
} rows[] = {
    { "/model", CAUSE_MODEL },
    { "/cluster", CAUSE_NODE },
    { "/cluster/count", CAUSE_COUNT },
    { "/cluster/gpus_per_instance", CAUSE_COUNT },
    { "/cluster/purchase", CAUSE_REST },
    { "/training", CAUSE_TRAINING },
    { "/training/sequence_length", CAUSE_SEQUENCE },
    { "/training/decoder_length", CAUSE_SEQUENCE },
    { "/training/predicted_positions", CAUSE_SEQUENCE },
    { "/training/micro_batch_size", CAUSE_BATCH },
    { "/training/global_batch_size", CAUSE_BATCH },
    { "/training/gradient_accumulation_steps", CAUSE_BATCH },
    { "/training/microbatches", CAUSE_BATCH },
    { "/training/precision", CAUSE_PRECISION },
    { "/training/gradient_dtype", CAUSE_PRECISION },
    { "/training/master_weights", CAUSE_PRECISION },
    { "/training/attention", CAUSE_ATTENTION },
    { "/training/activation_checkpointing", CAUSE_RECOMPUTATION },
    { "/training/optimizer", CAUSE_OPTIMIZER },
    { "/training/gradient_clipping", CAUSE_OPTIMIZER },
    { "/training/lora", CAUSE_ADAPTERS },
    { "/training/framework", CAUSE_SOFTWARE },
    { "/software", CAUSE_SOFTWARE },
    { "/distribution", CAUSE_LIBRARY },
    { "/parallelism", CAUSE_OVERLAP },
    { "/parallelism/library", CAUSE_LIBRARY },
    { "/parallelism/backend", CAUSE_LIBRARY },
    { "/parallelism/sharding", CAUSE_SHARDING },
    { "/parallelism/tensor", CAUSE_DEGREES },
    { "/parallelism/pipeline", CAUSE_DEGREES },
    { "/parallelism/context", CAUSE_DEGREES },
    { "/parallelism/expert", CAUSE_DEGREES },
    { "/parallelism/data", CAUSE_DEGREES },
    { "/parallelism/sequence_parallel", CAUSE_DEGREES },
    { "/parallelism/schedule", CAUSE_DEGREES },
    { "/parallelism/virtual_stages", CAUSE_DEGREES },
    { "/parallelism/partition", CAUSE_DEGREES },
    { "/parallelism/placement", CAUSE_DEGREES },
};

static enum cause cause_of(const char *pointer, bool dictionary)
{
    enum cause cause = CAUSE_REST;
    size_t best = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t n = strlen(rows[i].prefix);
        bool whole = pointer[n] == '\0' || pointer[n] == '/' || pointer[n] == '_';
        if (n > best && strncmp(pointer, rows[i].prefix, n) == 0 && whole) {
            best = n;
            cause = rows[i].cause;
        }
    }
    bool of_library = cause >= CAUSE_LIBRARY && cause <= CAUSE_OVERLAP;
    return dictionary && of_library ? CAUSE_LIBRARY : cause;
}

/* What names a job, and says nothing of it. */
static bool is_title(const char *key)
{
    return strcmp(key, "name") == 0 || strcmp(key, "comment") == 0;
}

static const json_t *given(const json_t *v)
{
    return json_is_null(v) ? NULL : v;
}

static void add(struct causes *c, const char *pointer, const json_t *from,
                const json_t *to, bool dictionary)
{
    enum cause cause = cause_of(pointer, dictionary);
    VEC_PUSH(&c->of[cause], ((struct difference_change) { pointer, from, to }));
}

/* Keys of two sections, or the sections as a whole where one is no object. */
static void find_in(struct causes *c, struct arena *arena, const char *pointer,
                    const json_t *a, const json_t *b, bool dictionary)
{
    bool objects = (!a || json_is_object(a)) && (!b || json_is_object(b));
    bool splits = objects && strcmp(pointer, "/model") != 0 &&
                  strcmp(pointer, "/distribution") != 0;
    const char *key;
    json_t *v;
    if (a == b || (a && b && json_equal(a, b)))
        return;
    if (!splits) {
        add(c, pointer, a, b, dictionary);
        return;
    }
    json_object_foreach((json_t *)a, key, v)
    {
        const json_t *from = given(v), *to = given(json_object_get(b, key));
        bool same = from == to || (from && to && json_equal(from, to));
        if (!same && !is_title(key))
            add(c, arena_printf(arena, "%s/%s", pointer, key), from, to, dictionary);
    }
    json_object_foreach((json_t *)b, key, v)
    {
        if (given(v) && !given(json_object_get(a, key)) && !is_title(key))
            add(c, arena_printf(arena, "%s/%s", pointer, key), NULL, v, dictionary);
    }
}

void causes_find(struct causes *c, struct arena *arena, const json_t *a,
                 const json_t *b)
{
    bool dictionary = given(json_object_get(a, "distribution")) ||
                      given(json_object_get(b, "distribution"));
    const char *key;
    json_t *v;
    *c = (struct causes) { 0 };
    json_object_foreach((json_t *)a, key, v)
    {
        if (!is_title(key))
            find_in(c, arena, arena_printf(arena, "/%s", key), given(v),
                    given(json_object_get(b, key)), dictionary);
    }
    json_object_foreach((json_t *)b, key, v)
    {
        if (!json_object_get(a, key) && !is_title(key))
            find_in(c, arena, arena_printf(arena, "/%s", key), NULL, given(v),
                    dictionary);
    }
}

void causes_release(struct causes *c)
{
    for (int i = 0; i < CAUSE_N; i++)
        VEC_RELEASE(&c->of[i]);
}
