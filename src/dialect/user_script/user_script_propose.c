/* A model to answer with where a loop's own is not read whole: one of its sizes, by the
 * names that most call them, or else a decoder for a text that speaks of one. */
#include "base/names.h"
#include "dialect/user_script/user_script_stack.h"

#include <string.h>

static const char model_at[] = "/model";

/* clang-format off */
static const char *const layers[] = { "n_layer", "n_layers", "num_layers", "num_hidden_layers", "depth", "num_blocks", "N_LAYER", "N_LAYERS", "NUM_LAYERS", NULL };
static const char *const widths[] = { "n_embd", "d_model", "hidden_size", "model_dim", "dim", "embed_dim", "emb_dim", "hidden_dim", "D_MODEL", "N_EMBD", NULL };
static const char *const heads[] = { "n_head", "n_heads", "num_heads", "num_attention_heads", "nhead", "N_HEAD", "N_HEADS", "NUM_HEADS", NULL };
static const char *const vocabularies[] = { "vocab_size", "n_vocab", "vocabulary_size", "padded_vocab_size", "VOCAB_SIZE", NULL };
/* clang-format on */

struct sizes {
    int64_t layers, width, heads, vocabulary;
};

static bool are_whole(const struct sizes *s)
{
    return s->layers > 0 && s->width > 0 && s->heads > 0 && s->width % s->heads == 0;
}

/* A number of an object itself. */
static int64_t own_of(const struct value *v, const char *const *names)
{
    int64_t n;
    for (; *names; names++) {
        const struct value_item *it = value_get(v, *names);
        if (it && launch_whole(it->value, &n) && n > 0)
            return n;
    }
    return 0;
}

/* Of an object of the text that has them all; of a class defaults alone are known. */
static bool of_object(struct sizes *s, const struct python_name *n)
{
    const struct value *v = n->value;
    if (!v || v->kind != VALUE_DICT || (v->text && strcmp(v->text, n->name) == 0))
        return false;
    *s = (struct sizes) { own_of(v, layers), own_of(v, widths), own_of(v, heads),
                          own_of(v, vocabularies) };
    return are_whole(s);
}

static bool of_objects(struct sizes *s, const struct python *p)
{
    bool found = false;
    for (int64_t i = 0; i < p->names.n && !found; i++)
        found = of_object(s, &p->names.v[i]);
    for (int64_t i = p->left.n; i-- > 0 && !found;)
        found = of_object(s, &p->left.v[i]);
    return found;
}

/* {"model_type":"gpt_neox", ...} in quotes, as a shell is given it; NULL: its sizes are not
 * known. */
static const char *of_sizes(struct arena *arena, const struct python *p)
{
    struct sizes s;
    if (!of_objects(&s, p))
        s = (struct sizes) { user_script_size(p, layers), user_script_size(p, widths),
                             user_script_size(p, heads), 0 };
    if (!are_whole(&s))
        return NULL;
    int64_t words = s.vocabulary > 1 ? s.vocabulary : user_script_size(p, vocabularies);
    return arena_printf(arena,
                        "'{\"model_type\":\"gpt_neox\",\"num_hidden_layers\":%lld,"
                        "\"hidden_size\":%lld,\"num_attention_heads\":%lld,"
                        "\"intermediate_size\":%lld,\"vocab_size\":%lld}'",
                        (long long)s.layers, (long long)s.width, (long long)s.heads,
                        (long long)(4 * s.width),
                        (long long)(words > 1 ? words : 50257));
}

/* Of a loop of the text's own that says nothing else of its model. */
void user_script_propose_model(struct launch_context *t, const struct user_script *g,
                               int64_t line)
{
    static const char *const decoders[] = { "gpt",        "causal",
                                            "llama",      "language model",
                                            "next token", NULL };
    const struct python *p = g->python;
    if (launch_has(t, model_at) || launch_is_unresolved(t, model_at))
        return;
    const char *own = of_sizes(t->arena, p);
    if (own)
        launch_add_unresolved(t, model_at, line,
                              "the model is the script's own, and its modules are not "
                              "read whole: this has the sizes that the text names");
    else if (names_mentioned(decoders, p->text))
        launch_add_unresolved(t, model_at, line,
                              "the script does not say which model is trained");
    if (own || launch_is_unresolved(t, model_at))
        launch_add_example(t, model_at, own ? own : "EleutherAI/pythia-160m");
}
