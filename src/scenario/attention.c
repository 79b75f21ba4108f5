#include "scenario/attention.h"

#include "scenario/libraries.h"
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
    { "flash_attention_3", ATTENTION_FLASH3 },
    { NULL, 0 },
};

/* Hugging Face transformers, docs/source/en/perf_infer_gpu_one.md of 4.36 to 4.49 (its
 * list grew), issue 28005, pull requests 26572 (4.36), 28133 (Mistral, Mixtral), 28802
 * (BERT), 31172 (GPT-2), 31031 (GPT-NeoX), 30510 (RoBERTa), 33298 (OPT); families that
 * came later had it from their first release, in part recalled. Without it: T5 (pull
 * requests 31167, 42453: open; 47014 of July 2026), GPT-J, GPT-Neo, BLOOM, MPT,
 * ELECTRA, DeBERTa; Gemma 2 (eager since 4.45) and GPT-OSS (sinks). */
static const struct {
    const char *family, *since;
} sdpa_families[] = {
    { "llama", "4.36" }, { "falcon", "4.36" }, { "gpt_bigcode", "4.36" },
    { "bart", "4.36" }, { "whisper", "4.36" },
    { "mistral", "4.37" }, { "mixtral", "4.37" }, { "qwen2", "4.37" },
    { "gemma", "4.38" }, { "phi", "4.39" }, { "stablelm", "4.39" },
    { "starcoder2", "4.39" }, { "cohere", "4.39" },
    { "qwen2_moe", "4.40" }, { "olmo", "4.40" }, { "jamba", "4.40" },
    { "bert", "4.41" }, { "gpt2", "4.42" }, { "phi3", "4.42" },
    { "gpt_neox", "4.43" }, { "roberta", "4.45" }, { "camembert", "4.45" },
    { "granite", "4.45" }, { "opt", "4.46" }, { "distilbert", "4.46" },
    { "albert", "4.47" }, { "mbart", "4.47" }, { "olmo2", "4.47" },
    { "modernbert", "4.48" }, { "gemma3", "4.50" }, { "gemma3_text", "4.50" },
    { "deepseek_v3", "4.50" }, { "kimi_k2", "4.50" }, { "llama4", "4.51" },
    { "qwen3", "4.51" }, { "qwen3_moe", "4.51" }, { "deepseek_v2", "4.54" },
    { "qwen3_next", "4.57" },
};

/* PyTorch and transformers of a container: sagemaker-python-sdk, image_uri_config,
 * huggingface.json; the newest pair of each PyTorch. */
static const char *const containers[][2] = {
    { "1.6", "4.5.0" }, { "1.7", "4.6.1" }, { "1.8", "4.10.2" }, { "1.9", "4.12.3" },
    { "1.10", "4.17.0" }, { "1.13", "4.26.0" }, { "2.0", "4.28.1" },
    { "2.1", "4.36.0" }, { "2.3", "4.48.0" }, { "2.5", "4.49.0" },
};
/* clang-format on */

static const char newest_transformers[] = "5";

enum { AMPERE = 80, HOPPER = 90, BLACKWELL = 100, FLASH_HEAD_MOST = 256 };

const char *attention_sdpa_since(const char *family)
{
    for (size_t i = 0; i < sizeof(sdpa_families) / sizeof(sdpa_families[0]); i++)
        if (family && strcmp(sdpa_families[i].family, family) == 0)
            return sdpa_families[i].since;
    return NULL;
}

const char *attention_transformers_of(const char *pytorch)
{
    const char *version = containers[0][1];
    for (size_t i = 0; i < sizeof(containers) / sizeof(containers[0]); i++)
        if (version_compare(containers[i][0], pytorch) <= 0)
            version = containers[i][1];
    return version;
}

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
    if (s->model.attention.relative_buckets > 0)
        return arena_printf(arena, "flash attention takes no bias, %s adds one",
                            s->model.label);
    if (s->model.attention.head_dim > FLASH_HEAD_MOST)
        return "flash attention takes heads to 256";
    return NULL;
}

/* A soft cap or sinks are beyond SDPA; with a bias that learns it has all scores in
 * memory again, for the bias' gradient. */
static const char *sdpa_lacks(const struct model *m)
{
    return m->attention.relative_buckets > 0
               ? "SDPA with a learned bias is not simulated"
           : m->attention.softcap || m->attention.sinks
               ? "SDPA has neither soft cap nor sinks"
               : NULL;
}

/* torch.nn.functional.scaled_dot_product_attention: flash where that can run, else the
 * memory-efficient kernel (sm50 and newer, any format); aten's sdp_utils.cpp. */
