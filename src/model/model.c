#include "model/model.h"

#include "base/file.h"
#include "base/names.h"
#include "base/strbuf.h"
#include "config/cache.h"
#include "config/datadir.h"
#include "model/families/families.h"
#include "model/hub.h"
#include "model/pattern.h"
#include "model/vision.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Endings of class names in "architectures"; what is not listed leaves the
 * family's usual head, but for classes without one (read_headless). */
static const struct name_value architectures[] = {
    { "ForPreTraining", MODEL_HEAD_PRETRAIN },
    { "ForMaskedLM", MODEL_HEAD_MASKED_LM },
    { "ForQuestionAnswering", MODEL_HEAD_SPAN },
    { "ForTokenClassification", MODEL_HEAD_SPAN },
    { "ForSequenceClassification", MODEL_HEAD_CLASS },
    { "ForCausalLM", MODEL_HEAD_CAUSAL_LM },
    { "LMHeadModel", MODEL_HEAD_CAUSAL_LM },
    { "ForConditionalGeneration", MODEL_HEAD_CAUSAL_LM },
    { "ForCTC", MODEL_HEAD_CAUSAL_LM }, /* a logit of each word for each token */
    { NULL, 0 },
};

/* Families and fields -------------------------------------------------------------- */

static int unknown_family(struct cfg at, const char *name)
{
    const char *why = name ? family_refusal(name) : NULL;
    if (why)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "model_type \"%s\" is not modelled: %s (a config.json of "
                         "another family and "
                         "its size comes nearest; docs/models.md lists them)",
                         name, why);
    const char *near = name ? family_nearest(name) : NULL;
    if (near)
        return cfg_error(at, DIAG_UNKNOWN_NAME,
                         "model_type \"%s\" is not known (did you mean \"%s\"? "
                         "docs/models.md lists all)",
                         name, near);
    if (name)
        return cfg_error(
            at, DIAG_UNKNOWN_NAME,
            "model_type \"%s\" is not known (docs/models.md lists those "
            "that are; the config.json of one of them with its sizes comes "
            "nearest)",
            name);
    return cfg_error(
        at, DIAG_MISSING,
        "missing (give \"model_type\" as Hugging Face's config.json has it: "
        "\"llama\", \"bert\" ...; docs/models.md lists all)");
}

/* diffusers' files name a class in place of a model_type. */
static const struct family *find_class(struct cfg root)
{
    const char *name = NULL;
    struct cfg at = cfg_get(root, "_class_name");
    if (cfg_string(at, &name) < 0)
        return NULL;
    const struct family *f = family_of_class(name);
    if (!f)
        cfg_error(at, DIAG_NOT_SIMULATED,
                  "\"%s\" is of a diffusion model, and of these the transformers "
                  "DiTTransformer2DModel, SD3Transformer2DModel and "
                  "FluxTransformer2DModel are modelled%s",
                  name,
                  strncmp(name, "UNet", 4) == 0
                      ? "; a trace of a U-Net's run is read by smsim doctor"
                      : "");
    return f;
}

static const struct family *find_family(struct cfg root)
{
    const char *name = NULL;
    struct cfg at = cfg_get(root, "model_type");
    if (!cfg_present(at) && cfg_is_string(cfg_get(root, "_class_name")))
        return find_class(root);
    if (cfg_present(at) && cfg_string(at, &name) < 0)
        return NULL;
    const struct family *f = name ? family_find(name) : NULL;
    if (!f)
        unknown_family(at, name);
    return f;
}

/* Of "a/b" the member b of the object a. */
static struct cfg find_key(struct cfg root, const char *key)
{
    char outer[64];
    const char *slash = strchr(key, '/');
    if (!slash)
        return cfg_get(root, key);
    snprintf(outer, sizeof(outer), "%.*s", (int)(slash - key), key);
    struct cfg object = cfg_get(root, outer);
    return cfg_is_object(object) ? cfg_get(object, slash + 1) : (struct cfg) { 0 };
}

