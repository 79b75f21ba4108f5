/* Towers of models that read pictures or sounds which no sequence holds here: their
 * parameters are counted, and held without gradients. */
#include "model/vision_rows.h"

#include <inttypes.h>
#include <string.h>

int64_t vision_number(struct cfg root, const char *key, int64_t usual)
{
    int64_t n = usual;
    struct cfg at = cfg_get(root, key);
    if (cfg_present(at) && cfg_int(at, &n, 1, 1 << 20) < 0)
        return -1;
    return n;
}

/* A conformer (Gemma 3n and 4): two convolutions of 3 x 3 over time and mel bands, a
 * product to the layers' columns, layers of two MLPs, attention with a product for
 * relative positions, and a depthwise convolution between products (transformers 5,
 * modeling_gemma4.py, Gemma4AudioModel; modeling_gemma3n.py, Gemma3nAudioEncoder). Words
 * of a file for each size; its parameters, -1 after reporting. */
struct conformer {
    const char *layers, *heads, *kernel, *channels, *bands;
    int64_t width; /* where the file says none */
};

static int64_t count_conformer(struct cfg part, const struct conformer *c, int64_t *w)
{
    struct cfg channels = cfg_get(part, c->channels);
    int64_t first = 128, second = 32;
    int64_t layers = vision_number(part, c->layers, 12),
            heads = vision_number(part, c->heads, 8),
            kernel = vision_number(part, c->kernel, 5),
            bands = vision_number(part, c->bands, 128);
    *w = vision_number(part, "hidden_size", c->width);
    if (*w < 0 || layers < 0 || heads < 0 || kernel < 0 || bands < 0)
        return -1;
    if (cfg_len(channels) == 2 &&
        (cfg_int(cfg_at(channels, 0), &first, 1, 1 << 16) < 0 ||
         cfg_int(cfg_at(channels, 1), &second, 1, 1 << 16) < 0))
        return -1;
    int64_t layer = 24 * *w * *w + (9 + kernel) * *w + *w / heads;
    int64_t before =
        9 * first + first + 9 * first * second + second + bands / 4 * second * *w;
    return before + layers * layer;
}

/* Gemma 4's, and the products that hand its result to the language model of h columns. */
static int64_t count_sounds(struct cfg part, int64_t h)
{
    static const struct conformer words = {
        "num_hidden_layers",         "num_attention_heads", "conv_kernel_size",
        "subsampling_conv_channels", "num_mel_bins",        1024
    };
    int64_t w, n = count_conformer(part, &words, &w),
               out = vision_number(part, "output_proj_dims", 1536);
    return n < 0 || out < 0 ? -1 : n + w * out + out + out * h;
}

/* Words of its own that a tower of Gemma 3n has, two norms, and a product to h columns. */
static int64_t count_embedder(struct cfg part, int64_t w, int64_t h)
{
    int64_t words = vision_number(part, "vocab_size", 128);
    return words < 0 ? -1 : (words + 2) * w + w * h;
}

/* Gemma 3n's towers: a MobileNet-V5 of pictures, whose layers are timm's and of which one
 * size is published (KerasHub, mobilenetv5_presets.py: mobilenetv5_300m_enc_gemma3n), and
 * a conformer of sounds. Counted, and not run. */
int vision_mobile(struct model *m, struct cfg root)
{
    enum { MOBILENET_V5 = 294284096 };
    static const struct conformer words = {
        "conf_num_hidden_layers", "conf_num_attention_heads", "conf_conv_kernel_size",
        "sscp_conv_channel_size", "input_feat_size",          1536
    };
    struct cfg vision = cfg_get(root, "vision_config"),
               audio = cfg_get(root, "audio_config"),
               said = cfg_get(vision, "architecture");
    const char *layers = "mobilenetv5_300m_enc";
    int64_t w, n = 0, pictures = vision_number(vision, "hidden_size", 2048);
    const int64_t before = m->idle;
    if ((cfg_present(said) && cfg_string(said, &layers) < 0) || pictures < 0)
        return -1;
    if (cfg_is_object(vision) && strcmp(layers, "mobilenetv5_300m_enc") != 0)
        return cfg_error(said, DIAG_NOT_SIMULATED,
                         "towers of \"%s\" are not modelled (mobilenetv5_300m_enc is)",
                         layers);
    if (cfg_is_object(vision) && (n = count_embedder(vision, pictures, m->hidden)) < 0)
        return -1;
    m->idle += cfg_is_object(vision) ? MOBILENET_V5 + n : 0;
    if (cfg_is_object(audio)) {
        int64_t sounds = count_conformer(audio, &words, &w);
        if (sounds < 0 || (n = count_embedder(audio, w, m->hidden)) < 0)
            return -1;
        m->idle += sounds + n;
    }
    if (m->idle > before)
        cfg_warn(root, DIAG_NOT_SIMULATED,
                 "the towers that read pictures (a MobileNet) and sounds are held and "
                 "not run: none is in a sequence (%" PRId64
                 " parameters without gradients)",
                 m->idle - before);
    else
        cfg_warn(root, DIAG_NOT_SIMULATED,
                 "the language model alone is read: \"vision_config\" and "
                 "\"audio_config\" are missing");
    return 0;
}

