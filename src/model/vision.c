#include "model/vision_rows.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Names of parts within files, where they are those of the whole. */
static const struct {
    const char *said, *meant;
} parts[] = {
    { "siglip_text", "siglip_text_model" },
    { "qwen2_vl", "" },
    { "qwen2_5_vl", "" },
    { "qwen3_vl", "" },
    { "qwen3_vl_moe", "" },
    { "qwen3_5", "" },
    { "qwen3_5_moe", "" },
    { "qwen3_5_vision", "qwen3_vl_vision" },
    { "qwen3_5_moe_vision", "qwen3_vl_vision" },
    { "intern_vit_6b", "internvl_vision" },
    { "idefics3", "idefics3_vision" },
    { "smolvlm_vision", "idefics3_vision" },
    { "qwen2_5_omni_vision_encoder", "qwen2_5_vl_vision" },
    { "kimi_k25_vision", "moonvit" },
    { "qwen3_omni_moe_vision_encoder", "qwen3_vl_vision" },
    { "glm4v", "" },
    { "glm4v_moe", "" },
    { "glm46v", "" },
    { "mllama", "" },
    { "mbart", "mbart_decoder" },
};

/* The family of a part: what it says, unless that is nothing; NULL after reporting. */
static const struct family *family_of(struct cfg part, const char *usual)
{
    const char *word = usual;
    struct cfg said = cfg_get(part, "model_type");
    bool empty = cfg_is_string(said) && !*json_string_value(said.json);
    if (cfg_present(said) && !empty && cfg_string(said, &word) < 0)
        return NULL;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strcmp(parts[i].said, word) == 0)
            word = *parts[i].meant ? parts[i].meant : usual;
    const struct family *f = family_find(word);
    if (!f)
        cfg_error(said, DIAG_NOT_SIMULATED,
                  "a part of family \"%s\" is not modelled (give the config.json of a "
                  "language model of its size)",
                  word);
    return f;
}

/* `one`: columns that the tower hands over of a patch. */
static void set_projector(struct model_tower *t, const struct vision *v, int64_t one,
                          int64_t merge, int64_t h, const int64_t adapter[3])
{
    int64_t all = one * merge * merge, inside = adapter && adapter[2] ? adapter[2] : h;
    const struct {
        int32_t n;
        int64_t widths[MODEL_PROJECTOR_MAX + 1];
    } kinds[] = {
        [PROJECTOR_MLP] = { 2, { one, h, h } },
        [PROJECTOR_LINEAR] = { 1, { one, h } },
        [PROJECTOR_MERGER] = { 2, { all, all, h } },
        [PROJECTOR_MERGED] = { 2, { all, inside, h } },
        [PROJECTOR_THREE] = { 3, { all, one, h, h } },
        [PROJECTOR_ADAPTER] = { 3,
                                { all, adapter ? adapter[0] : 0,
                                  adapter ? adapter[1] : 0, h } },
        [PROJECTOR_SHUFFLE] = { 1, { all, h } },
        [PROJECTOR_GATED] = { 2, { all, h, h } },
        [PROJECTOR_PAIR] = { 1, { one, h } },
        [PROJECTOR_POOL] = { 0 },
        [PROJECTOR_BRIDGE] = { one != h, { one, h } },
    };
    t->n_products = kinds[v->projector].n;
    memcpy(t->widths, kinds[v->projector].widths, sizeof(t->widths));
    t->norm = v->norm ? one : v->wide_norm ? all : 0;
    t->bias = !v->bare;
}

/* Vectors of both towers have so many columns; CLIP's "projection_dim", SigLIP's texts'
 * "projection_size". */
static int64_t columns_of(struct cfg root, struct cfg text, const struct vision *v,
                          int64_t hidden)
{
    return v->projector == PROJECTOR_PAIR
               ? vision_number(root, "projection_dim", 512)
               : vision_number(cfg_is_object(text) ? text : root, "projection_size",
                               hidden);
}

/* Texts and pictures in pairs, each a vector. */
static int read_pair(struct model *m, struct model_tower *t, struct cfg root,
                     struct cfg text, const struct vision *v)
{
    struct model_ends *e = &m->ends;
    e->head = MODEL_HEAD_CONTRAST;
    e->embed = columns_of(root, text, v, m->hidden);
    e->scales = v->scales;
    e->embed_bias = e->gathers_texts = v->projector == PROJECTOR_POOL;
    if (e->embed < 0)
        return -1;
    t->pooled = v->projector == PROJECTOR_POOL;
    t->tokens = t->crops = 1;
    set_projector(t, v, t->model.hidden, 1, e->embed, NULL);
    cfg_warn(root, DIAG_ASSUMED,
             "a sample is a picture of %" PRId64 " patches and its text; replicas "
             "exchange the vectors of %s, and a microbatch's pairs are trained against "
             "those of all of them",
             t->patches, e->gathers_texts ? "texts" : "both towers");
    return 0;
}

