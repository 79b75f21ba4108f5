/* A stack that the text builds of its own modules as a model: which family's it is. A
 * decoder has GPT-2's layers (positions that are learned), GPT-NeoX's (none), Llama's (an
 * MLP with a gate), Mixtral's or Megatron's (experts); what attends to all words is
 * BERT's, and of patches ViT's. What does not fit is left to be asked for. */
#include "dialect/user_script/user_script_stack.h"

#include <string.h>

/* wte.weight = lm_head.weight */
static bool is_tied(const struct python *p)
{
    for (int64_t i = 0; i < p->calls.n; i++)
        if (strcmp(python_last_part(p->calls.v[i].function), "weight") == 0)
            return true;
    return false;
}

static const char *family_of(const struct user_script_stack *s)
{
    bool groups = s->kv_width != s->hidden;
    return s->patch                 ? "vit"
           : !s->causal             ? "bert"
           : s->shared              ? "megatron"
           : s->experts && s->gated ? "mixtral"
           : s->gated               ? "llama"
           : s->experts || groups   ? "megatron"
           : s->positions           ? "gpt2"
                                    : "gpt_neox";
}

static void put(json_t *config, const char *key, int64_t n)
{
    if (key && n > 0)
        json_object_set_new(config, key, json_integer((json_int_t)n));
}

/* What GPT-2 and Megatron call the sizes; others have the names of most. */
static const struct stack_keys {
    const char *family, *hidden, *layers, *heads, *mlp, *groups, *positions, *experts,
        *chosen;
} usual = { "",
            "hidden_size",
            "num_hidden_layers",
            "num_attention_heads",
            "intermediate_size",
            "num_key_value_heads",
            "max_position_embeddings",
            "num_local_experts",
            "num_experts_per_tok" },
  own[] = { { "gpt2", "n_embd", "n_layer", "n_head", "n_inner", NULL, "n_positions",
              NULL, NULL },
            { "megatron", "hidden_size", "num_layers", "num_attention_heads",
              "ffn_hidden_size", "num_query_groups", "max_position_embeddings",
              "num_experts", "moe_router_topk" } };

static const struct stack_keys *keys_of(const char *family)
{
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(own[i].family, family) == 0)
            return &own[i];
    return &usual;
}

/* The family's configuration. */
static json_t *config_of(const struct user_script_stack *s, const struct python *p)
{
    const char *family = family_of(s);
    const struct stack_keys *k = keys_of(family);
    bool words = !s->patch, bert = strcmp(family, "bert") == 0;
    json_t *c = json_pack("{s:s}", "model_type", family);
    put(c, k->hidden, s->hidden);
    put(c, k->layers, s->layers);
    put(c, k->heads, s->heads);
    put(c, k->mlp, s->mlp);
    put(c, "vocab_size", s->vocabulary);
    if (words)
        put(c, k->positions, s->positions ? s->positions : bert ? 0 : 1 << 17);
    if (bert) {
        json_object_set_new(c, "type_vocab_size", json_integer(s->types ? 2 : 0));
        return c;
    }
    put(c, "image_size", s->picture);
    put(c, "patch_size", s->patch);
    if (!words)
        return c;
    if (s->gated || k != &usual)
        put(c, k->groups, s->kv_width * s->heads / s->hidden);
    put(c, k->experts, s->experts);
    put(c, k->chosen, s->chosen);
    if (strcmp(family, "megatron") == 0) {
        json_object_set_new(c, "untie_embeddings_and_output_weights",
                            json_boolean(!is_tied(p)));
        json_object_set_new(c, "swiglu", json_boolean(s->gated));
        put(c, "moe_shared_expert_intermediate_size", s->shared * s->mlp);
    } else
        json_object_set_new(c, "tie_word_embeddings", json_boolean(is_tied(p)));
    if (strcmp(family, "gpt_neox") == 0)
        json_object_set_new(c, "use_parallel_residual", json_false());
    return c;
}

/* torch.utils.checkpoint.checkpoint(layer, x) of the text's own forward(): which layers,
 * and when, its conditions say. */
static void ask_recomputed(struct launch_context *t, const struct python *p,
                           int64_t line)
{
    static const char at[] = "/training/activation_checkpointing";
    for (int64_t i = 0; i < p->modules.n; i++)
        if (strstr(p->modules.v[i].function, "utils.checkpoint") &&
            !launch_has(t, at) && !launch_is_unresolved(t, at)) {
            launch_add_unresolved(t, at, line ? line : p->modules.v[i].line,
                                  "checkpoint(...) of the model's own: which layers it "
                                  "recomputes, and when, is not read: full or none");
            launch_add_example(t, at, "full");
        }
}

/* A vocabulary that the tokenizer or the data decides. */
static void ask_vocabulary(struct launch_context *t, const struct user_script_stack *s,
                           int64_t line)
{
    static const char at[] = "/model/vocab_size";
    if (!s->open || launch_has(t, at))
        return;
    launch_add_unresolved(t, at, line,
                          "nn.Embedding(...): how many words there are is not known "
                          "without running it");
    launch_add_example(t, at, "50257");
}

static const char *size_text(struct arena *arena, const struct user_script_stack *s)
{
    const char *of =
        s->experts ? arena_printf(arena, ", %lld experts of which %lld are chosen",
                                  (long long)s->experts, (long long)s->chosen)
        : s->patch ? arena_printf(arena, ", patches of %lld in %lld pixels",
                                  (long long)s->patch, (long long)s->picture)
                   : "";
    return arena_printf(arena, "%lld layers of %lld, %lld heads, an MLP of %lld%s%s",
                        (long long)s->layers, (long long)s->hidden, (long long)s->heads,
                        (long long)s->mlp, s->gated ? " with a gate" : "", of);
}

void user_script_take_stack(struct launch_context *t, const struct user_script *g)
{
    static const char attention[] = "/training/attention", task[] = "/training/task";
    struct user_script_stack s;
    if (g->parts[SCRIPT_MODEL] || g->parts[SCRIPT_CONFIGURATION] ||
        launch_has(t, "/model") || launch_is_unresolved(t, "/model") ||
        !user_script_read_stack(&s, g->python))
        return;
    struct value v = { .kind = VALUE_INT, .line = g->line ? g->line : s.line };
    const struct value_item from = { "the text's own modules", v.line, &v };
    launch_note(t->l, v.line, DIAG_ASSUMED,
                "the model is of the text's own modules: %s: taken as %s's",
                size_text(t->arena, &s), family_of(&s));
    launch_set(t, "/model", config_of(&s, g->python), &from);
    ask_vocabulary(t, &s, v.line);
    ask_recomputed(t, g->python, g->line);
    if (!launch_has(t, task))
        launch_set(t, task, json_string(s.causal ? "causal-lm" : "classification"),
                   &from);
    if (!launch_has(t, attention))
        launch_set(t, attention,
                   json_string(s.flash       ? "flash"
                               : s.efficient ? "memory-efficient"
                               : s.sdpa      ? "sdpa"
                                             : "unfused"),
                   &from);
}