static struct cfg find_field(struct cfg root, const struct family_field *f)
{
    struct cfg value = find_key(root, f->key);
    if (!cfg_present(value) && f->alias && cfg_present(cfg_get(root, f->alias)))
        return cfg_get(root, f->alias);
    return value;
}

static bool is_known(const struct family_field *fields, const char *key)
{
    for (const struct family_field *f = fields; f->key; f++)
        if (strcmp(f->key, key) == 0 || (f->alias && strcmp(f->alias, key) == 0))
            return true;
    return strcmp(key, "model_type") == 0 || strcmp(key, "architectures") == 0;
}

/* Keys that no row names are Hugging Face's own business, but where a size is missing
 * the nearest of them is likely that size, misspelt. */
static int missing(struct cfg root, const struct family_field *fields,
                   const struct family_field *f)
{
    const char *near = NULL;
    int best = INT_MAX;
    for (void *it = cfg_first(root); it; it = cfg_next(root, it)) {
        int distance = names_distance(f->key, cfg_key(it));
        if (!is_known(fields, cfg_key(it)) && distance < best) {
            best = distance;
            near = cfg_key(it);
        }
    }
    size_t longer =
        near && strlen(near) > strlen(f->key) ? strlen(near) : strlen(f->key);
    if (near && 2 * (size_t)best <= longer)
        return cfg_error(root, DIAG_MISSING,
                         "\"%s\" is missing (is \"%s\" meant to be it?)", f->key, near);
    return cfg_error(root, DIAG_MISSING,
                     "\"%s\" is missing (a model of this model_type needs it)", f->key);
}

/* A number, or as many equal ones as there are layers. */
static int read_each(struct cfg value, const struct family_field *f, int64_t *v)
{
    int64_t other;
    if (!cfg_is_array(value))
        return cfg_int(value, v, f->min, f->max);
    if (cfg_int(cfg_at(value, 0), v, f->min, f->max) < 0)
        return -1;
    for (int64_t i = 1; i < cfg_len(value); i++)
        if (cfg_int(cfg_at(value, i), &other, f->min, f->max) < 0)
            return -1;
        else if (other != *v)
            return cfg_error(cfg_at(value, i), DIAG_NOT_SIMULATED,
                             "layers that differ in \"%s\" are not modelled", f->key);
    return 0;
}

/* What the model is read without; 0, false and "" say that there is none. */
static void note(struct cfg value, const struct family_field *f)
{
    bool none = json_is_false(value.json) || json_number_value(value.json) == 0;
    if (!none || json_is_true(value.json) || cfg_is_string(value) || cfg_len(value))
        cfg_warn(value, DIAG_NOT_SIMULATED, "%s", f->why);
}

