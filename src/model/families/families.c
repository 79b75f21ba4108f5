#include "model/families/families.h"

#include "base/names.h"
#include "model/vision.h"

#include <string.h>

static const struct family *const tables[] = {
    families_encoder, families_gpt,       families_llama_line, families_recent,
    families_kin,     families_experts,   families_state,      families_linear,
    families_gemma,   families_diffusion, families_vision,     families_megatron,
    families_more,    families_sound,     families_tower,      families_late,
    families_stages,
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

const struct family *family_next(const struct family *family)
{
    for (int i = 0; i < TABLES; i++)
        for (const struct family *f = tables[i]; f->name; f++)
            if (!family)
                return f;
            else if (f == family)
                family = NULL;
    return NULL;
}

/* Why families that users meet are refused. */
#define STATE "its layers keep a state instead of keys and values"
#define HYBRID "some of its layers keep a state instead of keys and values"
#define PYRAMID                                                                      \
    "its layers halve the picture and double their columns (vit and dinov2 are the " \
    "nearest that are)"
#define WAVES "its convolutions are of its own (wav2vec2 is the nearest that is)"
#define ENCODER_DECODER "of encoder-decoders, those of T5, BART and Whisper are"
#define PICTURES "it reads pictures or sound with convolutions or windows of its own"
#define LANGUAGE "smsim reads its language model's part (text_config) alone, as a file"
#define DIFFER "its layers differ"
#define PAGES \
    "it reads pictures of pages, boxes and words in one stack (layoutlm is modelled)"
#define DENSE \
    "its head makes pictures by convolutions (dinov2 and vit are its encoders)"
#define DETECTS "it finds things in pictures by queries, over convolutions or patches"
#define SPARSE "its attention is sparse (roberta is the nearest that is)"
#define HEADS "heads of its layers differ in size or number"
#define UNET                                                                           \
    "it is a U-Net of convolutions, whose kernels have no published times: SD3's and " \
    "Flux's transformers are modelled, and a trace of a run is read by smsim doctor"
#define MELDED "its language model reads pictures or sound through layers of its own"
static const struct {
    const char *name, *why;
} refused[] = {
    { "albert", "its layers share one set of weights (bert's take the same time)" },
    { "xlnet", "it attends to two streams (bert is the nearest that is)" },
    { "longformer", SPARSE },
    { "big_bird", SPARSE },
    { "reformer", SPARSE },
    { "longt5", "its encoder attends to blocks (t5 is the nearest that is)" },
    { "chronos2", "it attends to series in groups (t5 is the nearest that is)" },
    { "rwkv", STATE },
    { "rwkv7", STATE },
    { "retnet", STATE },
    { "recurrent_gemma", HYBRID },
    { "zamba", HYBRID },
    { "zamba2", HYBRID },
    { "deepseek_v4", "its attention compresses keys by learned blocks" },
    { "led", ENCODER_DECODER },
    { "seamless_m4t", ENCODER_DECODER },
    { "openelm", DIFFER },
    { "nemotron-nas", DIFFER },
    { "deci", DIFFER },
    { "sam2", PICTURES },
    { "parakeet_ctc", PICTURES },
    { "convnext", PYRAMID },
    { "resnet", PICTURES },
    { "sam", PICTURES },
    { "data2vec-audio", WAVES },
    { "wav2vec2-conformer", WAVES },
    { "maskformer-swin", PYRAMID },
    { "hiera", PYRAMID },
    { "pvt_v2", PYRAMID },
    { "segformer", PYRAMID },
    { "florence2", PICTURES },
    { "phi4mm", PICTURES },
    { "phi3_v", PICTURES },
    { "wav2vec2-bert", PICTURES },
    { "kimi_k3", HYBRID },
    { "bailing_hybrid", HYBRID },
    { "bailing_moe_linear", HYBRID },
    { "rwkv5", STATE },
    { "rwkv6", STATE },
    { "xlstm", STATE },
    { "mimo_v2_flash", HEADS },
    { "step3p5", HEADS },
    { "step3p7", HEADS },
    { "minimax_m3", "its attention chooses blocks of keys by kernels of its own" },
    { "minimax_m3_vl", "its attention chooses blocks of keys by kernels of its own" },
    { "phi3small", "its attention is to blocks of keys, dense and sparse in turn" },
    { "arctic", "its layers sum a dense MLP and experts" },
    { "longcat_flash", "its layers have two attentions and experts that do nothing" },
    { "ernie4_5_moe_vl", MELDED },
    { "deepseek_vl_v2", LANGUAGE },
    { "minicpmv", MELDED },
    { "minicpmo", MELDED },
    { "idefics", MELDED },
    { "idefics2", MELDED },
    { "blip-2", MELDED },
    { "unet", UNET },
    { "bitnet",
      "its products are of ternary weights, and its sublayers have norms within" },
    { "laguna", HEADS },
    { "xlm-roberta-flash",
      "it has adapters of tasks within (jina_embeddings_v3 is without)" },
    { "chronos-bolt",
      "it reads patches of series (chronos-t5's ids and t5 are modelled)" },
    { "nomic_bert_moe", "every other layer has experts (nomic_bert is without)" },
    { "layoutlmv2", PAGES },
    { "layoutlmv3", PAGES },
    { "moondream1", MELDED },
    { "clap", "its sounds go through a Swin, whose layers differ in width (clip is the "
              "nearest)" },
    { "blip", MELDED },
    { "git", MELDED },
    { "instructblip", MELDED },
    { "speech-encoder-decoder",
      "its decoder reads a tower of another family (whisper is the nearest)" },
    { "depth_anything", DENSE },
    { "dpt", DENSE },
    { "zoedepth", DENSE },
    { "vitdet", DENSE },
    { "beit",
      "its layers have relative positions of patches and scales (vit is the nearest)" },
    { "data2vec-vision",
      "its layers have relative positions of patches and scales (vit is the nearest)" },
    { "vit_mae",
      "it encodes a quarter of the patches, and decodes all (vit is its encoder)" },
    { "videomae", "it reads tubes of a video (vit is the nearest)" },
    { "audio-spectrogram-transformer", "its patches overlap (vit is the nearest)" },
    { "detr", DETECTS },
    { "conditional_detr", DETECTS },
    { "deformable_detr", DETECTS },
    { "rt_detr", DETECTS },
    { "rt_detr_v2", DETECTS },
    { "table-transformer", DETECTS },
    { "grounding-dino", DETECTS },
    { "yolos", DETECTS },
    { "owlvit", DETECTS },
    { "owlv2", DETECTS },
    { "sam3", PICTURES },
    { "dinov3_convnext", PYRAMID },
    { "convnextv2", PYRAMID },
    { "timm_wrapper",
      "its layers are those of timm's architecture, which no config.json says" },
    { "musicgen", "it is a text encoder, a decoder and a codec of other families" },
    { "speecht5", WAVES },
    { "seamless_m4t_v2", ENCODER_DECODER },
    { "bark", "it is three decoders and a codec" },
    { "tapas", "its words have seven kinds of types (bert is the nearest)" },
    { "canine", "its attention is within blocks of letters" },
    { "fnet", "its layers mix by Fourier transforms" },
    { "mobilebert", "its layers have bottlenecks (bert is the nearest)" },
    { "funnel", "its layers pool the sequence" },
    { "convbert", "its layers mix by convolutions of spans" },
    { "bigbird_pegasus", SPARSE },
    { "nllb-moe",
      "every fourth layer has experts, in both stacks (m2m_100 is the nearest)" },
    { "switch_transformers",
      "every other layer has experts, in both stacks (t5 is the nearest)" },
    { "jetmoe", "its attention has experts, too" },
    { "cohere2_vision",
      "its pictures go through a gated projector (aya's and command-a's)" },
    { "aya_vision",
      "its pictures go through a gated projector (aya's and command-a's)" },
    { "fuyu", MELDED },
    { "janus", MELDED },
    { "paddleocr_vl", MELDED },
    { "deepseek_vl", LANGUAGE },
    { "efficientnet", PYRAMID },
    { "mobilenet", PYRAMID },
    { "mobilenet_v1", PYRAMID },
    { "mobilenet_v2", PYRAMID },
    { "speechbrain", "it is a network of convolutions over sounds" },
    { "blt", "its layers read patches of bytes, which a model of its own cuts" },
    { "zaya",
      "its attention is within a latent that convolutions make, and its router is "
      "an MLP" },
    { "doge", "its attention chooses keys by learned scores" },
    { "diffllama", "its attention is the difference of two (llama is the nearest)" },
    { "pix2struct", ENCODER_DECODER },
    { "moonshine", WAVES },
    { "rembert", "its words have other widths at both ends (bert is the nearest)" },
    { "t5gemma2", "its encoder reads pictures, and its decoder joins both attentions" },
};
enum { REFUSED = sizeof(refused) / sizeof(refused[0]) };

const char *family_refusal(const char *name)
{
    for (int i = 0; i < REFUSED; i++)
        if (strcmp(refused[i].name, name) == 0)
            return refused[i].why;
    return NULL;
}

/* Language models of those that read pictures or sound, which are others' (transformers
 * 4.57: configuration_*.py of each). */
static const struct {
    const char *said, *meant;
} same[] = {
    { "qwen2_vl_text", "qwen2" },
    { "qwen2_5_vl_text", "qwen2" },
    { "qwen2_5_omni_text", "qwen2" },
    { "qwen3_vl_text", "qwen3" },
    { "qwen3_vl_moe_text", "qwen3_moe" },
    { "qwen3_omni_moe_text", "qwen3_moe" },
    { "glm4v_text", "glm4" },
    { "glm4v_moe_text", "glm4_moe" },
    { "siglip2_text_model", "siglip_text_model" },
    { "gpt-sw3", "gpt2" },
};

static const char *meant(const char *name)
{
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        if (strcmp(same[i].said, name) == 0)
            return same[i].meant;
    return name;
}

const struct family *family_find(const char *name)
{
    name = meant(name);
    const struct family *f = family_next(NULL);
    while (f && strcmp(f->name, name) != 0)
        f = family_next(f);
    return f;
}

bool family_is_translated(const struct family *family)
{
    for (const struct family *f = families_megatron; f->name; f++)
        if (f == family)
            return true;
    return false;
}

const char *family_nearest(const char *name)
{
    enum { MOST = 256 };
    struct name_value words[MOST] = { { NULL, 0 } };
    for (int i = 0; i < MOST - 1 && (words[i].name = model_family(i)) != NULL; i++)
        continue;
    return names_nearest(words, name);
}

const char *model_refused(int64_t i, const char **why)
{
    if (i < 0 || i >= REFUSED)
        return NULL;
    *why = refused[i].why;
    return refused[i].name;
}

const char *model_family(int64_t i)
{
    for (const struct family *f = NULL; (f = family_next(f)) != NULL;)
        if (i-- == 0)
            return f->name;
    return vision_name(i);
}

/* Those of transformers' ACT2FN that eager code computes in several kernels. */
static const struct name_value activation_names[] = {
    { "gelu_new", MODEL_ACTIVATION_GELU_NEW },
    { "gelu_fast", MODEL_ACTIVATION_GELU_FAST },
    { "relu2", MODEL_ACTIVATION_SQUARED_RELU },
    { "squared_relu", MODEL_ACTIVATION_SQUARED_RELU }, /* Megatron-LM's word */
    { NULL, 0 },
};

/* The others of ACT2FN, and words of models' own code: a kernel each. */
static const char *const kernel_activations[] = {
    "gelu",      "gelu_10",       "gelu_python", "gelu_python_tanh",
    "gelu_tanh", "gelu_accurate", "quick_gelu",  "gelu_pytorch_tanh",
    "laplace",   "leaky_relu",    "linear",      "identity",
    "mish",      "relu",          "relu6",       "prelu",
    "sigmoid",   "silu",          "swish",       "swilu",
    "tanh",      "xielu",         "hardswish",   "swiglu",
    "geglu",     "reglu",         "gegelu",      "glu",
    "swigluoai",
};

bool families_knows_activation(const char *word)
{
    int v;
    for (size_t i = 0; i < sizeof(kernel_activations) / sizeof(kernel_activations[0]);
         i++)
        if (strcmp(word, kernel_activations[i]) == 0)
            return true;
    return names_find(activation_names, word, &v) == 0;
}

enum model_activation families_activation(const char *word)
{
    int v;
    return names_find(activation_names, word, &v) < 0 ? MODEL_ACTIVATION_KERNEL
                                                      : (enum model_activation)v;
}
