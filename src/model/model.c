#include "model/model.h"

#include "base/file.h"
#include "base/names.h"
#include "config/cache.h"
#include "config/datadir.h"
#include "model/families/families.h"
#include "model/hub.h"
#include "model/pattern.h"
#include "model/vision.h"

#include <inttypes.h>
#include <string.h>

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

/* Families ------------------------------------------------------------------------- */

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

/* Head, derived sizes, checks ------------------------------------------------------ */

/* A classifier's head, as the stack has it. */
static enum model_head of_arch(const struct model *m, enum model_head head)
{
    return head == MODEL_HEAD_CLASS && m->arch == MODEL_DECODER ? MODEL_HEAD_SCORE
                                                                : head;
}

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
    if (m->arch == MODEL_ENCODER_DECODER && names_ends(word, "ForCausalLM"))
        return cfg_error(first, DIAG_NOT_SIMULATED,
                         "\"%.60s\" is the decoder alone, which is not modelled (leave "
                         "it out for encoder and decoder)",
                         word);
    for (const struct name_value *a = architectures; a->name; a++)
        if (names_ends(word, a->name)) {
            m->ends.head = of_arch(m, (enum model_head)a->value);
            return 0;
        }
    if (m->arch == MODEL_DECODER && strstr(word, "For") && !names_ends(word, "Model"))
        cfg_warn(first, DIAG_ASSUMED,
                 "the head of \"%.60s\" is not known: logits of words are trained",
                 word);
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
    m->ends.head = of_arch(m, MODEL_HEAD_CLASS);
    m->ends.tied = true; /* there is no matrix of a head */
    cfg_warn(
        list, DIAG_ASSUMED,
        "\"%.60s\" has no head: it makes vectors of sequences, and is trained as a "
        "classifier of them is (write the task \"%s\" for logits of words)",
        word, m->arch == MODEL_DECODER ? "causal-lm" : "masked-lm");
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
    raw.arena = cfg_arena(root);
    if (families_read_fields(root, family->fields, &raw) < 0 ||
        read_head(&raw.m, root) < 0)
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
    if (families_check(&raw, root) < 0)
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
    if (hub_is_id(name) || hub_knows(loader, name) || hub_refused(loader, name))
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
