/* Modules of a network as a stack of layers: embeddings of words or patches, the products
 * of attention and of the MLP, experts of which a router chooses, and a head.
 *
 * torch/nn/modules/linear.py, sparse.py, conv.py, container.py, activation.py,
 * transformer.py (PyTorch 2.8). */
#include "base/names.h"
#include "dialect/user_script/user_script_stack.h"

#include <string.h>

enum { LINES_MAX = 32, LAYERS_MAX = 1000, EXPERTS_MAX = 1024, SHARED_MAX = 2 };

/* Sizes of a product; 0: not known. */
struct product {
    int64_t in, out, times;
};

struct parts {
    const struct python *p;
    struct user_script_stack s;
    struct product linear[LINES_MAX];
    int n_linear;
    int64_t models;            /* that were built: times of an embedding */
    int64_t attentions;        /* nn.MultiheadAttention, a line each */
    const struct value *first; /* layer, as an object of its class; or NULL */
    bool sound;
};

static const struct value *argument(const struct python_module *m, const char *name,
                                    int32_t at)
{
    static const char *const places[] = { "0", "1", "2", "3" };
    const struct value *v = value_member(m->arguments, name);
    return v ? v : value_member(m->arguments, places[at]);
}

static bool size_of(const struct python_module *m, const char *name, int32_t at,
                    int64_t *out)
{
    const struct value *v = argument(m, name, at);
    return v && launch_whole(v, out) && *out > 0 && *out < 1 << 28;
}

static bool is_named(const struct python_module *m, const char *name)
{
    return strcmp(python_last_part(m->function), name) == 0;
}

/* Embeddings: the words, positions of the same width, and kinds of segments. */
static void take_embedding(struct parts *s, const struct python_module *m)
{
    int64_t n = 0, width;
    const struct value *words = argument(m, "num_embeddings", 0);
    bool known = size_of(m, "num_embeddings", 0, &n);
    bool open = !known && words && words->kind == VALUE_UNKNOWN;
    s->sound &= (known || open) && !m->varies && size_of(m, "embedding_dim", 1, &width);
    if (!s->sound)
        return;
    s->sound &= (!s->s.hidden || s->s.hidden == width) && !(open && s->s.open);
    s->s.hidden = width;
    s->s.line = m->line;
    s->models = m->times;
    s->s.open |= open;
    if (open)
        s->s.positions = s->s.positions ? s->s.positions : s->s.vocabulary,
        s->s.vocabulary = 0;
    else if (n <= 4)
        s->s.types = true;
    else if (s->s.open)
        s->s.positions = n;
    else if (s->s.vocabulary && n > s->s.vocabulary)
        s->s.positions = s->s.vocabulary, s->s.vocabulary = n;
    else if (s->s.vocabulary)
        s->s.positions = n;
    else
        s->s.vocabulary = n;
}

/* 16 of kernel_size=16 or (16, 16). */
static int64_t side_of(const struct value *v)
{
    int64_t n = 0, other = 0;
    if (v && v->kind == VALUE_LIST && v->n == 2 &&
        launch_whole(v->items[1].value, &other))
        v = v->items[0].value;
    bool whole = v && launch_whole(v, &n) && n > 0 && n < 1 << 12;
    return whole && (!other || other == n) ? n : 0;
}

/* nn.Conv2d(3, 768, kernel_size=16, stride=16): patches of a picture. */
static void take_patches(struct parts *s, const struct python_module *m)
{
    const struct value *stride = argument(m, "stride", 3);
    int64_t kernel = side_of(argument(m, "kernel_size", 2)), width, channels;
    s->sound &= !s->s.patch && kernel > 0 && side_of(stride) == kernel && !m->varies &&
                size_of(m, "in_channels", 0, &channels) && channels <= 4 &&
                size_of(m, "out_channels", 1, &width);
    if (!s->sound)
        return;
    s->s.patch = kernel;
    s->models = m->times;
    s->s.hidden = width;
    s->s.line = m->line;
}

