#include "scenario/attention.h"

#include "scenario/libraries.h"
#include "scenario/releases.h"
#include "scenario/versions.h"

#include <string.h>

/* clang-format off */
const struct name_value attention_words[] = {
    { "unfused", OP_ATTENTION_UNFUSED },
    { "fused-softmax", OP_ATTENTION_FUSED_SOFTMAX },
    { "memory-efficient", OP_ATTENTION_EFFICIENT },
    { "flash", OP_ATTENTION_FLASH },
    { "sdpa", ATTENTION_SDPA },
    { "eager", OP_ATTENTION_UNFUSED },
    { "xformers", OP_ATTENTION_EFFICIENT },
    { "flash_attention_2", OP_ATTENTION_FLASH },
    { "flash_attention_3", OP_ATTENTION_FLASH3 },
    { "cudnn", OP_ATTENTION_CUDNN },
    { NULL, 0 },
};
/* clang-format on */

enum {
    AMPERE = 80,
    HOPPER = 90,
    BLACKWELL = 100,
    BLACKWELL_ULTRA = 103,
    FLASH_HEAD_MOST = 256
};

const struct name_value attention_masks[] = {
    { "kernel", ATTENTION_MASK_KERNEL },
    { "tensor", ATTENTION_MASK_TENSOR },
    { NULL, 0 },
};

/* What a GPU can run --------------------------------------------------------------- */

/* Products of attention are in 16 bits, also where others are in fp8. */
static bool is_16bit(enum op_precision p)
{
    return dtype_bytes(op_compute_dtype(p)) <= 2;
}

/* Why flash-attention cannot run: its README (Dao-AILab/flash-attention: Ampere or
 * newer, fp16 and bf16, heads to 256) and its interface, which takes no bias. NULL: it
 * can. */
static const char *flash_lacks(const struct scenario *s, const struct gpu *gpu,
                               struct arena *arena)
{
    if (gpu->sm_arch < AMPERE)
        return arena_printf(arena, "flash attention needs sm80, %s is sm%d", gpu->name,
                            (int)gpu->sm_arch);
    if (!is_16bit(s->training.precision))
        return "flash attention needs 16 bits";
    if (s->model.attention.place_rows > 0)
        return "flash attention has no disentangled attention";
    if (s->model.attention.relative_buckets > 0)
        return arena_printf(arena, "flash attention takes no bias, %s adds one",
                            s->model.label);
    if (model_largest_head(&s->model) > FLASH_HEAD_MOST)
        return "flash attention takes heads to 256";
    if (s->training.mask_word == ATTENTION_MASK_TENSOR)
        return "flash attention takes no mask";
    return NULL;
}

/* A soft cap or sinks are beyond SDPA; with a bias that learns it has all scores in
 * memory again, for the bias' gradient. */
static const char *sdpa_lacks(const struct model *m)
{
    return m->attention.place_rows > 0 ? "SDPA has no disentangled attention"
           : m->attention.relative_buckets > 0
               ? "SDPA with a learned bias is not simulated"
           : m->attention.softcap || m->attention.sinks
               ? "SDPA has neither soft cap nor sinks"
               : NULL;
}

/* Some sequence has rows of padding: of a batch of several, padded to its longest, or
 * of any that are padded to one length. */
static bool is_padded(const struct training *t)
{
    const struct lengths *l = &t->lengths;
    return l->mean > 0 && l->mean < l->max &&
           (l->padded == LENGTHS_MAX ||
            (l->padded == LENGTHS_LONGEST && training_sequences(t) > 1));
}

/* Why sequences that no key speaks of have a mask; NULL: they have none. */
static const char *masked_by(const struct scenario *s)
{
    if (s->parallel.context > 1 || s->model.diffusion.stack)
        return NULL;
    return is_padded(&s->training) ? "sequences are padded"
           : release_masks_all(s->model.family, s->software.transformers)
               ? "transformers 4.38 and 4.39 make a mask of every batch"
               : NULL;
}

bool attention_has_mask(const struct scenario *s)
{
    int word = s->training.mask_word;
    return word == ATTENTION_MASK_TENSOR ||
           (word == ATTENTION_MASK_OPEN && masked_by(s));
}

/* The profile's own, where the scenario names it or its library brings the model's
 * code; else the model is transformers'. */
static enum framework_attention default_of(const struct scenario *s)
{
    const struct training *t = &s->training;
    const struct parallelism *p = &s->parallel;
    if (library_of(p)->smp.engine)
        return p->tensor > 1 ? FRAMEWORK_ATTENTION_ENGINE
                             : FRAMEWORK_ATTENTION_TRANSFORMERS;
    if (library_of(p)->script_models && !t->framework_named && p->tensor == 1 &&
        p->pipeline == 1)
        return FRAMEWORK_ATTENTION_TRANSFORMERS;
    return t->framework->kernels.attention;
}

/* torchtitan lists cuDNN's kernel before the others on sm100 and newer (pull request 1196,
 * May 2025: has_cuda_capability(10, 0)). */
