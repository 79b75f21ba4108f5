/* Documents of frameworks that are not read, by keys that no other has: refused by name. */
#include "dialect/launch/launch_foreign.h"

#include "dialect/source/value.h"

#include <stdbool.h>
#include <string.h>

enum { KEYS_MAX = 4, PATH_MAX_B = 60 };

#define NEMO_RL                                                                       \
    "NeMo-RL's configuration says what it trains in the file that its defaults name " \
    "(put it next to this one)"
#define GENERATED "trains on answers that the model generates, which is not simulated"

/* clang-format off */
/* Keys by their paths; all of a row are there. */
static const struct { const char *keys[KEYS_MAX]; const char *what; } foreign[] = {
    { { "actor_rollout_ref" }, "verl's configuration " GENERATED },
    { { "grpo", "policy.model_name" }, "NeMo-RL's configuration " GENERATED },
    { { "distillation", "policy" }, "NeMo-RL's configuration of distillation is not read" },
    { { "policy.megatron_cfg", "defaults" }, NEMO_RL },
    { { "policy.dtensor_cfg", "defaults" }, NEMO_RL },
    { { "policy.model_name", "policy.train_global_batch_size" }, NEMO_RL },
    { { "system.hetero.enable_hetero", "model.num_layers" }, "FlagScale's meshes of unlike groups of GPUs are not simulated" },
    { { "train.system.hetero.enable_hetero", "train.model" }, "FlagScale's meshes of unlike groups of GPUs are not simulated" },
    { { "rollout", "rl", "run.model_type" }, "HyperPod's recipe of several turns " GENERATED },
    { { "rollout", "eval_sampling_params", "run.model_type" }, "HyperPod's recipe evaluates, and trains nothing" },
    { { "llm_as_judge", "run" }, "HyperPod's recipe evaluates, and trains nothing" },
    { { "log_history", "global_step" }, "this is what the Trainer kept of a run (give its script, or the file of arguments that it was given)" },
    { { "orchestrator", "trainer" }, "prime-rl's configuration " GENERATED },
    { { "model.name", "data.micro_batch_size", "optim.lr" }, "prime-rl's configuration is not read (give torchtitan's of the same training)" },
    { { "llm_backbone", "problem_type" }, "H2O LLM Studio's configuration is not read (give a scenario, or the Trainer's arguments of the same training)" },
    { { "per_device_batch_size", "ici_fsdp_parallelism" }, "MaxText's configuration trains in JAX, which is not simulated" },
    { { "base_emb_dim", "base_num_decoder_layers" }, "MaxText's configuration trains in JAX, which is not simulated" },
    { { "merge_method", "models" }, "mergekit's configuration merges models, and trains none" },
    { { "merge_method", "slices" }, "mergekit's configuration merges models, and trains none" },
    { { "config.process", "job" }, "ai-toolkit's configuration is not read" },
    { { "rollout_batch_size", "actor_train" }, "ROLL's configuration " GENERATED },
    { { "explorer", "buffer", "trainer" }, "Trinity-RFT's configuration " GENERATED },
    { { "actor", "rollout", "gconfig" }, "AReaL's configuration " GENERATED },
};
/* clang-format on */

/* Whether the document has a value at "a.b". */
static const struct value_item *at_path(const struct value *root, const char *path)
{
    char key[PATH_MAX_B];
    const char *dot = strchr(path, '.');
    size_t n = dot ? (size_t)(dot - path) : strlen(path);
    if (n >= sizeof(key))
        return NULL;
    memcpy(key, path, n);
    key[n] = '\0';
    const struct value_item *it = value_get(root, key);
    return it && dot ? at_path(it->value, dot + 1) : it;
}

/* Whether what the document trains itself is read, whatever else it has: verl's SFT with
 * the sections of its evaluation, NeMo-RL's SFT and DPO. */
static bool is_read(const struct value *root)
{
    return at_path(root, "model.partial_pretrain") ||
           (at_path(root, "policy.model_name") &&
            (value_get(root, "sft") || value_get(root, "dpo")));
}

const struct value_item *launch_foreign_document(const struct value *root,
                                                 const char **what)
{
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]) && !is_read(root);
         i++) {
        const char *const *keys = foreign[i].keys;
        bool all = true;
        for (int k = 0; k < KEYS_MAX && keys[k]; k++)
            all &= at_path(root, keys[k]) != NULL;
        if (!all)
            continue;
        *what = foreign[i].what;
        return value_get(root, keys[0]) ? value_get(root, keys[0])
                                        : at_path(root, keys[0]);
    }
    return NULL;
}