static void take_ends(struct parts *s)
{
    for (int64_t i = 0; i < s->p->modules.n && s->sound; i++) {
        const struct python_module *m = &s->p->modules.v[i];
        if (is_named(m, "Embedding"))
            take_embedding(s, m);
        else if (is_named(m, "Conv2d"))
            take_patches(s, m);
    }
    s->sound &= !(s->s.vocabulary || s->s.open) || !s->s.patch;
}

static void take_products(struct parts *s)
{
    for (int64_t i = 0; i < s->p->modules.n && s->sound; i++) {
        const struct python_module *m = &s->p->modules.v[i];
        struct product x = { 0, 0, m->times };
        if (!is_named(m, "Linear"))
            continue;
        bool in = size_of(m, "in_features", 0, &x.in),
             out = size_of(m, "out_features", 1, &x.out);
        x.in = in ? x.in : 0;
        x.out = out ? x.out : 0;
        s->sound &= !m->varies && s->n_linear < LINES_MAX;
        if (s->sound)
            s->linear[s->n_linear++] = x;
    }
}

/* xformers.ops.LowerTriangularMask(). */
static bool is_triangle(const struct value *bias)
{
    const char *said = !bias                         ? NULL
                       : bias->kind == VALUE_UNKNOWN ? bias->why
                                                     : bias->text;
    return said && strstr(said, "LowerTriangular");
}

/* What is not read of a network, and what says how it attends. */
static void take_others(struct parts *s)
{
    static const char *const unread[] = {
        "Conv1d",      "LSTM", "GRU", "TransformerDecoder", "TransformerDecoderLayer",
        "Transformer", NULL
    };
    for (int64_t i = 0; i < s->p->modules.n; i++) {
        const struct python_module *m = &s->p->modules.v[i];
        const char *last = python_last_part(m->function);
        const struct value *causal = value_member(m->arguments, "is_causal");
        causal = causal ? causal : value_member(m->arguments, "causal");
        /* classes of the text's own may be called so */
        s->sound &= !names_listed(unread, last) || !strchr(m->function, '.');
        s->attentions += strcmp(last, "MultiheadAttention") == 0;
        s->s.sdpa |= strcmp(last, "scaled_dot_product_attention") == 0;
        s->s.flash |= strncmp(last, "flash_attn", 10) == 0;
        s->s.efficient |= strcmp(last, "memory_efficient_attention") == 0;
        s->s.causal |= (causal && !launch_is_off(causal)) ||
                       strcmp(last, "tril") == 0 || strcmp(last, "triu") == 0 ||
                       is_triangle(value_member(m->arguments, "attn_bias")) ||
                       strstr(last, "subsequent_mask") || strstr(last, "causal") ||
                       strstr(last, "Causal");
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
            (m->times == times && list->n <= s->s.layers))
            continue;
        times = m->times;
        s->s.layers = m->varies ? 0 : list->n;
        s->first = list->items[0].value;
    }
}

/* self.layers = nn.ModuleList(), or ModuleDict(), to which a loop adds one after the other: as often as
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
        bool list = is_named(m, "ModuleList") || is_named(m, "ModuleDict");
        if (list && !m->arguments->n)
            lists = m->times;
        if (is_named(m, "Linear") && m->times > products)
            products = m->times;
    }
    if (s->s.layers || !lists || products % lists || products / lists > LAYERS_MAX)
        return;
    int64_t said = user_script_size(s->p, names), built = products / lists;
    s->s.layers = said == built || (!said && built > 1) ? built : 0;
}

/* nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8, 2048), num_layers=6). */
static bool take_library_s(struct parts *s)
{
    const struct python_module *layer = NULL, *stack = NULL;
    for (int64_t i = 0; i < s->p->modules.n; i++) {
        const struct python_module *m = &s->p->modules.v[i];
        bool is_layer = is_named(m, "TransformerEncoderLayer"),
             is_stack = is_named(m, "TransformerEncoder");
        s->sound &=
            !(is_layer && (layer || m->varies)) && !(is_stack && (stack || m->varies));
        layer = is_layer ? m : layer;
        stack = is_stack ? m : stack;
    }
    if (!layer)
        return false;
    int64_t width;
    s->sound &= size_of(layer, "d_model", 0, &width) && width == s->s.hidden &&
                size_of(layer, "nhead", 1, &s->s.heads) &&
                s->s.hidden % s->s.heads == 0;
    if (argument(layer, "dim_feedforward", 2))
        s->sound &= size_of(layer, "dim_feedforward", 2, &s->s.mlp);
    else
        s->s.mlp = 2048; /* its default */
    if (stack)
        s->sound &= size_of(stack, "num_layers", 1, &s->s.layers);
    else
        take_layers(s);
    s->s.kv_width = s->s.hidden;
    return true;
}