static int read_field(struct cfg root, const struct family_field *fields,
                      const struct family_field *f, struct family_raw *raw)
{
    char *member = (char *)raw + f->at;
    struct cfg value = find_field(root, f);
    double number;
    if (value.json && !cfg_present(value) && f->type == FAMILY_OR_NONE)
        *(int64_t *)(void *)member = 0;
    if (value.json && !cfg_present(value) && f->type == FAMILY_NONZERO)
        *(bool *)member = false;
    bool has = f->type == FAMILY_INT && *(int64_t *)(void *)member > 0;
    if (!cfg_present(value))
        return f->required && !has ? missing(root, fields, f) : 0;
    switch (f->type) {
    case FAMILY_INT:
    case FAMILY_OR_NONE:
        return cfg_int(value, (int64_t *)(void *)member, f->min, f->max);
    case FAMILY_BOOL:
        return cfg_bool(value, (bool *)member);
    case FAMILY_STRING:
        return cfg_string(value, (const char **)(void *)member);
    case FAMILY_PROBABILITY:
    case FAMILY_NONZERO:
        if (cfg_real(value, &number, 0, f->type == FAMILY_NONZERO ? 1e9 : 1) < 0)
            return -1;
        *(bool *)member = number > 0;
        break;
    case FAMILY_REAL:
        return cfg_real(value, (double *)(void *)member, 0, (double)f->max);
    case FAMILY_LENGTH:
        if (!cfg_is_array(value))
            return cfg_error(value, DIAG_WRONG_TYPE,
                             "this is an array (write [] for none)");
        *(int64_t *)(void *)member = cfg_len(value);
        break;
    case FAMILY_ITEMS:
        return families_read_items(value, (struct family_items *)(void *)member);
    case FAMILY_EACH:
        return read_each(value, f, (int64_t *)(void *)member);
    case FAMILY_SIDES:
        return families_read_sides(value, (struct family_sides *)(void *)member,
                                   f->max);
    case FAMILY_NOTED:
        note(value, f);
        break;
    case FAMILY_ELSEWHERE:
        break;
    case FAMILY_PATTERN:
        if (families_read_pattern(value, (struct family_pattern *)(void *)member) < 0)
            return -1;
        if (!raw->m.layers) /* the list alone says how many */
            raw->m.layers = raw->pattern.n;
        break;
    case FAMILY_MEMBERS:
        return families_read_members(value, (struct family_pattern *)(void *)member);
    case FAMILY_MLP_TYPES:
        return families_read_mlps(value, raw);
    case FAMILY_SHARES:
        return families_read_shares(value, (struct family_layers *)(void *)member);
    case FAMILY_LAYER_TYPES:
        return families_read_types(value, (struct family_layers *)(void *)member);
    }
    return 0;
}

/* Head, derived sizes, checks ------------------------------------------------------ */

static int read_head(struct model *m, struct cfg root)
{
    struct cfg list = cfg_get(root, "architectures");
    const char *word;
    if (!cfg_present(list))
        return 0;
    struct cfg first = cfg_is_array(list) ? cfg_at(list, 0) : list;
    if (!cfg_present(first))
        return 0;
    if (cfg_string(first, &word) < 0)
        return -1;
    if (m->arch == MODEL_ENCODER_DECODER && names_ends(word, "EncoderModel"))
        return cfg_error(first, DIAG_NOT_SIMULATED,
                         "\"%.60s\" is the encoder alone, which is not modelled (leave "
                         "it out for encoder and decoder)",
                         word);
    for (const struct name_value *a = architectures; a->name; a++)
        if (names_ends(word, a->name))
            m->ends.head = (enum model_head)a->value;
    return 0;
}

/* Whether code of the file's own has a class that makes logits of words ("ChatGLMModel"). */
static bool maps_to_head(struct cfg root)
{
    struct cfg map = cfg_get(root, "auto_map");
    return cfg_is_object(map) && (cfg_present(cfg_get(map, "AutoModelForCausalLM")) ||
                                  cfg_present(cfg_get(map, "AutoModelForMaskedLM")));
}

/* A class without a head ("Qwen3Model", "BertModel") makes vectors of sequences: one of each
 * is trained, as a classifier's, and no logits of words. */
static void read_headless(struct model *m, struct cfg root)
{
    const char *word = NULL;
    struct cfg list = cfg_get(root, "architectures");
    if (!cfg_is_array(list) || cfg_len(list) == 0 || maps_to_head(root) ||
        m->arch == MODEL_ENCODER_DECODER || m->sound || !model_has_vocabulary(m))
        return;
    if (!cfg_is_string(cfg_at(list, 0)) || cfg_string(cfg_at(list, 0), &word) < 0 ||
        !names_ends(word, "Model") || strstr(word, "Head"))
        return;
    m->ends.head = MODEL_HEAD_CLASS;
    m->ends.tied = true; /* there is no matrix of a head */
    cfg_warn(
        list, DIAG_ASSUMED,
        "\"%.60s\" has no head: it makes vectors of sequences, and is trained as a "
        "classifier of them is (write the task \"%s\" for logits of words)",
        word, m->arch == MODEL_DECODER ? "causal-lm" : "masked-lm");
}

