#include "scenario/releases.h"

#include "scenario/versions.h"

#include <string.h>

#define N(table) (sizeof(table) / sizeof((table)[0]))

/* clang-format off */
/* The first release that has it, and the last; NULL: from the first, to the newest.
 * PyTorch's and transformers' SDPA: torch.nn.functional, and is_torch_sdpa_available of
 * transformers' utils/import_utils.py. SMDDP's AllGather: SageMaker developer guide,
 * "Sharded data parallelism". SMP: its release notes. The SDK's rule: fw_utils.py,
 * validate_mp_config. NCCL_ALGO by function: NCCL's user guide, environment variables. */
#define FROM(name, release) { release, NULL, "it needs " name " " release }
#define UPTO(release) { NULL, release, "it ended with " release }
static const struct {
    const char *first, *last, *needs;
} facts[RELEASE_FACTS] = {
    [RELEASE_PYTORCH_2]              = FROM("PyTorch", "2"),
    [RELEASE_PYTORCH_LAZY]           = FROM("PyTorch", "1.13"), /* pull request 86509 */
    [RELEASE_PYTORCH_SDPA]           = FROM("PyTorch", "2"),
    [RELEASE_PYTORCH_SDPA_TAKEN]     = FROM("PyTorch", "2.1.1"),
    [RELEASE_PYTORCH_CUDNN]          = FROM("PyTorch", "2.11"), /* (3.30) */
    [RELEASE_PYTORCH_CUDNN_ONCE]     = { "2.5.0", "2.5.0", "it needs PyTorch 2.5.0" },
    [RELEASE_TRANSFORMERS_MASKS]     = { "4.38", "4.39.3", "it ended with 4.39.3" },
    [RELEASE_PYTORCH_SMDDP_GATHER]   = FROM("PyTorch", "1.12.1"),
    [RELEASE_SMDDP_GATHER]           = FROM("SMDDP", "1.6"),
    [RELEASE_SMP_GATHER]             = FROM("SMP", "1.13"),
    [RELEASE_SMP_FUSED_SOFTMAX]      = FROM("SMP", "1.7"),
    [RELEASE_SMP_SHARDS_WITH_TENSOR] = FROM("SMP", "1.15"),
    [RELEASE_SMP_OFFLOAD_BROKEN]     = { "2.2", "2.2", "it needs SMP 2.2" },
    [RELEASE_SDK_NEEDS_PARTITIONS]   = UPTO("2.199.0"),
    [RELEASE_NCCL_FUNCTION_LISTS]    = FROM("NCCL", "2.24"),
};

/* First and last release that is known, the last as far as it is written: of "2" any
 * 2.x. NCCL's are those of the table in cost/nccl.c; the others' have been released,
 * whatever the model makes of them. */
static const struct known {
    const char *key, *name, *first, *last;
} known[] = {
    { "pytorch", "PyTorch", "0.1", "2" },
    { "transformers", "transformers", "2.0", "5" },
    { "nccl", "NCCL", "2.4", "2.30" },
    { "horovod", "Horovod", "0.1", "0" },
    { "smddp", "SMDDP", "1.0", "2" },
    { "efa", "EFA's installer", "1", "1" },
    { "sagemaker_sdk", "SageMaker's SDK", "1", "3" },
};

/* SMP: release notes of the library, as far as parameters distinguish releases. */
static const char *const smp_v1[] = {
    "1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8", "1.8.1", "1.9", "1.10",
    "1.11", "1.13", "1.14", "1.15", NULL,
};
static const char *const smp_v2[] = {
    "2.0", "2.0.1", "2.1", "2.1.2", "2.2", "2.3", "2.3.1", "2.4", "2.5", "2.6", "2.7",
    "2.8", NULL,
};
static const char smp_v2_first[] = "2"; /* where generations part */

/* What containers bring, the oldest PyTorch first: sagemaker-python-sdk,
 * src/sagemaker/image_uri_config: pytorch-smp.json; huggingface.json, the newest pair of
 * each PyTorch; pytorch.json ("py_versions" of "training"), where Python changed. */
struct brings {
    const char *pytorch, *version;
};
static const struct brings smp_containers[] = {
    { "2.0.1", "2.0.1" }, { "2.1.2", "2.1.2" }, { "2.2.0", "2.3.1" },
    { "2.3.1", "2.5.0" }, { "2.4.1", "2.7.0" }, { "2.5.1", "2.8.0" }, { NULL, NULL },
};
static const struct brings transformers_containers[] = {
    { "1.6", "4.5.0" }, { "1.7", "4.6.1" }, { "1.8", "4.10.2" }, { "1.9", "4.12.3" },
    { "1.10", "4.17.0" }, { "1.13", "4.26.0" }, { "2.0", "4.28.1" },
    { "2.1", "4.36.0" }, { "2.3", "4.48.0" }, { "2.5", "4.49.0" }, { NULL, NULL },
};
static const struct brings python_containers[] = {
    { "1.6", "py36" }, { "1.9", "py38" }, { "1.13", "py39" }, { "2.0", "py310" },
    { "2.3", "py311" }, { NULL, NULL },
};
static const struct container {
    const char *what;
    const struct brings *list;
    bool before; /* a PyTorch before the first has what that brings */
} containers[] = {
    { "smp", smp_containers, false },
    { "transformers", transformers_containers, true },
    { "python", python_containers, true },
};