static bool default_is_cudnn(const struct scenario *s)
{
    return s->training.attention_word == ATTENTION_OPEN &&
           default_of(s) == FRAMEWORK_ATTENTION_CUDNN;
}

/* From PyTorch 2.11 on, whose cuDNN is newer than 9.15, SDPA asks for cuDNN's kernel first
 * on Hopper and Blackwell (aten sdp_utils.cpp, check_prefer_cudnn_attention: sm90, sm100,
 * sm103). On Blackwell its backward takes heads to 128. 2.5.0 did so on Hopper, and 2.5.1,
 * which "2.5" means, no longer (pytorch pull request 138522). */
static bool sdpa_takes_cudnn(const struct scenario *s, const struct gpu *gpu)
{
    enum { CUDNN_BLACKWELL_HEAD_MOST = 128 };
    const char *torch = s->software.pytorch;
    const char *once = release_first(RELEASE_PYTORCH_CUDNN_ONCE);
    bool blackwell = gpu->sm_arch == BLACKWELL || gpu->sm_arch == BLACKWELL_ULTRA,
         by_itself = torch && release_has(RELEASE_PYTORCH_CUDNN, torch);
    if (gpu->sm_arch == HOPPER)
        return by_itself || (torch && strncmp(torch, once, strlen(once)) == 0 &&
                             release_has(RELEASE_PYTORCH_CUDNN_ONCE, torch));
    return blackwell && (by_itself || default_is_cudnn(s)) &&
           model_largest_head(&s->model) <= CUDNN_BLACKWELL_HEAD_MOST;
}

/* torch.nn.functional.scaled_dot_product_attention: cuDNN's where it comes first, flash where that can run, else the
 * memory-efficient kernel (sm50 and newer, any format, any mask); aten's
 * sdp_utils.cpp. */
static struct attention sdpa_on(const struct scenario *s, const struct gpu *gpu,
                                struct arena *arena, const char *who)
{
    const char *lack = flash_lacks(s, gpu, arena);
    if (sdpa_lacks(&s->model))
        return (struct attention) { OP_ATTENTION_UNFUSED, sdpa_lacks(&s->model) };
    if (!lack && attention_has_mask(s))
        lack =
            arena_printf(arena, "%s, and flash attention takes no mask", masked_by(s));
    if (!lack && sdpa_takes_cudnn(s, gpu))
        return (struct attention) { OP_ATTENTION_CUDNN,
                                    default_is_cudnn(s)
                                        ? who
                                        : arena_printf(arena, "SDPA of PyTorch %s, %s",
                                                       s->software.pytorch, who) };
    if (!lack)
        return (struct attention) { OP_ATTENTION_FLASH,
                                    arena_printf(arena, "SDPA, %s", who) };
    return (struct attention) {
        OP_ATTENTION_EFFICIENT,
        arena_printf(arena, "SDPA, %s; %s", who, lack),
    };
}

/* What software takes by itself ---------------------------------------------------- */

/* Families, and PyTorch's releases, that are left to eager modules by transformers. */
static struct attention transformers_on(const struct scenario *s, const struct gpu *gpu,
                                        struct arena *arena)
{
    const char *torch = s->software.pytorch, *given = s->software.transformers;
    const char *version = given   ? given
                          : torch ? release_brought("transformers", torch, NULL)
                                  : release_newest("transformers");
    static const char chosen[] = "4.36"; /* modules called it themselves before */
    const char *since = release_sdpa_since(s->model.family);
    const char *family = s->model.family ? s->model.family : s->model.label;
    struct attention eager = { OP_ATTENTION_UNFUSED, "" };
    if (!since)
        eager.why = arena_printf(arena, "transformers has no SDPA for %s", family);
    else if (version_compare(version, since) < 0)
        eager.why =
            arena_printf(arena, "transformers %s%s has no SDPA for %s yet", version,
                         given ? "" : " of PyTorch's container", family);
    else if (version_compare(version, chosen) >= 0 &&
             !release_has(RELEASE_PYTORCH_SDPA_TAKEN, torch))
        eager.why =
            arena_printf(arena, "transformers takes SDPA from PyTorch %s on, not %s",
                         release_first(RELEASE_PYTORCH_SDPA_TAKEN), torch);
    else
        return sdpa_on(s, gpu, arena,
                       arena_printf(arena, "transformers from %s on", since));
    return eager;
}

/* Kernels that need Ampere, and what the software has without. */
static struct attention flash_or(const struct scenario *s, const struct gpu *gpu,
                                 struct arena *arena, enum op_attention without)
{
    const char *lack = flash_lacks(s, gpu, arena);
    return (struct attention) { lack ? without : OP_ATTENTION_FLASH,
                                lack ? lack : s->training.framework->name };
}

/* Transformer Engine's attention/dot_product_attention/utils.py, get_attention_backend. */
static bool is_off(const struct scenario *s, const char *variable)
{
    struct cfg all = s->software.environment;
    const char *value = json_string_value(json_object_get(all.json, variable));
    return value && strcmp(value, "0") == 0;
}

