/* Models of pictures by name: timm.create_model("vit_base_patch16_224"),
 * torchvision.models.vit_b_16(). Their sizes are data (models/launch/names.json).
 *
 * timm/models/_factory.py (1.0), torchvision/models/vision_transformer.py (0.23). */
#include "base/names.h"
#include "dialect/launch/entry_points.h"
#include "dialect/user_script/user_script.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PATCH = 16, PICTURE = 224, SIDE_MAX = 1 << 14 };

bool user_script_is_picture(const char *function)
{
    static const char *const makers[] = { "create_model", "get_model", NULL };
    const char *last = python_last_part(function);
    bool timm = strncmp(function, "timm.", 5) == 0,
         vision = strncmp(function, "torchvision.models.", 19) == 0;
    return ((timm || vision) && names_listed(makers, last)) ||
           (vision && islower((unsigned char)*last) && strcmp(last, "models") != 0);
}

/* The model's name: what the maker is given, else the maker's own. */
static const struct value *name_of(struct arena *arena, const struct python_call *c)
{
    const char *last = python_last_part(c->function);
    bool maker = strcmp(last, "create_model") == 0 || strcmp(last, "get_model") == 0;
    const struct value *v = user_script_given(c, "model_name", "0");
    v = v ? v : value_member(c->arguments, "name");
    return maker ? v : value_new_string(arena, last, c->line, 0);
}

/* A number that follows a word of a name: 16 of patch16; 0: there is none. */
static int64_t number_after(const char *name, const char *word)
{
    const char *at = strstr(name, word);
    long n = at ? strtol(at + strlen(word), NULL, 10) : 0;
    return n > 0 && n < SIDE_MAX ? n : 0;
}

/* 224 of vit_base_patch16_224 and of ..._224.augreg_in21k. */
static int64_t side_of(const char *name)
{
    const char *dot = strchr(name, '.');
    const char *end = dot ? dot : name + strlen(name), *from = end;
    while (from > name && isdigit((unsigned char)from[-1]))
        from--;
    bool own = end - from >= 3 && from > name && from[-1] == '_';
    long n = own ? strtol(from, NULL, 10) : 0;
    return n > 0 && n < SIDE_MAX ? n : 0;
}

static void put_side(json_t *config, const char *key, const struct value *given,
                     int64_t named, int64_t usual)
{
    int64_t n = 0, own = json_integer_value(json_object_get(config, key));
    bool known = given && launch_whole(given, &n) && n > 0 && n < SIDE_MAX;
    n = known ? n : named ? named : own ? own : usual;
    json_object_set_new(config, key, json_integer((json_int_t)n));
}

/* What timm's transformers are given of their sizes (timm/models/vision_transformer.py,
 * 1.0); false: some of it is not known. */
static bool put_sizes(json_t *config, const struct python_call *c)
{
    static const char *const sizes[][2] = { { "depth", "num_hidden_layers" },
                                            { "num_heads", "num_attention_heads" },
                                            { "embed_dim", "hidden_size" } };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct value *v = value_member(c->arguments, sizes[i][0]);
        int64_t n;
        if (!v)
            continue;
        if (!launch_whole(v, &n) || n < 1 || n >= SIDE_MAX)
            return false;
        json_object_set_new(config, sizes[i][1], json_integer((json_int_t)n));
        if (i == 2)
            json_object_set_new(config, "intermediate_size",
                                json_integer((json_int_t)(4 * n)));
    }
    return !value_member(c->arguments, "mlp_ratio");
}

static json_t *config_of(struct launch_context *t, const struct python_call *c,
                         const char *name)
{
    const char *rest = "";
    struct cfg row = launch_names_row(t, "pictures", name, &rest);
    if (!row.json)
        return NULL;
    json_t *config = json_deep_copy(row.json);
    int64_t patch = number_after(name, "patch");
    patch = patch || !isdigit((unsigned char)*rest) ? patch : strtol(rest, NULL, 10);
    json_object_set_new(config, "model_type", json_string("vit"));
    put_side(config, "patch_size", value_member(c->arguments, "patch_size"), patch,
             PATCH);
    const struct value *size = value_member(c->arguments, "img_size");
    size = size ? size : value_member(c->arguments, "image_size");
    put_side(config, "image_size", size, side_of(name), PICTURE);
    if (put_sizes(config, c))
        return config;
    json_decref(config);
    return NULL;
}