/* One over the patches of a side that become one: Llama 4's word for it is in the
 * tower's part, InternVL's in the whole. */
static int64_t merge_of(struct cfg root, struct cfg part, int64_t usual)
{
    double ratio = 0;
    struct cfg at = cfg_get(part, "pixel_shuffle_ratio");
    if (!cfg_present(at))
        at = cfg_get(root, "downsample_ratio");
    if (!cfg_present(at))
        return usual;
    if (cfg_real(at, &ratio, 0, 1) < 0)
        return -1;
    int64_t merge = ratio > 0 ? (int64_t)(1 / ratio + 0.5) : 0;
    if (merge < 1 || (double)merge * ratio != 1) {
        cfg_error(at, DIAG_OUT_OF_RANGE,
                  "this is one over a whole number of patches (0.5 merges 2 x 2)");
        return -1;
    }
    return merge;
}

/* What a file says of the projector itself. */
static int read_projector(struct model_tower *t, struct cfg root)
{
    static const char *const words[] = { "projector_bias",
                                         "multimodal_projector_bias" };
    bool yes = true;
    struct cfg norm = cfg_get(root, "projector_use_layernorm");
    if (cfg_present(norm) && cfg_bool(norm, &yes) < 0)
        return -1;
    t->norm = yes ? t->norm : 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct cfg bias = cfg_get(root, words[i]);
        if (cfg_present(bias) && cfg_bool(bias, &t->bias) < 0)
            return -1;
    }
    return 0;
}

/* Of how many layers of the tower the projector reads the results, side by side
 * (transformers, modeling_llava.py, modeling_vipllava.py). -1 after reporting. */
static int64_t layers_read(struct cfg root, const struct vision *v)
{
    struct cfg list = cfg_get(root, "vision_feature_layers");
    if (!cfg_is_array(list))
        list = cfg_get(root, "vision_feature_layer");
    if (!cfg_is_array(list)) {
        bool silent =
            !cfg_present(list) && !cfg_present(cfg_get(root, "vision_feature_layers"));
        return v->layers_read > 0 && silent ? v->layers_read : 1;
    }
    int64_t n = cfg_len(list) <= READ_MAX ? (int64_t)cfg_len(list) : 0;
    for (int64_t i = 0; i < n; i++)
        if (!json_is_integer(cfg_at(list, i).json))
            return cfg_error(cfg_at(list, i), DIAG_WRONG_TYPE,
                             "must be the number of a layer");
    if (n > 0)
        return n;
    return cfg_error(list, DIAG_OUT_OF_RANGE, "a projector reads 1 to %d layers",
                     READ_MAX);
}

static const char *many_of(const struct vision *v)
{
    return v->hears ? "audios_per_sequence" : "images_per_sequence";
}

/* How many pictures a sequence has; 0: its tower is held and not run. -1 after reporting. */
static int64_t pictures_of(struct cfg root, const struct vision *v)
{
    int64_t n = 1;
    struct cfg at = cfg_get(root, many_of(v));
    return cfg_present(at) && cfg_int(at, &n, v->each, 1 << 20) < 0 ? -1 : n;
}

/* "max_pixels": to so many a processor of pictures of any size shrinks larger ones, by
 * whole tokens (transformers 4.57, image_processing_qwen2_vl.py, smart_resize). */
static int shrink(struct family_raw *raw, struct cfg root, const struct vision *v,
                  int64_t merge)
{
    int64_t most = 0, token = raw->picture.patch * merge;
    struct cfg at = cfg_get(root, "max_pixels");
    if (!cfg_present(at))
        return 0;
    if (cfg_int(at, &most, 1, 1 << 30) < 0)
        return -1;
    if (v->projector != PROJECTOR_MERGER) {
        cfg_warn(at, DIAG_WITHOUT_EFFECT,
                 "without effect: the tower's pictures are of one size");
        return 0;
    }
    int64_t side = (int64_t)sqrt((double)most) / token * token;
    side = side > 0 ? side : token;
    if (side < raw->picture.side) {
        raw->picture.side = side;
        raw->picture.patches =
            (side / raw->picture.patch) * (side / raw->picture.patch);
    }
    return 0;
}