/* SMP v1's containers end with 1.13.1; those of 2.2.0 have SMP v2, too. */
static const char pytorch_first[] = "1.13.1", pytorch_second[] = "2.2.0";

/* Hugging Face transformers, docs/source/en/perf_infer_gpu_one.md of 4.36 to 4.49 (its
 * list grew), issue 28005, pull requests 26572 (4.36), 28133 (Mistral, Mixtral), 28802
 * (BERT), 24523 (Falcon: from its first release on), 30121 (Wav2Vec2), 31172 (GPT-2), 31031 (GPT-NeoX), 30510 (RoBERTa), 33298 (OPT); families that
 * came later had it from their first release, in part recalled; Marian, Pegasus and
 * Blenderbot: the badge on their pages of 4.52.2. The last are the checkpoints' own code
 * (trust_remote_code), which calls PyTorch's where it is 2 or newer; models of images have
 * it where their language models do (*_ATTENTION_CLASSES of modeling_qwen2_vl.py,
 * modeling_olmoe.py, modeling_phimoe.py; those built on LlamaPreTrainedModel and
 * MixtralPreTrainedModel inherit it; Qwen3.5's is Qwen3NextPreTrainedModel, Nemotron-H's
 * JambaPreTrainedModel: modular_qwen3_5.py, modular_nemotron_h.py). Without it: T5 (pull
 * requests 31167, 42453: open; 47014 of July 2026), GPT-J, GPT-Neo, BLOOM, MPT,
 * ELECTRA, DeBERTa; Gemma 2 (eager since 4.45) and GPT-OSS (sinks). */
static const struct {
    const char *family, *since;
} sdpa_families[] = {
    { "llama", "4.36" }, { "falcon", "4.31" }, { "gpt_bigcode", "4.36" },
    { "bart", "4.36" }, { "whisper", "4.36" },
    { "mistral", "4.37" }, { "mixtral", "4.37" }, { "qwen2", "4.37" },
    { "gemma", "4.38" }, { "phi", "4.39" }, { "stablelm", "4.39" },
    { "starcoder2", "4.39" }, { "cohere", "4.39" },
    { "qwen2_moe", "4.40" }, { "olmo", "4.40" }, { "jamba", "4.40" },
    { "wav2vec2", "4.41" }, { "hubert", "4.41" }, { "unispeech", "4.41" },
    { "unispeech-sat", "4.41" }, { "wavlm", "4.36" }, /* by torch's own module */
    { "bert", "4.41" }, { "gpt2", "4.42" }, { "phi3", "4.42" },
    { "vit", "4.42" }, { "deit", "4.42" }, { "clip_vision_model", "4.46" },
    { "siglip_vision_model", "4.46" }, { "dinov2", "4.48" },
    { "gpt_neox", "4.43" }, { "roberta", "4.45" }, { "camembert", "4.45" },
    { "granite", "4.45" }, { "opt", "4.46" }, { "distilbert", "4.46" },
    { "albert", "4.47" }, { "mbart", "4.47" }, { "m2m_100", "4.47" },
    { "olmo2", "4.47" },
    { "gemma4", "5" }, { "gemma4_text", "5" }, /* 5.5 brought them */
    { "modernbert", "4.48" }, { "gemma3", "4.50" }, { "gemma3_text", "4.50" },
    { "deepseek_v3", "4.50" }, { "kimi_k2", "4.50" }, { "llama4", "4.51" },
    { "qwen3", "4.51" }, { "qwen3_moe", "4.51" }, { "deepseek_v2", "4.54" },
    { "marian", "4.52" }, { "pegasus", "4.52" }, { "blenderbot", "4.52" },
    { "blenderbot-small", "4.52" }, { "qwen3_next", "4.57" },
    { "llava", "4.39" }, { "llava_next", "4.39" }, { "dbrx", "4.40" },
    { "paligemma", "4.41" }, { "nemotron", "4.44" }, { "olmoe", "4.45" },
    { "qwen2_vl", "4.45" }, { "granitemoe", "4.45" }, { "llava_onevision", "4.45" },
    { "mllama", "4.45" }, { "phimoe", "4.46" }, { "glm", "4.46" },
    { "idefics3", "4.46" }, { "cohere2", "4.48" }, { "bamba", "4.48" },
    { "qwen2_5_vl", "4.49" }, { "mistral3", "4.50" }, { "glm4", "4.51" },
    { "internvl", "4.52" }, { "granitemoehybrid", "4.52" }, { "smollm3", "4.53" },
    { "gemma3n", "4.53" }, { "gemma3n_text", "4.53" },
    { "arcee", "4.53" }, { "minimax", "4.53" }, { "falcon_h1", "4.53" },
    { "ernie4_5", "4.54" }, { "ernie4_5_moe", "4.54" }, { "exaone4", "4.54" },
    { "glm4_moe", "4.54" }, { "lfm2", "4.54" }, { "seed_oss", "4.56" },
    { "hunyuan_v1_dense", "4.56" }, { "hunyuan_v1_moe", "4.56" },
    { "olmo3", "4.57" }, { "qwen3_vl", "4.57" }, { "qwen3_vl_moe", "4.57" },
    { "minimax_m2", "4.57" }, { "llama4_text", "4.51" }, { "smolvlm", "4.50" },
    { "qwen3_5", "5" }, { "qwen3_5_moe", "5" }, { "qwen3_5_text", "5" },
    { "qwen3_5_moe_text", "5" }, { "nemotron_h", "5" },
    { "chatglm", "4.36" }, { "baichuan", "4.36" }, { "qwen", "4.36" },
    { "internlm2", "4.36" }, { "internlm3", "4.36" }, { "exaone", "4.36" },
    { "mimo", "4.36" },
};
/* clang-format on */