/* Of patches the model says how many there are. */
static void ask(struct launch_context *t, int64_t line, const char *why)
{
    static const char at[] = "/model";
    launch_add_unresolved(t, at, line, "%s", why);
    launch_add_example(t, at, "google/vit-base-patch16-224");
    t->l->patches = true;
}

bool user_script_take_picture(struct launch_context *t, const struct user_script *g)
{
    static const char at[] = "/model", task[] = "/training/task",
                      attention[] = "/training/attention";
    const struct python_call *c = g->parts[SCRIPT_PICTURES];
    const struct value *v = c ? name_of(t->arena, c) : NULL;
    int64_t line = c ? (g->line ? g->line : c->line) : 0;
    const char *name = v && v->kind == VALUE_STRING ? v->text : NULL, *rest = "", *why;
    if (!c || launch_has(t, at) || launch_is_unresolved(t, at))
        return false;
    json_t *config = name ? config_of(t, c, name) : NULL;
    struct value from_v = { .kind = VALUE_STRING, .line = line, .text = name };
    const struct value_item from = { python_last_part(c->function), line, &from_v };
    const struct cfg refused =
        launch_names_row(t, "pictures_refused", name ? name : "", &rest);
    why = json_string_value(refused.json);
    if (why) {
        launch_refuse_entry(t->l, name, why, line);
        return true;
    }
    if (config) {
        launch_set(t, at, config, &from);
        if (!launch_has(t, task))
            launch_set(t, task, json_string("classification"), &from);
        if (!launch_has(t, attention)) /* both call F.scaled_dot_product_attention */
            launch_set(t, attention, json_string("sdpa"), &from);
        return false;
    }
    ask(t, line,
        arena_printf(t->arena, "%.60s(...): %s%.60s%s", c->function, name ? "\"" : "",
                     name          ? name
                     : v && v->why ? v->why
                                   : "",
                     name ? "\" is no model of pictures that is known" : ""));
    return false;
}

const char user_script_convolutions[] =
    "trains a network of convolutions, whose kernels have no published times";

/* Whether the modules are of a network of convolutions: some overlap, unlike those of
 * patches, next to no attention and to the products of a classifier at most. */
static bool convolves(const struct python *p)
{
    enum { CLASSIFIER_MAX = 3 };
    static const char *const others[] = { "Embedding", "MultiheadAttention",
                                          "TransformerEncoderLayer",
                                          "scaled_dot_product_attention", NULL },
                             *const words[] = { "Transformer", "ttention", "attn",
                                                NULL };
    int products = 0;
    bool overlap = false;
    for (int64_t i = 0; i < p->modules.n; i++) {
        const struct python_module *m = &p->modules.v[i];
        const char *last = python_last_part(m->function);
        const struct value *kernel = value_member(m->arguments, "kernel_size"),
                           *stride = value_member(m->arguments, "stride");
        kernel = kernel ? kernel : value_member(m->arguments, "2");
        stride = stride ? stride : value_member(m->arguments, "3");
        int64_t wide = 0, step = 1;
        overlap |= strcmp(last, "Conv2d") == 0 && kernel &&
                   launch_whole(kernel, &wide) &&
                   (!stride || launch_whole(stride, &step)) && wide > step;
        products += strcmp(last, "Linear") == 0;
        if (names_listed(others, last))
            return false;
    }
    return overlap && products <= CLASSIFIER_MAX && p->text &&
           !names_within(words, p->text);
}

void user_script_ask_picture(struct launch_context *t, const struct user_script *g,
                             int64_t line)
{
    static const char *const pictures[] = { "torchvision", "timm.", "ImageFolder(",
                                            "CIFAR10", NULL },
                             *const words[] = { "nn.Embedding(", "tokenizer",
                                                "input_ids", NULL };
    static const char *const masks[] = { "mask_ratio", "MaskedAutoencoder",
                                         "MaskedAuto", NULL };
    const char *text = g->python->text ? g->python->text : "";
    if (names_within(pictures, text) && names_within(masks, text)) {
        launch_refuse_entry(t->l, "the model",
                            "masks patches of pictures, of which its encoder reads a "
                            "part",
                            line);
        return;
    }
    if (launch_has(t, "/model") || launch_is_unresolved(t, "/model"))
        return;
    if (convolves(g->python)) {
        launch_refuse_entry(t->l, "the model", user_script_convolutions, line);
        return;
    }
    if (!names_within(pictures, text) || names_within(words, text))
        return;
    ask(t, line, "the model is the script's own, and reads pictures");
}
