/* A decoder that the text builds of its own modules: nn.Embedding, layers of nn.Linear in
 * an nn.ModuleList, and a head. Their sizes as the reader of Python has them decide which
 * family's stack it is: GPT-2's (positions that are learned), GPT-NeoX's (none) or Llama's
 * (an MLP with a gate). What does not fit is left to be asked for.
 *
 * torch/nn/modules/linear.py, sparse.py, container.py, activation.py, transformer.py
 * (PyTorch 2.8). */
#include "base/names.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

enum { LINES_MAX = 24, WALK_MAX = 6, LAYERS_MAX = 1000 };

/* A network that has one of them is no such decoder. */
#define UNREAD_MODULES                                       \
    "Conv1d", "Conv2d", "LSTM", "GRU", "MultiheadAttention", \
        "TransformerEncoderLayer", "TransformerDecoderLayer"

const char *const user_script_modules[] = {
    "Linear",
    "Embedding",
    "ModuleList",
    "Sequential",
    "scaled_dot_product_attention",
    "tril",
    "triu",
    "generate_square_subsequent_mask",
    "flash_attn_func",
    "flash_attn_qkvpacked_func",
    "checkpoint",
    "checkpoint_sequential",
    UNREAD_MODULES,
    NULL,
};

/* Sizes of products, a line each. */
struct product {
    int64_t in, out;
};

struct parts {
    const struct python *p;
    struct product linear[LINES_MAX];
    int n_linear;
    int64_t vocabulary, hidden, positions, layers, heads, kv_width, mlp;
    bool gated, causal, sdpa, flash, sound;
    const struct value *first; /* layer, as an object of its class; or NULL */
    int64_t line;
};

static bool size_of(const struct python_module *m, const char *name, int32_t at,
                    int64_t *out)
{
    const char *place = at ? "1" : "0";
    const struct value *v = value_member(m->arguments, name);
    v = v ? v : value_member(m->arguments, place);
    return v && launch_whole(v, out) && *out > 0 && *out < 1 << 28;
}

static bool is_named(const struct python_module *m, const char *name)
{
    return strcmp(python_last_part(m->function), name) == 0;
}

/* Embeddings: the words, and positions of the same width. */
static void take_embeddings(struct parts *s)
{
    for (int64_t i = 0; i < s->p->modules.n; i++) {
        const struct python_module *m = &s->p->modules.v[i];
        int64_t n, width;
        if (!is_named(m, "Embedding"))
            continue;
        s->sound &= size_of(m, "num_embeddings", 0, &n) && !m->varies &&
                    size_of(m, "embedding_dim", 1, &width);
        if (!s->sound)
            return;
        s->sound &= !s->hidden || s->hidden == width;
        s->hidden = width;
        s->line = m->line;
        if (s->vocabulary && n > s->vocabulary)
            s->positions = s->vocabulary, s->vocabulary = n;
        else if (s->vocabulary)
            s->positions = n;
        else
            s->vocabulary = n;
    }
}

static void take_products(struct parts *s)
{
    for (int64_t i = 0; i < s->p->modules.n && s->sound; i++) {
        const struct python_module *m = &s->p->modules.v[i];
        struct product x;
        if (!is_named(m, "Linear"))
            continue;
        s->sound &= size_of(m, "in_features", 0, &x.in) && !m->varies &&
                    size_of(m, "out_features", 1, &x.out) && s->n_linear < LINES_MAX;
        if (s->sound && !(x.in == s->hidden && x.out == s->vocabulary)) /* the head */
            s->linear[s->n_linear++] = x;
    }
}

/* What is not read of a network, and what says how it attends. */
static void take_others(struct parts *s)
{
    static const char *const unread[] = { UNREAD_MODULES, NULL };
    for (int64_t i = 0; i < s->p->modules.n; i++) {
        const struct python_module *m = &s->p->modules.v[i];
        const char *last = python_last_part(m->function);
        const struct value *causal = value_member(m->arguments, "is_causal");
        causal = causal ? causal : value_member(m->arguments, "causal");
        s->sound &= !names_listed(unread, last);
        s->sdpa |= strcmp(last, "scaled_dot_product_attention") == 0;
        s->flash |= strncmp(last, "flash_attn", 10) == 0;
        s->causal |= (causal && !launch_is_off(causal)) || strcmp(last, "tril") == 0 ||
                     strcmp(last, "triu") == 0 || strstr(last, "subsequent_mask");
    }
}