/* Facts ---------------------------------------------------------------------------- */

bool release_has(enum release_fact fact, const char *version)
{
    const char *first = facts[fact].first, *last = facts[fact].last;
    return !version || ((!first || version_compare(version, first) >= 0) &&
                        (!last || version_compare(version, last) <= 0));
}

const char *release_first(enum release_fact fact)
{
    return facts[fact].first;
}

const char *release_needs(enum release_fact fact)
{
    return facts[fact].needs;
}

const char *release_last(enum release_fact fact)
{
    return facts[fact].last;
}

/* Known releases ------------------------------------------------------------------- */

static const struct known *known_of(const char *key)
{
    for (size_t i = 0; i < N(known); i++)
        if (strcmp(known[i].key, key) == 0)
            return &known[i];
    return NULL;
}

const char *release_newest(const char *key)
{
    const struct known *k = known_of(key);
    return k ? k->last : NULL;
}

const char *release_unsure(struct arena *arena, const char *key, const char *version)
{
    const struct known *k = known_of(key);
    bool older = k && !version_within(version, k->first) &&
                 version_compare(version, k->first) < 0;
    if (!k || (!older && (version_within(version, k->last) ||
                          version_compare(version, k->last) < 0)))
        return NULL;
    return arena_printf(
        arena, "%s %.40s is not known (%s to %s%s are): taken for the %s of these",
        k->name, version, k->first, k->last, strchr(k->last, '.') ? "" : ".x",
        older ? "oldest" : "newest");
}

/* SMP ------------------------------------------------------------------------------ */

int release_smp_generation(const char *version)
{
    return version_compare(version, smp_v2_first) < 0 ? 1 : 2;
}

static const char *const *smp_of(int generation)
{
    return generation == 1 ? smp_v1 : smp_v2;
}

const char *release_smp_nearest(const char *version)
{
    return version_nearest(smp_of(release_smp_generation(version)), version);
}

const char *release_smp_first(int generation)
{
    return smp_of(generation)[0];
}

/* Containers ----------------------------------------------------------------------- */

static const struct container *container_of(const char *what)
{
    for (size_t i = 0; i < N(containers); i++)
        if (strcmp(containers[i].what, what) == 0)
            return &containers[i];
    return NULL;
}

const char *release_brought(const char *what, const char *pytorch, bool *exact)
{
    const struct container *c = container_of(what);
    const char *found = c->before ? c->list->version : NULL;
    bool named = false;
    for (const struct brings *b = c->list; b->pytorch; b++) {
        int order = version_compare(b->pytorch, pytorch);
        if (order <= 0)
            found = b->version;
        named |= order == 0;
    }
    if (exact)
        *exact = named;
    return found;
}

const char *release_brought_first(const char *what)
{
    return container_of(what)->list->pytorch;
}

const char *release_pytorch_default(bool second)
{
    return second ? pytorch_second : pytorch_first;
}

const char *release_sdpa_since(const char *family)
{
    for (size_t i = 0; i < N(sdpa_families); i++)
        if (family && strcmp(sdpa_families[i].family, family) == 0)
            return sdpa_families[i].since;
    return NULL;
}

/* Static caches brought these families a causal mask that is always there (pull request
 * 27931; issues 29668, 30010); Cohere's code, of 4.39, is Llama's. */
bool release_masks_all(const char *family, const char *transformers)
{
    static const char *const families[] = { "llama", "gemma", "cohere" };
    if (!family || !transformers ||
        !release_has(RELEASE_TRANSFORMERS_MASKS, transformers))
        return false;
    for (size_t i = 0; i < N(families); i++)
        if (strcmp(families[i], family) == 0)
            return true;
    return false;
}