/* `tiles`: crops that attend to each other. */
static void say_assumed(struct cfg root, const struct model_tower *t,
                        const struct vision *v, int64_t n,
                        const struct family_picture *p)
{
    int64_t tiles = p->tiles ? p->tiles : 1;
    const char *plural = units_plural(n);
    if (v->hears)
        cfg_warn(root, DIAG_ASSUMED,
                 "%" PRId64 " sound%s a sequence, each of %" PRId64 " frames, %" PRId64
                 " tokens of the sequence (\"%s\" in the file, "
                 "\"max_source_positions\" in its audio_config say otherwise)",
                 n, plural, t->patches, t->crops * t->tokens, many_of(v));
    else
        cfg_warn(root, DIAG_ASSUMED,
                 "%" PRId64 " picture%s a sequence, %" PRId64 " crop%s of %" PRId64
                 " x %" PRId64 " pixels, %" PRId64
                 " tokens %s (\"images_per_sequence\" in the "
                 "file, \"image_size\" in its %s say otherwise)",
                 n, plural, t->crops * tiles, units_plural(t->crops * tiles), p->side,
                 p->across ? p->across : p->side, t->crops * t->tokens,
                 t->crossed ? "for layers of cross-attention, none of the sequence"
                            : "of the sequence",
                 vision_reads(v));
}

/* transformers' class of an encoder makes a vector of its first token, which no decoder
 * reads and no gradient reaches (ViTModel and DeiTModel; of stages it has no weights). */
static int64_t pooler_of(const struct model *m)
{
    return m->stages ? 0 : m->hidden * m->hidden + m->hidden;
}

static int read_tower(struct model_tower *t, struct cfg root, const struct vision *v,
                      int64_t h, vision_read_fn *read)
{
    struct family_raw raw;
    struct cfg part = cfg_get(root, vision_reads(v));
    const struct family *family = family_of(part, v->tower);
    if (!family || read(&raw, part, family, NULL) < 0)
        return -1;
    if (!raw.picture.patch)
        return cfg_error(part, DIAG_NOT_SIMULATED,
                         "a tower of family \"%s\" reads no %s", family->name,
                         v->hears ? "sounds" : "pictures");
    int64_t merge = raw.picture.merge ? raw.picture.merge : v->merge ? v->merge : 1;
    merge = vision_number(root, "spatial_merge_size", merge);
    merge = merge > 0 ? vision_number(root, "scale_factor", merge) : merge;
    merge = merge > 0 ? vision_number(root, "downsample_factor", merge) : merge;
    merge = merge > 0 ? merge_of(root, part, merge) : merge;
    int64_t pictures = pictures_of(root, v);
    if (merge < 0 || pictures < 0 || shrink(&raw, root, v, merge) < 0)
        return -1;
    *t = (struct model_tower) { .model = raw.m };
    t->model.ends.head = MODEL_HEAD_NONE;
    t->patches = raw.picture.patches + raw.picture.class_tokens;
    t->tokens = raw.picture.patches / (merge * merge * (v->halves ? v->halves : 1));
    t->tokens = vision_number(root, "mm_tokens_per_image", t->tokens);
    t->inner = raw.picture.inner;
    t->gate = raw.picture.gate;
    t->crossed = v->crossed;
    if (t->inner > MODEL_INNER_MAX)
        return cfg_error(part, DIAG_OUT_OF_RANGE,
                         "more than %d projectors of inner layers", MODEL_INNER_MAX);
    t->crops = pictures * (v->tiles ? v->tiles : 1);
    t->model.idle += v->each ? pooler_of(&t->model) : 0;
    if (v->scales)
        return 0;
    int64_t adapter[] = { vision_number(part, "projector_input_dim", ADAPTER),
                          vision_number(part, "projector_output_dim", ADAPTER),
                          vision_number(root, "projector_hidden_size", h) };
    if (adapter[0] < 0 || adapter[1] < 0 || adapter[2] < 0)
        return -1;
    int64_t columns = raw.picture.out ? raw.picture.out : t->model.hidden;
    int64_t layers = layers_read(root, v);
    if (layers < 0)
        return -1;
    set_projector(t, v, columns * layers, merge, h, adapter);
    if (read_projector(t, root) < 0)
        return -1;
    if (pictures)
        say_assumed(root, t, v, pictures, &raw.picture);
    return t->tokens > 0 ? 0
                         : cfg_error(root, DIAG_OUT_OF_RANGE,
                                     "the picture is smaller than a token's patches");
}