/* Qwen2.5-Omni's: Whisper's encoder, a product to "output_dim" columns, and words that
 * begin and end a sound. */
static int64_t count_encoder(struct cfg part, vision_read_fn *read)
{
    struct family_raw raw;
    if (read(&raw, part, family_find("qwen2_audio_encoder"), NULL) < 0)
        return -1;
    int64_t out = vision_number(part, "output_dim", 3584);
    raw.m.idle = 0; /* positions are computed */
    return out < 0 ? -1 : model_parameters(&raw.m) + raw.m.hidden * out + out + 2 * out;
}

/* Qwen3-Omni's: three convolutions of 3 x 3 over time and mel bands, each half as many, a
 * product to the layers' columns, and two after them (transformers 5,
 * modeling_qwen3_omni_moe.py, Qwen3OmniMoeAudioEncoder). */
static int64_t count_convolved(struct cfg part)
{
    int64_t w = vision_number(part, "d_model", 1280),
            layers = vision_number(part, "encoder_layers", 32),
            inside = vision_number(part, "encoder_ffn_dim", 5120),
            bands = vision_number(part, "num_mel_bins", 128),
            c = vision_number(part, "downsample_hidden_size", 480),
            out = vision_number(part, "output_dim", 3584);
    if (w < 0 || layers < 0 || inside < 0 || bands < 0 || c < 0 || out < 0)
        return -1;
    int64_t before = 9 * c + c + 2 * (9 * c * c + c) + c * ((bands + 7) / 8) * w,
            layer = 4 * (w * w + w) + 2 * w * inside + inside + w + 4 * w;
    return before + layers * layer + 2 * w + w * w + w + w * out + out;
}

/* A tower of sounds next to one of pictures: counted, and not run. */
int vision_sounds(struct model *m, struct cfg root, vision_read_fn *read)
{
    const char *word = "";
    struct cfg part = cfg_get(root, "audio_config");
    struct cfg said = cfg_get(part, "model_type");
    if (!cfg_is_object(part))
        return 0;
    if (cfg_present(said) && cfg_string(said, &word) < 0)
        return -1;
    if (strcmp(word, "qwen2_5_omni_audio_encoder") == 0)
        m->idle = count_encoder(part, read);
    else if (strcmp(word, "qwen3_omni_moe_audio_encoder") == 0)
        m->idle = count_convolved(part);
    else
        m->idle = count_sounds(part, m->hidden);
    if (m->idle < 0)
        return -1;
    cfg_warn(
        part, DIAG_NOT_SIMULATED,
        "the tower that reads sounds is held and not run: no sound is in a sequence "
        "(%" PRId64 " parameters without gradients)",
        m->idle);
    return 0;
}

/* Gemma 4 12B: patches of merged pixels, and samples of sounds, go through products and
 * norms alone (transformers 5, modeling_gemma4_unified.py). Counted, and not run. */
int vision_embedders(struct model *m, struct cfg root)
{
    struct cfg vision = cfg_get(root, "vision_config"),
               audio = cfg_get(root, "audio_config");
    int64_t patch = vision_number(vision, "patch_size", 16),
            pool = vision_number(vision, "pooling_kernel_size", 3),
            w = vision_number(vision, "mm_embed_dim", 3840),
            places = vision_number(vision, "mm_posemb_size", 1120),
            samples = vision_number(audio, "audio_embed_dim", 640);
    if (patch < 0 || pool < 0 || w < 0 || places < 0 || samples < 0)
        return -1;
    int64_t numbers = 3 * patch * pool * patch * pool;
    if (cfg_is_object(vision))
        m->idle += numbers * (2 + w) + 5 * w + 2 * places * w + w * m->hidden;
    if (cfg_is_object(audio))
        m->idle += samples * m->hidden;
    if (m->idle > 0)
        cfg_warn(root, DIAG_NOT_SIMULATED,
                 "what reads pictures and sounds is held and not run: none is in a "
                 "sequence (%" PRId64 " parameters without gradients)",
                 m->idle);
    return 0;
}