/* What is taken of a diffusion model. */
static void note_diffusion(const struct model *m, struct cfg root)
{
    const struct model_diffusion *d = &m->diffusion;
    cfg_warn(root, DIAG_ASSUMED,
             "the transformer alone is trained, on latents and texts that are encoded "
             "before; a sequence of %" PRId64 " tokens is a picture of %" PRId64
             " x %" PRId64 " pixels%s (\"image_size\" and \"text_tokens\" in the file "
             "say otherwise)",
             d->picture_tokens + d->text_tokens, d->side, d->side,
             d->text_tokens ? " and its text" : "");
    if (d->classes > 0)
        cfg_warn(root, DIAG_NOT_SIMULATED,
                 "one embedder of time step and class is counted, as published; "
                 "diffusers has one in each layer");
}

/* What a family's file may say that its operator list has no rows for. */
static int check_design(const struct family_raw *raw, struct cfg root)
{
    const struct model *m = &raw->m;
    if (raw->refused)
        return cfg_error(root, DIAG_NOT_SIMULATED, "%s are not modelled", raw->refused);
    if (m->diffusion.stack)
        note_diffusion(m, root);
    if (raw->noted)
        cfg_warn(root, DIAG_NOT_SIMULATED, "%s", raw->noted);
    if (m->sound)
        cfg_warn(root, DIAG_APPROXIMATE,
                 "a token is %" PRId64 " samples of a sound; its convolutions take the "
                 "time of matrix products of as many numbers, as no public table has "
                 "such kernels (MODEL.md, 2.13)",
                 model_sound_samples(m));
    if ((raw->decoder.heads && raw->decoder.heads != m->attention.heads) ||
        (raw->decoder.width && raw->decoder.width != m->mlp.width))
        return cfg_error(root, DIAG_NOT_SIMULATED,
                         "a decoder of %" PRId64 " heads and %" PRId64
                         " feed-forward columns after an encoder of %" PRId64
                         " and %" PRId64 " is not modelled",
                         raw->decoder.heads ? raw->decoder.heads : m->attention.heads,
                         raw->decoder.width ? raw->decoder.width : m->mlp.width,
                         m->attention.heads, m->mlp.width);
    if (m->pattern && model_state_layers(m) > 0)
        cfg_warn(root, DIAG_APPROXIMATE,
                 "%" PRId64
                 " layers keep a state: times of their scan are by a roofline "
                 "law that no measured kernel has tested (MODEL.md, 3.20)",
                 model_state_layers(m));
    if (m->attention.index_heads > 0)
        cfg_warn(
            root, DIAG_APPROXIMATE,
            "each query attends to %" PRId64
            " keys that an indexer chooses; the kernels of scores and choice are "
            "by a roofline law, and attention to chosen keys costs as attention to "
            "as many neighbours does (MODEL.md, 2.11)",
            m->attention.window);
    if (raw->without_experts)
        cfg_warn(root, DIAG_WITHOUT_EFFECT,
                 "experts are given, and no layer has them: the "
                 "pattern has no E");
    if (raw->interleaved)
        cfg_warn(root, DIAG_APPROXIMATE,
                 "layers with and without experts take turns; the %" PRId64
                 " without are simulated before the others, which changes what the "
                 "stages of a pipeline hold",
                 (int64_t)m->mlp.dense_layers);
    if (m->mlp.dense_layers > 0 && !m->mlp.dense_width)
        return cfg_error(root, DIAG_MISSING,
                         "\"intermediate_size\" is missing (%" PRId64
                         " layers have no experts)",
                         (int64_t)m->mlp.dense_layers);
    if (raw->listed.sliding && !m->attention.window)
        return cfg_error(
            cfg_get(root, "layer_types"), DIAG_MISSING,
            "sliding attention without a window (give \"sliding_window\")");
    if (raw->pattern.n && raw->pattern.n != m->layers)
        return cfg_error(root, DIAG_CONTRADICTION,
                         "the kinds of %" PRId64 " layers are listed, for %" PRId64
                         " layers",
                         raw->pattern.n, m->layers);
    if (raw->listed.n && raw->listed.n != m->layers)
        return cfg_error(cfg_get(root, "layer_types"), DIAG_CONTRADICTION,
                         "%" PRId64 " types for %" PRId64 " layers",
                         (int64_t)raw->listed.n, (int64_t)m->layers);
    return 0;
}