/* The layers: of the lists of modules that is built least often, the longest. */
static void take_layers(struct parts *s)
{
    int64_t times = INT64_MAX;
    for (int64_t i = 0; i < s->p->modules.n; i++) {
        const struct python_module *m = &s->p->modules.v[i];
        const struct value *list = value_member(m->arguments, "0");
        bool in_line = is_named(m, "Sequential") && list && list->kind == VALUE_DICT;
        if (in_line)
            list = m->arguments;
        else if (!is_named(m, "ModuleList") || !list || list->kind != VALUE_LIST)
            continue;
        if (list->gap || list->n < 1 || list->n > LAYERS_MAX || m->times > times ||
            (m->times == times && list->n <= s->layers))
            continue;
        times = m->times;
        s->layers = m->varies ? 0 : list->n;
        s->first = list->items[0].value;
    }
}

/* A number among the members of an object, at any depth. */
static int64_t member_of(const struct value *v, const char *const *names, int deep)
{
    int64_t n;
    for (const char *const *name = names; v && v->kind == VALUE_DICT && *name; name++) {
        const struct value_item *it = value_get(v, *name);
        if (it && launch_whole(it->value, &n) && n > 0)
            return n;
    }
    for (int32_t i = 0; v && v->kind == VALUE_DICT && deep < WALK_MAX && i < v->n;
         i++) {
        n = member_of(v->items[i].value, names, deep + 1);
        if (n > 0)
            return n;
    }
    return 0;
}

/* A number of the text that is called so, else a member of its objects, where all that
 * have one agree: of classes defaults alone are known. 0: there is none. */
static int64_t named(const struct python *p, const char *const *names)
{
    int64_t found = 0, own;
    for (int64_t i = 0; i < p->names.n; i++)
        if (names_listed(names, p->names.v[i].name) &&
            launch_whole(p->names.v[i].value, &own) && own > 0)
            return own;
    for (int64_t i = 0; i < p->names.n; i++) {
        const struct value *v = p->names.v[i].value;
        bool object = v && v->kind == VALUE_DICT && !v->text;
        own = object ? member_of(v, names, WALK_MAX) : 0;
        if (own && found && own != found)
            return 0;
        found = own ? own : found;
    }
    return found;
}

/* self.layers = nn.ModuleList(), to which a loop adds one after the other: as often as
 * their products are built, where a number of the text says so, too. */
static void take_added_layers(struct parts *s)
{
    static const char *const names[] = {
        "n_layer",           "n_layers", "num_layers", "num_blocks",
        "num_hidden_layers", "depth",    NULL
    };
    int64_t lists = 0, products = 0;
    for (int64_t i = 0; i < s->p->modules.n; i++) {
        const struct python_module *m = &s->p->modules.v[i];
        if (is_named(m, "ModuleList") && !m->arguments->n)
            lists = m->times;
        if (is_named(m, "Linear") && m->times > products)
            products = m->times;
    }
    if (s->layers || !lists || products % lists || products / lists > LAYERS_MAX)
        return;
    s->layers = named(s->p, names) == products / lists ? products / lists : 0;
}

static void take_heads(struct parts *s)
{
    static const char *const names[] = { "n_head",        "n_heads",
                                         "num_heads",     "num_attention_heads",
                                         "nhead",         "heads",
                                         "n_local_heads", NULL };
    s->heads = member_of(s->first, names, 0);
    if (!s->heads)
        s->heads = named(s->p, names);
    s->sound &= s->heads > 0 && s->hidden % s->heads == 0;
}

/* Takes products of a shape away; how many there were. */
static int count(struct parts *s, int64_t in, int64_t out)
{
    int n = 0, kept = 0;
    for (int i = 0; i < s->n_linear; i++)
        if (s->linear[i].in == in && s->linear[i].out == out)
            n++;
        else
            s->linear[kept++] = s->linear[i];
    s->n_linear = kept;
    return n;
}

/* q, k, v and the product after them: in one, in three, with fewer heads of k and v, or
 * of each head by itself. */
