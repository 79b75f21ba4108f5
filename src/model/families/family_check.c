/* What a family's file may not say, and what is said of a design that is simulated in part. */
#include "model/families/families.h"
#include "model/pattern.h"

#include <inttypes.h>

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

/* Heads and columns of a decoder after an encoder are the encoder's. */
static int check_decoder(const struct family_raw *raw, struct cfg root)
{
    const struct model *m = &raw->m;
    const struct family_decoder *d = &raw->decoder;
    if ((!d->heads || d->heads == m->attention.heads) &&
        (!d->width || d->width == m->mlp.width))
        return 0;
    return cfg_error(root, DIAG_NOT_SIMULATED,
                     "a decoder of %" PRId64 " heads and %" PRId64
                     " feed-forward columns after an encoder of %" PRId64
                     " and %" PRId64 " is not modelled",
                     d->heads ? d->heads : m->attention.heads,
                     d->width ? d->width : m->mlp.width, m->attention.heads,
                     m->mlp.width);
}

/* What its operator list has, in a way that is not quite the model's. */
static void note_design(const struct family_raw *raw, struct cfg root)
{
    const struct model *m = &raw->m;
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
}

/* Lists of layers are as long as the model, and say what they need. */
static int check_layers(const struct family_raw *raw, struct cfg root)
{
    const struct model *m = &raw->m;
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
    if (check_decoder(raw, root) < 0)
        return -1;
    note_design(raw, root);
    return check_layers(raw, root);
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

int families_check(const struct family_raw *raw, struct cfg root)
{
    return check_heads(&raw->m, root) < 0 ? -1 : check_design(raw, root);
}