bool attention_engine_is_plain(const struct scenario *s)
{
    return is_off(s, "NVTE_FLASH_ATTN") && is_off(s, "NVTE_FUSED_ATTN");
}

bool attention_is_engine(const struct scenario *s)
{
    return s->training.attention_word == ATTENTION_OPEN && s->training.framework &&
           !s->training.fused_softmax && default_of(s) == FRAMEWORK_ATTENTION_ENGINE;
}

static struct attention open_on(const struct scenario *s, const struct gpu *gpu,
                                struct arena *arena)
{
    const char *name = s->training.framework->name;
    if (s->training.fused_softmax)
        return (struct attention) { OP_ATTENTION_FUSED_SOFTMAX,
                                    "SMP's tensor-parallel layers" };
    switch (default_of(s)) {
    case FRAMEWORK_ATTENTION_TRANSFORMERS:
        return transformers_on(s, gpu, arena);
    case FRAMEWORK_ATTENTION_SDPA:
    case FRAMEWORK_ATTENTION_CUDNN:
        return sdpa_on(s, gpu, arena, name);
    case FRAMEWORK_ATTENTION_FLASH:
        return flash_or(s, gpu, arena, OP_ATTENTION_UNFUSED);
    case FRAMEWORK_ATTENTION_ENGINE:
        if (attention_engine_is_plain(s))
            return (struct attention) { OP_ATTENTION_FUSED_SOFTMAX,
                                        "NVTE_FLASH_ATTN=0, NVTE_FUSED_ATTN=0" };
        return flash_or(s, gpu, arena, OP_ATTENTION_FUSED_SOFTMAX);
    case FRAMEWORK_ATTENTION_SOFTMAX:
        return (struct attention) { OP_ATTENTION_FUSED_SOFTMAX, name };
    case FRAMEWORK_ATTENTION_UNFUSED:
        break;
    }
    return (struct attention) { OP_ATTENTION_UNFUSED, name };
}

struct attention attention_on(const struct scenario *s, const struct gpu *gpu,
                              struct arena *arena)
{
    int word = s->training.attention_word;
    if (word == ATTENTION_OPEN && s->model.diffusion.stack)
        return sdpa_on(s, gpu, arena, "diffusers");
    if (word == ATTENTION_OPEN)
        return open_on(s, gpu, arena);
    if (word == ATTENTION_SDPA)
        return sdpa_on(s, gpu, arena, "as written");
    return (struct attention) { (enum op_attention)word, "as written" };
}

const char *attention_mask_refusal(const struct scenario *s)
{
    if (s->training.mask_word != ATTENTION_MASK_TENSOR)
        return NULL;
    if (op_attention_is_flash((enum op_attention)s->training.attention_word))
        return "flash attention takes no mask (write attention \"sdpa\" or "
               "\"unfused\")";
    return s->parallel.context > 1
               ? "context parallelism splits sequences without a mask (leave it out)"
               : NULL;
}

const char *attention_refusal(const struct scenario *s, const struct gpu *gpu,
                              struct arena *arena)
{
    int word = s->training.attention_word;
    const char *torch = s->software.pytorch, *lack = NULL;
    if (s->model.diffusion.stack &&
        (word == OP_ATTENTION_UNFUSED || word == OP_ATTENTION_FUSED_SOFTMAX))
        return "diffusers' transformers have PyTorch's fused attention (write "
               "\"sdpa\")";
    if (word == ATTENTION_SDPA && !release_has(RELEASE_PYTORCH_SDPA, torch))
        return arena_printf(arena, "PyTorch %s has no SDPA (write \"unfused\")", torch);
    if ((word == ATTENTION_SDPA || word == OP_ATTENTION_EFFICIENT) &&
        sdpa_lacks(&s->model))
        return arena_printf(arena, "%s (write \"unfused\")", sdpa_lacks(&s->model));
    if (op_attention_is_flash((enum op_attention)word))
        lack = flash_lacks(s, gpu, arena);
    if (!lack && word == OP_ATTENTION_FLASH3 &&
        (gpu->sm_arch < HOPPER || gpu->sm_arch >= BLACKWELL))
        return arena_printf(arena,
                            "flash attention 3 is for sm90, %s is sm%d (write "
                            "\"flash\")",
                            gpu->name, (int)gpu->sm_arch);
    if (!lack && word == OP_ATTENTION_CUDNN && gpu->sm_arch != HOPPER &&
        gpu->sm_arch != BLACKWELL && gpu->sm_arch != BLACKWELL_ULTRA)
        return arena_printf(arena,
                            "cuDNN's attention has a rate on sm90 and sm100, %s is "
                            "sm%d (write \"sdpa\")",
                            gpu->name, (int)gpu->sm_arch);
    return lack ? arena_printf(arena, "%s (write \"sdpa\" or \"unfused\")", lack)
                : NULL;
}