static bool take_attention(struct parts *s)
{
    int64_t d = s->hidden, each = d / s->heads;
    int fused = count(s, d, 3 * d), square = count(s, d, d);
    s->kv_width = d;
    if (fused == 1 && square == 1)
        return true;
    if (!fused && square == 4)
        return true;
    if (!fused && square == 1 && count(s, d, each) == 3) /* modules of one head each */
        return true;
    for (int64_t kv = each; !fused && square == 2 && kv < d; kv += each)
        if (count(s, d, kv) == 2) {
            s->kv_width = kv;
            return true;
        }
    return false;
}

static bool take_mlp(struct parts *s)
{
    int64_t d = s->hidden;
    for (int i = 0; i < s->n_linear && !s->mlp; i++)
        if (s->linear[i].in == d)
            s->mlp = s->linear[i].out;
    int up = s->mlp ? count(s, d, s->mlp) : 0, down = s->mlp ? count(s, s->mlp, d) : 0;
    s->gated = up == 2;
    return down == 1 && (up == 1 || up == 2) && !s->n_linear;
}

static bool read_parts(struct parts *s, const struct python *p)
{
    *s = (struct parts) { .p = p, .sound = true };
    take_embeddings(s);
    s->sound &= s->vocabulary > 0;
    take_products(s);
    take_others(s);
    take_layers(s);
    take_added_layers(s);
    s->sound &= s->layers > 0 && s->causal;
    if (s->sound)
        take_heads(s);
    return s->sound && take_attention(s) && take_mlp(s) &&
           (s->gated || s->kv_width == s->hidden);
}

/* wte.weight = lm_head.weight */
static bool is_tied(const struct python *p)
{
    for (int64_t i = 0; i < p->calls.n; i++)
        if (strcmp(python_last_part(p->calls.v[i].function), "weight") == 0)
            return true;
    return false;
}

bool user_script_has_stack(const struct python *p)
{
    struct parts s;
    return read_parts(&s, p);
}

/* The family's configuration. */
static json_t *config_of(const struct parts *s)
{
    int64_t length = s->positions ? s->positions : 1 << 17;
    bool tied = is_tied(s->p);
    if (!s->gated && s->positions)
        return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "model_type",
                         "gpt2", "n_embd", (json_int_t)s->hidden, "n_layer",
                         (json_int_t)s->layers, "n_head", (json_int_t)s->heads,
                         "n_inner", (json_int_t)s->mlp, "vocab_size",
                         (json_int_t)s->vocabulary, "n_positions",
                         (json_int_t)s->positions, "tie_word_embeddings", tied);
    json_t *c =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "model_type",
                  s->gated ? "llama" : "gpt_neox", "hidden_size", (json_int_t)s->hidden,
                  "num_hidden_layers", (json_int_t)s->layers, "num_attention_heads",
                  (json_int_t)s->heads, "intermediate_size", (json_int_t)s->mlp,
                  "vocab_size", (json_int_t)s->vocabulary, "max_position_embeddings",
                  (json_int_t)length, "tie_word_embeddings", tied);
    if (s->gated)
        json_object_set_new(
            c, "num_key_value_heads",
            json_integer((json_int_t)(s->kv_width * s->heads / s->hidden)));
    else
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

void user_script_take_stack(struct launch_context *t, const struct user_script *g)
{
    static const char attention[] = "/training/attention", task[] = "/training/task";
    struct parts s;
    if (g->parts[SCRIPT_MODEL] || g->parts[SCRIPT_CONFIGURATION] ||
        launch_has(t, "/model") || launch_is_unresolved(t, "/model") ||
        !read_parts(&s, g->python))
        return;
    struct value v = { .kind = VALUE_INT, .line = g->line ? g->line : s.line };
    const struct value_item from = { "the text's own modules", v.line, &v };
    json_t *config = config_of(&s);
    launch_note(
        t->l, v.line, DIAG_ASSUMED,
        "the model is of the text's own modules: %lld layers of %lld, %lld heads, "
        "an MLP of %lld%s: taken as %s's",
        (long long)s.layers, (long long)s.hidden, (long long)s.heads, (long long)s.mlp,
        s.gated ? " with a gate" : "",
        json_string_value(json_object_get(config, "model_type")));
    launch_set(t, "/model", config, &from);
    ask_recomputed(t, g->python, g->line);
    if (!launch_has(t, task))
        launch_set(t, task, json_string("causal-lm"), &from);
    if (!launch_has(t, attention))
        launch_set(t, attention,
                   json_string(s.flash  ? "flash"
                               : s.sdpa ? "sdpa"
                                        : "unfused"),
                   &from);
}