static int check_heads(const struct model *m, struct cfg root)
{
    if (!m->attention.head_dim && m->hidden % m->attention.heads)
        return cfg_error(root, DIAG_NOT_DIVISIBLE,
                         "%" PRId64 " heads do not divide the hidden size %" PRId64
                         " (change one, or "
                         "give \"head_dim\")",
                         (int64_t)m->attention.heads, (int64_t)m->hidden);
    if (m->attention.kv_heads && m->attention.heads % m->attention.kv_heads)
        return cfg_error(root, DIAG_NOT_DIVISIBLE,
                         "%" PRId64 " key-value heads do not divide %" PRId64 " heads",
                         (int64_t)m->attention.kv_heads, (int64_t)m->attention.heads);
    if (m->mlp.experts_per_token > m->mlp.experts)
        return cfg_error(root, DIAG_OUT_OF_RANGE,
                         "%" PRId64 " experts for each token, but only %" PRId64
                         " experts",
                         (int64_t)m->mlp.experts_per_token, (int64_t)m->mlp.experts);
    return 0;
}

static void derive(struct model *m)
{
    if (!m->attention.kv_heads)
        m->attention.kv_heads = m->attention.heads;
    if (!m->attention.head_dim)
        m->attention.head_dim = m->hidden / m->attention.heads;
    if (!m->attention.q_width)
        m->attention.q_width = m->attention.heads * m->attention.head_dim;
    if (!m->attention.kv_width)
        m->attention.kv_width = m->attention.kv_heads * m->attention.head_dim;
    if (!m->mlp.width)
        m->mlp.width = 4 * m->hidden;
}

/* A file, or its part, as the family says. */
static int read_part(struct family_raw *out, struct cfg root,
                     const struct family *family, const struct family_raw *usual)
{
    struct family_raw raw = usual ? *usual : family->usual;
    int rc = 0;
    raw.arena = cfg_arena(root);
    for (const struct family_field *f = family->fields; f->key; f++)
        if (read_field(root, family->fields, f, &raw) < 0)
            rc = -1;
    if (rc < 0 || read_head(&raw.m, root) < 0)
        return -1;
    if (!usual)
        read_headless(&raw.m, root);
    if (raw.activation)
        raw.m.activation = families_activation(raw.activation);
    families_take_defaults(&raw, family, root);
    if (family->finish)
        family->finish(&raw);
    bool mixed = usual && cfg_is_object(cfg_get(root, "vision_config"));
    if (!mixed && !family_is_translated(family) &&
        families_unread(root, family, &raw.m) < 0)
        return -1;
    if (check_heads(&raw.m, root) < 0 || check_design(&raw, root) < 0)
        return -1;
    raw.m.attention.windowed_share = (double)raw.windowed / (double)raw.m.layers;
    derive(&raw.m);
    raw.m.family = family->name;
    *out = raw;
    return 0;
}

/* One that reads pictures and words; NULL: any other. */
static const struct vision *find_vision(struct cfg root)
{
    const char *name = NULL;
    struct cfg at = cfg_get(root, "model_type");
    return cfg_is_string(at) && cfg_string(at, &name) == 0 ? vision_find(name) : NULL;
}