static void take_heads(struct parts *s)
{
    static const char *const names[] = {
        "n_head",    "n_heads",         "num_heads",     "num_attention_heads",
        "nhead",     "heads",           "n_local_heads", "num_q_heads",
        "n_q_heads", "num_query_heads", "n_query_heads", "q_heads",
        NULL
    };
    for (int64_t i = 0; i < s->p->modules.n && s->attentions; i++)
        if (is_named(&s->p->modules.v[i], "MultiheadAttention"))
            s->sound &= size_of(&s->p->modules.v[i], "num_heads", 1, &s->s.heads);
    if (!s->s.heads)
        s->s.heads = user_script_member(s->first, names);
    if (!s->s.heads)
        s->s.heads = user_script_size(s->p, names);
    s->sound &= s->s.heads > 0 && s->s.hidden % s->s.heads == 0;
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

/* Whether products are built once for each layer of each model: other lists would have
 * layers that are not counted. */
static bool is_of_layers(const struct parts *s, int64_t times)
{
    return times == s->s.layers * (s->models ? s->models : 1);
}

/* The head: all words, in a product that each layer is not; of a classifier so many
 * classes, after which pooling products may come. */
static void take_head(struct parts *s)
{
    struct user_script_stack *k = &s->s;
    int kept = 0;
    bool words = false;
    for (int i = 0; i < s->n_linear; i++) {
        const struct product *x = &s->linear[i];
        bool end = k->layers > 1 && x->times < k->layers;
        bool all = x->in == k->hidden && k->vocabulary && x->out == k->vocabulary;
        words |= all || (end && k->open && x->in == k->hidden && !x->out);
        if (end && x->in == k->hidden && x->out && !all && x->out != k->hidden)
            k->classes = x->out;
        if (!all && !end)
            s->linear[kept++] = *x;
    }
    s->n_linear = kept;
    k->classes = words ? 0 : k->classes;
    for (int i = 0; i < s->n_linear; i++)
        s->sound &= s->linear[i].in > 0 && s->linear[i].out > 0;
}

/* q, k, v and the product after them: in one, in three, with fewer heads of k and v, or
 * of each head by itself. */
static bool take_attention(struct parts *s)
{
    int64_t d = s->s.hidden, each = d / s->s.heads;
    s->s.kv_width = d;
    if (s->attentions)
        return s->attentions == 1;
    int square = count(s, d, d); /* an MLP may be of 3 d, too */
    int fused = square == 1 ? count(s, d, 3 * d) : 0;
    if (fused == 1 || square == 4)
        return true;
    if (!fused && square == 1 && count(s, d, each) == 3) /* modules of one head each */
        return true;
    for (int64_t kv = each; !fused && square == 2 && kv < d; kv += each)
        if (count(s, d, kv) == 2) {
            s->s.kv_width = kv;
            return true;
        }
    return false;
}

/* The width of nn.Linear(hidden, experts), once a layer, next to that many MLPs and the
 * shared ones, which all words go through; 0: there is none. */
static int64_t router_width(struct parts *s, int64_t layers, int64_t each)
{
    for (int i = 0; i < s->n_linear; i++) {
        const struct product x = s->linear[i];
        bool router = x.times == layers && x.in == s->s.hidden && x.out >= 2 &&
                      x.out <= each && x.out + SHARED_MAX >= each;
        if (router && count(s, x.in, x.out) == 1)
            return x.out;
    }
    return 0;
}

/* A router and its experts, of which each layer has as many. */
static void take_router(struct parts *s)
{
    static const char *const names[] = { "num_experts_per_tok",
                                         "num_experts_per_token",
                                         "experts_per_token",
                                         "n_experts_per_token",
                                         "n_activated_experts",
                                         "top_k_experts",
                                         "moe_top_k",
                                         "topk",
                                         "top_k",
                                         NULL };
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < s->n_linear; i++) {
        least = s->linear[i].times < least ? s->linear[i].times : least;
        most = s->linear[i].times > most ? s->linear[i].times : most;
    }
    s->sound &= s->n_linear == 0 || is_of_layers(s, least);
    if (most == least || !least || most % least || most / least > EXPERTS_MAX)
        return;
    s->s.experts = router_width(s, least, most / least);
    if (!s->s.experts)
        return;
    s->s.shared = most / least - s->s.experts;
    s->s.chosen = user_script_member(s->first, names);
    s->s.chosen = s->s.chosen ? s->s.chosen : user_script_size(s->p, names);
    s->sound &= s->s.chosen > 0 && s->s.chosen <= s->s.experts;
    for (int i = 0; i < s->n_linear; i++)
        s->sound &= s->linear[i].times == most;
}