/* The part that is read, of a file that holds others, too. */
static struct cfg inside_of(struct cfg root, const struct vision *v)
{
    struct cfg inside = v->inside ? cfg_get(root, v->inside) : root;
    if (!v->inside)
        return root;
    if (!cfg_is_object(inside))
        cfg_error(root, DIAG_MISSING, "\"%s\" is missing", v->inside);
    else if (cfg_is_object(cfg_get(root, "talker_config")))
        cfg_warn(root, DIAG_NOT_SIMULATED,
                 "the part that reads (\"%s\") is trained; the talker and what makes "
                 "sounds of its words are left out",
                 v->inside);
    return inside;
}

/* What the whole's class says of a language model whose file says less. */
static void set_usual(struct family_raw *usual, const struct family *family,
                      const struct vision *v)
{
    if (!usual->m.hidden && v->sizes.hidden) {
        usual->m.layers = v->sizes.layers;
        usual->m.hidden = v->sizes.hidden;
        usual->m.attention.heads = v->sizes.attention.heads;
        usual->m.attention.kv_heads = v->sizes.attention.kv_heads;
        usual->m.mlp.width = v->sizes.mlp.width;
        usual->m.ends.vocab = v->sizes.ends.vocab;
    }
    usual->m.attention.qkv_bias |= v->sizes.attention.qkv_bias;
    if (strcmp(family->name, "mistral") == 0 && v->sizes.hidden) {
        usual->m.attention.kv_heads = 8; /* MistralConfig's */
        usual->m.mlp.width = 14336;
    }
}

/* The file and its language model's part: either ties (LLaVA), which is said where they
 * contradict each other, as releases of transformers read one or the other. */
static int read_tied(bool *tied, struct cfg root, struct cfg part)
{
    struct cfg whole = cfg_get(root, "tie_word_embeddings"),
               own = cfg_get(part, "tie_word_embeddings");
    if (!cfg_present(whole))
        return 0;
    bool apart = part.json != root.json && cfg_present(own);
    if (cfg_bool(whole, tied) < 0)
        return -1;
    if (apart && json_is_true(own.json) != *tied) {
        cfg_warn(
            whole, DIAG_CONTRADICTION,
            "%s here, and %s in the language model's part: the head is taken to be "
            "tied (give both alike)",
            *tied ? "true" : "false", *tied ? "false" : "true");
        *tied = true;
    }
    return 0;
}

/* A stack of which each layer can attend to another one. */
static int check_decoder(const struct model *m, struct cfg part)
{
    return m->arch == MODEL_DECODER && !m->pattern && !m->parallel_residual
               ? 0
               : cfg_error(part, DIAG_NOT_SIMULATED,
                           "a decoder of family \"%s\" that reads another stack is not "
                           "modelled (trocr, gpt2 and mbart are)",
                           m->family);
}

int vision_read(struct model *m, struct cfg whole, const struct vision *v,
                vision_read_fn *read)
{
    struct family_raw raw;
    struct cfg root = inside_of(whole, v);
    if (!cfg_is_object(root))
        return -1;
    struct cfg text = cfg_get(root, v->text);
    struct cfg part = cfg_is_object(text) ? text : root;
    const struct family *family =
        cfg_is_object(text) ? family_of(text, v->language) : family_find(v->language);
    if (!family)
        return -1;
    struct family_raw usual = family->usual;
    set_usual(&usual, family, v);
    usual.m.crosses = v->each;
    if (read(&raw, part, family, &usual) < 0)
        return -1;
    if (v->each ? check_decoder(&raw.m, part) < 0
                : read_tied(&raw.m.ends.tied, root, part) < 0)
        return -1;
    *m = raw.m;
    m->family = v->name;
    if (v->embeds)
        return vision_embedders(m, root);
    if (v->mobile)
        return vision_mobile(m, root);
    if (!cfg_is_object(cfg_get(root, vision_reads(v)))) {
        if (v->scales || v->each)
            return cfg_error(root, DIAG_MISSING, "\"%s\" is missing", vision_reads(v));
        cfg_warn(root, DIAG_NOT_SIMULATED,
                 "\"%s\" is missing: the language model alone is read",
                 vision_reads(v));
        return 0;
    }
    struct model_tower *tower = ARENA_NEW(cfg_arena(root), struct model_tower);
    if (read_tower(tower, root, v, m->hidden, read) < 0)
        return -1;
    if (v->each && cfg_present(cfg_get(part, "cross_attention_hidden_size")))
        tower->n_products = 0; /* the decoder's own products read the tower's columns */
    m->tower = tower;
    m->idle += tower->model.idle;
    tower->model.idle = 0;
    if (v->sounds && vision_sounds(m, root, read) < 0)
        return -1;
    return v->scales ? read_pair(m, tower, root, text, v) : 0;
}
