/* Models of OLMo-core that a script makes of sizes (olmo_core/nn/transformer/config.py:
 * llama_like, llama_like_moe). */
#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/olmocore/olmocore.h"

#include <string.h>

#define OF "model."
enum { MULTIPLE = 256, SIZE_MAX_N = 1 << 24 };

bool olmocore_is_of_made(const char *argument)
{
    static const char *const own[] = { "hidden_size_multiple_of",
                                       "hidden_size_multiplier",
                                       "qk_norm",
                                       "use_head_qk_norm",
                                       "block_name",
                                       "num_experts",
                                       "top_k",
                                       "expert_hidden_size",
                                       "dropless",
                                       "capacity_factor",
                                       "lb_loss_weight",
                                       "z_loss_weight",
                                       "reordered_norm",
                                       "hybrid",
                                       "name",
                                       "shared_expert_hidden_size",
                                       "rope_type",
                                       "no_global_rope",
                                       NULL };
    return names_listed(own, argument);
}

struct making {
    struct launch_context *t;
    const struct value *flat;
    int64_t line;
    json_t *out;
    bool open; /* a size is not known, which is said */
};

/* A whole number; `otherwise` where it is not given, and, without one, asked for. */
static int64_t whole(struct making *m, const char *name, int64_t otherwise)
{
    const struct value_item *it =
        launch_find(m->t, m->flat, arena_printf(m->t->arena, OF "%s", name));
    int64_t n = otherwise;
    bool given = it && it->value->kind != VALUE_NONE,
         sound = given ? launch_whole(it->value, &n) && n > 0 && n < SIZE_MAX_N
                       : otherwise >= 0;
    if (sound || m->open)
        return n;
    if (given)
        launch_unresolved_item(m->t, "/model", it, "whole number of at least 1");
    else
        launch_add_unresolved(m->t, "/model", m->line, "%s is not given", name);
    m->open = true;
    return 1;
}

static bool truth(struct making *m, const char *name)
{
    const struct value_item *it =
        launch_find(m->t, m->flat, arena_printf(m->t->arena, OF "%s", name));
    return it && launch_true(it->value);
}

static void put(struct making *m, const char *key, int64_t n)
{
    if (n > 0)
        json_object_set_new(m->out, key, json_integer((json_int_t)n));
}

/* A third of 8 hidden sizes, times what is given, up to a multiple. */
static int64_t feed_forward(struct making *m, int64_t hidden)
{
    const struct value_item *it =
        launch_find(m->t, m->flat, OF "hidden_size_multiplier");
    int64_t multiple = whole(m, "hidden_size_multiple_of", MULTIPLE),
            n = 8 * hidden / 3;
    double times = 1;
    if (it && it->value->kind != VALUE_NONE &&
        (!launch_real(it->value, &times) || times <= 0 || times > 100)) {
        launch_unresolved_item(m->t, "/model", it, "number above 0");
        m->open = true;
        times = 1;
    }
    n = (int64_t)(times * (double)n);
    return (n + multiple - 1) / multiple * multiple;
}

static void put_experts(struct making *m, bool norms)
{
    const char *count = norms ? "num_experts" : "num_local_experts";
    put(m, count, whole(m, "num_experts", -1));
    put(m, "num_experts_per_tok", whole(m, "top_k", -1));
    put(m, "intermediate_size", whole(m, "expert_hidden_size", -1));
    if (m->open ||
        (whole(m, "shared_expert_hidden_size", 0) == 0 && !truth(m, "hybrid")))
        return;
    launch_add_unresolved(
        m->t, "/model", m->line,
        "llama_like_moe() with shared experts or both feed-forward "
        "networks is not read; a config.json of equal sizes would do");
    m->open = true;
}

json_t *olmocore_model_made(struct launch_context *t, const struct value *flat,
                            const char *function, int64_t line)
{
    struct making m = { t, flat, line, NULL, false };
    bool dense = strcmp(function, "llama_like") == 0,
         experts = strcmp(function, "llama_like_moe") == 0;
    if (!dense && !experts)
        return NULL;
    m.out = json_object();
    bool norms = truth(&m, "qk_norm") || (experts && truth(&m, "reordered_norm"));
    int64_t hidden = whole(&m, "d_model", -1);
    const char *type = experts ? norms ? "olmoe" : "mixtral"
                       : norms ? truth(&m, "use_head_qk_norm") ? "qwen3" : "olmo2"
                               : "llama";
    json_object_set_new(m.out, "model_type", json_string(type));
    put(&m, "hidden_size", hidden);
    put(&m, "num_hidden_layers", whole(&m, "n_layers", -1));
    put(&m, "num_attention_heads", whole(&m, "n_heads", -1));
    put(&m, "num_key_value_heads", whole(&m, "n_kv_heads", 0));
    put(&m, "head_dim", whole(&m, "head_dim", 0));
    if (experts)
        put_experts(&m, norms);
    else
        put(&m, "intermediate_size", feed_forward(&m, hidden));
    json_object_set_new(m.out, "tie_word_embeddings", json_false());
    if (!m.open)
        return m.out;
    json_decref(m.out);
    return NULL;
}