static bool take_mlp(struct parts *s)
{
    int64_t d = s->s.hidden;
    take_router(s);
    for (int i = 0; i < s->n_linear && !s->s.mlp; i++)
        if (s->linear[i].in == d)
            s->s.mlp = s->linear[i].out;
    int up = s->s.mlp ? count(s, d, s->s.mlp) : 0,
        down = s->s.mlp ? count(s, s->s.mlp, d) : 0;
    int fused = up == 0 || down ? 0 : s->s.mlp % 2 ? 0 : count(s, s->s.mlp / 2, d);
    if (fused == 1 && up == 1) { /* gate and up in one */
        s->s.mlp /= 2;
        up = 2;
        down = 1;
    }
    s->s.gated = up == 2;
    return down == 1 && (up == 1 || up == 2) && !s->n_linear;
}

/* nn.Linear(3 * 16 * 16, 768), of patches that are cut before. */
static void take_cut_patches(struct parts *s)
{
    static const char *const names[] = { "patch_size", "PATCH_SIZE", NULL };
    int64_t side = user_script_size(s->p, names);
    if (s->s.hidden || s->s.open || side <= 0 || side > 1 << 10)
        return;
    for (int i = 0; i < s->n_linear; i++)
        if (s->linear[i].in == 3 * side * side || s->linear[i].in == side * side) {
            s->s.patch = side;
            s->s.hidden = s->linear[i].out;
        }
}

/* 224 of what a picture is called, or of the positions of its patches. */
static void take_picture(struct parts *s)
{
    static const char *const names[] = { "image_size", "img_size", "input_size",
                                         "IMAGE_SIZE", "IMG_SIZE", "crop_size",
                                         "resolution", NULL };
    if (!s->s.patch)
        return;
    s->s.picture = user_script_size(s->p, names);
    for (int64_t i = 0; i < s->p->left.n && !s->s.picture; i++)
        if (names_listed(names, s->p->left.v[i].name) &&
            !launch_whole(s->p->left.v[i].value, &s->s.picture))
            s->s.picture = 0;
    s->sound &= s->s.picture > 0 && s->s.picture % s->s.patch == 0;
}

bool user_script_read_stack(struct user_script_stack *out, const struct python *p)
{
    struct parts s = { .p = p, .sound = true };
    take_ends(&s);
    take_products(&s);
    take_others(&s);
    take_cut_patches(&s);
    take_picture(&s);
    s.sound &= s.s.hidden > 0;
    bool library = s.sound && take_library_s(&s);
    if (!library) {
        take_layers(&s);
        take_added_layers(&s);
    }
    s.sound &= s.s.layers > 0;
    if (s.sound)
        take_head(&s);
    if (s.sound && !library)
        take_heads(&s);
    bool whole =
        s.sound && (library ? s.n_linear == 0 : take_attention(&s) && take_mlp(&s));
    *out = s.s;
    /* what attends to all words and has a head of all may yet have a mask */
    bool known = s.s.causal || s.s.classes || s.s.patch;
    return whole && s.sound && known;
}

bool user_script_has_stack(const struct python *p)
{
    struct user_script_stack s;
    return user_script_read_stack(&s, p);
}