static struct attention sdpa_on(const struct scenario *s, const struct gpu *gpu,
                                struct arena *arena, const char *who)
{
    const char *lack = flash_lacks(s, gpu, arena);
    if (sdpa_lacks(&s->model))
        return (struct attention) { OP_ATTENTION_UNFUSED, sdpa_lacks(&s->model) };
    if (!lack)
        return (struct attention) { OP_ATTENTION_FLASH,
                                    arena_printf(arena, "SDPA, %s", who) };
    return (struct attention) {
        OP_ATTENTION_EFFICIENT,
        arena_printf(arena, "SDPA, %s; %s", who, lack),
    };
}

/* What software takes by itself ---------------------------------------------------- */

/* PyTorch's releases before 2.1.1 are left to eager modules by transformers
 * (utils/import_utils.py, is_torch_sdpa_available). */
static struct attention transformers_on(const struct scenario *s, const struct gpu *gpu,
                                        struct arena *arena)
{
    const char *torch = s->software.pytorch, *given = s->software.transformers;
    const char *version = given   ? given
                          : torch ? attention_transformers_of(torch)
                                  : newest_transformers;
    const char *since = attention_sdpa_since(s->model.family);
    const char *family = s->model.family ? s->model.family : s->model.label;
    struct attention eager = { OP_ATTENTION_UNFUSED, "" };
    if (!since)
        eager.why = arena_printf(arena, "transformers has no SDPA for %s", family);
    else if (version_compare(version, since) < 0)
        eager.why =
            arena_printf(arena, "transformers %s%s has no SDPA for %s yet", version,
                         given ? "" : " of PyTorch's container", family);
    else if (torch && version_compare(torch, "2.1.1") < 0)
        eager.why = arena_printf(
            arena, "transformers takes SDPA from PyTorch 2.1.1 on, not %s", torch);
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

/* The profile's own, where the scenario names it or its library brings the model's
 * code; else the model is transformers'. */
static enum framework_attention default_of(const struct scenario *s)
{
    const struct training *t = &s->training;
    const struct parallelism *p = &s->parallel;
    if (p->smp == 2) /* its tensor parallelism is Transformer Engine's */
        return p->tensor > 1 ? FRAMEWORK_ATTENTION_ENGINE
                             : FRAMEWORK_ATTENTION_TRANSFORMERS;
    if (library_of(p)->script_models && !t->framework_named && p->tensor == 1 &&
        p->pipeline == 1)
        return FRAMEWORK_ATTENTION_TRANSFORMERS;
    return t->framework->kernels.attention;
}

static struct attention open_on(const struct scenario *s, const struct gpu *gpu,
                                struct arena *arena)
{
    const char *name = s->training.framework->name;
    if (s->parallel.smp == 1 && s->training.fused_softmax)
        return (struct attention) { OP_ATTENTION_FUSED_SOFTMAX,
                                    "SMP's tensor-parallel layers" };
    switch (default_of(s)) {
    case FRAMEWORK_ATTENTION_TRANSFORMERS:
        return transformers_on(s, gpu, arena);
    case FRAMEWORK_ATTENTION_SDPA:
        return sdpa_on(s, gpu, arena, name);
    case FRAMEWORK_ATTENTION_FLASH:
        return flash_or(s, gpu, arena, OP_ATTENTION_UNFUSED);
    case FRAMEWORK_ATTENTION_ENGINE:
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
    if (word == ATTENTION_OPEN)
        return open_on(s, gpu, arena);
    if (word == ATTENTION_SDPA)
        return sdpa_on(s, gpu, arena, "as written");
    return (struct attention) { word == ATTENTION_FLASH3 ? OP_ATTENTION_FLASH
                                                         : (enum op_attention)word,
                                "as written" };
}

const char *attention_refusal(const struct scenario *s, const struct gpu *gpu,
                              struct arena *arena)
{
    int word = s->training.attention_word;
    const char *torch = s->software.pytorch, *lack = NULL;
    if (word == ATTENTION_SDPA && torch && version_compare(torch, "2") < 0)
        return arena_printf(arena, "PyTorch %s has no SDPA (write \"unfused\")", torch);
    if ((word == ATTENTION_SDPA || word == OP_ATTENTION_EFFICIENT) &&
        sdpa_lacks(&s->model))
        return arena_printf(arena, "%s (write \"unfused\")", sdpa_lacks(&s->model));
    if (word == OP_ATTENTION_FLASH || word == ATTENTION_FLASH3)
        lack = flash_lacks(s, gpu, arena);
    if (!lack && word == ATTENTION_FLASH3 &&
        (gpu->sm_arch < HOPPER || gpu->sm_arch >= BLACKWELL))
        return arena_printf(arena,
                            "flash attention 3 is for sm90, %s is sm%d (write "
                            "\"flash\")",
                            gpu->name, (int)gpu->sm_arch);
    return lack ? arena_printf(arena, "%s (write \"sdpa\" or \"unfused\")", lack)
                : NULL;
}