static int read_model(struct model *m, struct cfg root)
{
    struct family_raw raw = { .m = { 0 } };
    if (!cfg_is_object(root))
        return cfg_error(root, DIAG_WRONG_TYPE,
                         "a model is an object, as Hugging Face's config.json");
    const struct vision *vision = find_vision(root);
    const struct family *family = vision ? NULL : find_family(root);
    if (vision ? vision_read(&raw.m, root, vision, read_part) < 0
               : !family || read_part(&raw, root, family, NULL) < 0)
        return -1;
    if (family && family->alone)
        cfg_warn(root, DIAG_NOT_SIMULATED, "%s", family->alone);
    struct err err = { 0 };
    raw.m.parameters = model_count(&raw.m, &err);
    if (!raw.m.parameters)
        return cfg_error(root, DIAG_OUT_OF_RANGE, "sizes are absurd: %s", err.text);
    raw.m.name = m->name;
    *m = raw.m;
    return 0;
}

static int read_inline(struct model *m, struct cfg_loader *loader, struct cfg value)
{
    if (!cfg_is_object(value))
        return cfg_error(value, DIAG_WRONG_TYPE,
                         "a model is a name, a path or an object (write "
                         "\"bert-large-uncased\")");
    if (read_model(m, value) < 0)
        return -1;
    m->label = arena_printf(&loader->arena, "%s-%" PRId64 "x%" PRId64, m->family,
                            (int64_t)m->layers, (int64_t)m->hidden);
    return 0;
}

/* A shipped model, a file, a folder that holds a config.json, or an id of the hub. */
static struct cfg load_named(struct cfg_loader *loader, const char *name,
                             struct cfg where)
{
    const char *file = datadir_file(&loader->arena, "models", name);
    const char *inside = arena_printf(&loader->arena, "%s/config.json", name);
    if (file_is_there(file) && !file_is_there(inside))
        return datadir_load(loader, "models", name, where);
    if (file_is_there(inside))
        return datadir_load(loader, "models", inside, where);
    if (hub_is_id(name) || hub_knows(loader, name))
        return hub_load(loader, name, where);
    return datadir_load(loader, "models", name, where);
}

/* {"like": "google/gemma-3-4b-it", "images_per_sequence": 0}: a named model with other
 * values; those of a part go into the part. */
static int read_like(struct model *m, struct cfg_loader *loader, struct cfg value)
{
    const char *name, *key;
    json_t *own;
    if (cfg_string(cfg_get(value, "like"), &name) < 0)
        return -1;
    struct cfg root = load_named(loader, name, cfg_get(value, "like"));
    if (!cfg_present(root))
        return -1;
    json_t *tree = json_deep_copy(root.json);
    json_object_foreach(value.json, key, own)
    {
        json_t *part = json_object_get(tree, key);
        if (strcmp(key, "like") == 0)
            continue;
        if (json_is_object(part) && json_is_object(own))
            json_object_update(part, own);
        else
            json_object_set_new(tree, key, json_deep_copy(own));
    }
    m->name = arena_strdup(&loader->arena, name);
    if (read_model(m, cfg_from_tree(loader, m->name, tree)) < 0)
        return -1;
    m->label = cache_basename(&loader->arena, name);
    return 0;
}

static const void *make_model(struct cfg_loader *loader, const char *name,
                              struct cfg where)
{
    struct model *m = ARENA_NEW(&loader->arena, struct model);
    m->name = arena_strdup(&loader->arena, name);
    struct cfg root = load_named(loader, name, where);
    if (!root.json || read_model(m, root) < 0)
        return NULL;
    m->label = cache_basename(&loader->arena, name);
    return m;
}

int model_read(struct model *m, struct cfg_loader *loader, struct cfg value)
{
    *m = (struct model) { .name = "inline" };
    if (cfg_is_object(value) && cfg_present(cfg_get(value, "like")))
        return read_like(m, loader, value);
    if (!cfg_is_string(value))
        return read_inline(m, loader, value);
    if (cfg_string(value, &m->name) < 0)
        return -1;
    const struct model *made = cache_get(loader, "model", m->name, value, make_model);
    if (!made)
        return -1;
    *m = *made;
    return 0;
}
