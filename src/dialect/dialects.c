/* The dialects: a row each. */
#include "dialect/accelerate/accelerate.h"
#include "dialect/autotrain/autotrain.h"
#include "dialect/awsfsdp/awsfsdp.h"
#include "dialect/axolotl/axolotl.h"
#include "dialect/colossalai/colossalai.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/dialect.h"
#include "dialect/emit/emit_parts.h"
#include "dialect/gptneox/gptneox.h"
#include "dialect/internevo/internevo.h"
#include "dialect/litgpt/litgpt.h"
#include "dialect/llamafactory/llamafactory.h"
#include "dialect/llamarecipes/llamarecipes.h"
#include "dialect/llmfoundry/llmfoundry.h"
#include "dialect/megatron/megatron.h"
#include "dialect/nanogpt/nanogpt.h"
#include "dialect/nanotron/nanotron.h"
#include "dialect/nemo/nemo.h"
#include "dialect/olmo/olmo.h"
#include "dialect/olmocore/olmocore.h"
#include "dialect/openrlhf/openrlhf.h"
#include "dialect/oumi/oumi.h"
#include "dialect/python/python.h"
#include "dialect/sagemaker/sagemaker.h"
#include "dialect/swift/swift.h"
#include "dialect/torchtitan/torchtitan.h"
#include "dialect/torchtune/torchtune.h"
#include "dialect/trainer/trainer.h"
#include "dialect/trl/trl.h"
#include "dialect/user_script/user_script.h"
#include "dialect/usual/usual.h"
#include "dialect/verl/verl.h"
#include "dialect/xtuner/xtuner.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
/* What a job has from elsewhere, whoever starts it. */
#define OUTSIDE \
    "/model", "/software", "/job", "/storage", "/input", "/uncertainty", "/cluster", \
    "/training/framework", "/training/task", "/training/vocab_padding", \
    "/training/predicted_positions", "/training/decoder_length", "/training/samples", \
    "/training/epochs", "/parallelism/expert_load", "/parallelism/smp_script"

const struct dialect dialects[] = {
    { .name = "sagemaker",
      .summary = "estimators of SageMaker's Python SDK, with the Trainer's hyperparameters",
      .sources = DIALECT_CALLS,
      .calls = sagemaker_calls, .same = sagemaker_same, .objects = sagemaker_objects,
      .recognises = sagemaker_recognises, .read = sagemaker_read, .tables = sagemaker_tables,
      .emit = { .name = "sagemaker", .write = emit_sagemaker, .sagemaker = true, .file = "emitted.py",
                .first = "", .comment = "# ",
                .outside = (const char *const[]) { OUTSIDE, NULL } } },
    { .name = "colossalai",
      .summary = "arguments of Colossal-AI's booster scripts, and configurations of 0.1",
      .sources = DIALECT_COMMAND | DIALECT_CALLS, .starts = true,
      .trains = (const char *const[]) { "benchmark.py", "opt_benchmark.py", NULL },
      .recognises = colossalai_recognises, .read = colossalai_read, .tables = colossalai_tables, .is_flag = colossalai_is_flag,
      .kinds = (const struct dialect_kind_tables[]) { { "configurations of Colossal-AI 0.1", colossalai_config_tables }, { NULL, NULL } } },
    { .name = "nemo",
      .summary = "NVIDIA NeMo's and Megatron-Bridge's configurations and recipes, and those of SageMaker HyperPod in their form",
      .sources = DIALECT_CALLS | DIALECT_COMMAND | DIALECT_DOCUMENT,
      .calls = nemo_calls, .same = nemo_same, .objects = nemo_objects,
      .programs = (const char *const[]) { "nemo", "nemorun", NULL }, .starts = true,
      .recognises = nemo_recognises, .composes = nemo_composes, .read = nemo_read, .tables = nemo_tables,
      .kinds = (const struct dialect_kind_tables[]) {
          { "NeMo 2's and Megatron-Bridge's, in Megatron-Core's words", core_tables },
          { "NeMo-RL's configurations", nemo_rl_tables },
          { "HyperPod's recipes", hyperpod_tables },
          { "HyperPod's recipes with training_config", hyperpod_tuning_tables },
          { "HyperPod's recipes of verl", hyperpod_verl_tables },
          { NULL, NULL } } },
    { .name = "awsfsdp",
      .summary = "arguments of the FSDP example of awsome-distributed-training",
      .sources = DIALECT_COMMAND, .starts = true,
      .recognises = awsfsdp_recognises, .read = awsfsdp_read, .tables = awsfsdp_tables, .settle = trainer_settle_units },
    { .name = "olmocore",
      .summary = "OLMo-core's training scripts in Python",
      .sources = DIALECT_CALLS,
      .calls = olmocore_calls, .objects = olmocore_objects, .argument = olmocore_argument,
      .recognises = olmocore_recognises, .read = olmocore_read, .tables = olmocore_tables },
    { .name = "verl",
      .summary = "commands and configurations of verl's supervised fine-tuning",
      .sources = DIALECT_COMMAND | DIALECT_DOCUMENT,
      .recognises = verl_recognises, .read = verl_read, .tables = verl_tables },
    { .name = "nanogpt",
      .summary = "nanoGPT's train.py, its configurations and its commands",
      .sources = DIALECT_CALLS | DIALECT_COMMAND, .reads_program = true,
      .recognises = nanogpt_recognises, .read = nanogpt_read, .tables = nanogpt_tables },
    { .name = "internevo",
      .summary = "InternEvo's configurations in Python, and commands that name one",
      .sources = DIALECT_CALLS | DIALECT_COMMAND, .reads_program = true,
      .recognises = internevo_recognises, .read = internevo_read, .tables = internevo_tables },
    { .name = "xtuner",
      .summary = "XTuner's configurations in Python, and commands that name one",
      .sources = DIALECT_CALLS,
      .programs = (const char *const[]) { "xtuner", NULL }, .starts = true,
      .recognises = xtuner_recognises, .read = xtuner_read, .tables = xtuner_tables },
    { .name = "autotrain",
      .summary = "AutoTrain's configuration of language models",
      .sources = DIALECT_DOCUMENT,
      .recognises = autotrain_recognises, .read = autotrain_read, .tables = autotrain_tables },
    { .name = "oumi",
      .summary = "Oumi's configuration, and `oumi train`",
      .sources = DIALECT_DOCUMENT,
      .programs = (const char *const[]) { "oumi", NULL }, .own_documents = true,
      .recognises = oumi_recognises, .read = oumi_read, .tables = oumi_tables },
    { .name = "script",
      .summary = "a training program in Python (calls of transformers, TRL, PEFT, Accelerate, Lightning and Unsloth), or its own document",
      .sources = DIALECT_CALLS | DIALECT_COMMAND | DIALECT_DOCUMENT, .reads_program = true, .any = true,
      .calls = user_script_calls, .same = user_script_same, .kept = user_script_kept, .attributes = user_script_attributes, .modules = user_script_modules, .enough = user_script_is_enough,
      .recognises = user_script_recognises, .read = user_script_read, .take_left = user_script_take_fabric,
      .tables = user_script_tables },
    { .name = "megatron",
      .summary = "arguments of Megatron-LM and Megatron-DeepSpeed",
      .sources = DIALECT_COMMAND,
      .recognises = megatron_recognises, .read = megatron_read, .tables = megatron_tables, .settle = megatron_settle_task, .is_flag = megatron_is_flag, .expand = megatron_expand, .script = megatron_script_of,
      .emit = { .name = "megatron", .write = emit_megatron, .file = "emitted.sh",
                .first = "#!/bin/bash\n", .comment = "# ", .holds_model = true, .stacks = "megatron",
                .outside = (const char *const[]) { OUTSIDE, EMIT_LAUNCHER, NULL } } },
    { .name = "gptneox",
      .summary = "gpt-neox's configurations, one or those that deepy.py joins",
      .sources = DIALECT_DOCUMENT,
      .programs = (const char *const[]) { "deepy.py", NULL }, .own_documents = true,
      .recognises = gptneox_recognises, .read = gptneox_read, .tables = gptneox_tables },
    { .name = "deepspeed",
      .summary = "DeepSpeed's configuration",
      .sources = DIALECT_DOCUMENT,
      .recognises = deepspeed_recognises, .read = deepspeed_read, .tables = deepspeed_tables, .settle = deepspeed_settle_autos,
      .emit = { .name = "deepspeed", .write = emit_deepspeed, .file = "emitted.json",
                .first = "", .stacks = "deepspeed",
                .outside = (const char *const[]) { OUTSIDE, EMIT_LAUNCHER, "/training/sequence_length",
                                                   "/training/attention", "/training/steps",
                                                   "/training/activation_checkpointing", NULL } } },
    { .name = "axolotl",
      .summary = "axolotl's configuration",
      .sources = DIALECT_DOCUMENT,
      .programs = (const char *const[]) { "axolotl", "axolotl.cli.train", NULL }, .own_documents = true,
      .recognises = axolotl_recognises, .read = axolotl_read, .tables = axolotl_tables, .settle = trainer_settle_units },
    { .name = "llamafactory",
      .summary = "LLaMA-Factory's arguments",
      .sources = DIALECT_DOCUMENT | DIALECT_COMMAND,
      .programs = (const char *const[]) { "llamafactory-cli", "lmf", NULL }, .own_documents = true,
      .recognises = llamafactory_recognises, .read = llamafactory_read, .tables = llamafactory_tables, .settle = trainer_settle_parts,
      .kinds = (const struct dialect_kind_tables[]) { { "LLaMA-Factory's v1 arguments", llamafactory_v1_tables }, { NULL, NULL } } },
    { .name = "swift",
      .summary = "ms-swift's arguments",
      .sources = DIALECT_DOCUMENT,
      .programs = (const char *const[]) { "swift", "swift.cli.sft", "swift.cli.pt", "megatron", "swift.cli._megatron.sft", "swift.cli._megatron.pt", NULL }, .starts = true,
      .recognises = swift_recognises, .read = swift_read, .tables = swift_tables, .settle = swift_settle },
    { .name = "trl",
      .summary = "TRL's arguments, as scripts and recipes have them",
      .sources = DIALECT_DOCUMENT,
      .programs = (const char *const[]) { "trl", NULL },
      .recognises = trl_recognises, .read = trl_read, .tables = trl_tables, .settle = trainer_settle_parts },
    { .name = "accelerate",
      .summary = "Accelerate's configuration",
      .sources = DIALECT_DOCUMENT,
      .recognises = accelerate_recognises, .read = accelerate_read, .tables = accelerate_tables },
    { .name = "openrlhf",
      .summary = "options of OpenRLHF's supervised training, train_sft",
      .sources = DIALECT_COMMAND,
      .recognises = openrlhf_recognises, .read = openrlhf_read, .tables = openrlhf_tables },
    { .name = "llamarecipes",
      .summary = "options of llama-recipes' finetuning.py",
      .sources = DIALECT_COMMAND,
      .programs = (const char *const[]) { "llama_recipes.finetuning", "llama_cookbook.finetuning", NULL },
      .recognises = llamarecipes_recognises, .read = llamarecipes_read, .tables = llamarecipes_tables },
    { .name = "trainer",
      .summary = "arguments of the Hugging Face Trainer",
      .sources = DIALECT_COMMAND | DIALECT_DOCUMENT, .spreads = true,
      .recognises = trainer_recognises, .read = trainer_read, .assume = trainer_take_clipping, .tables = trainer_tables, .settle = trainer_settle_sharded,
      .emit = { .name = "fsdp", .write = emit_trainer, .file = "emitted.sh",
                .first = "#!/bin/bash\n", .comment = "# ", .stacks = "fsdp",
                .outside = (const char *const[]) { OUTSIDE, EMIT_LAUNCHER,
                                                   "/parallelism/sharding/degree", NULL } } },
    { .name = "torchtitan",
      .summary = "torchtitan's configuration (TOML, and registries in Python) and commands",
      .sources = DIALECT_CALLS | DIALECT_DOCUMENT, .commands = true, .calls = torchtitan_calls,
      .programs = (const char *const[]) { "torchtitan.train", "run_train.sh", NULL },
      .recognises = torchtitan_recognises, .read = torchtitan_read, .tables = torchtitan_tables, .settle = trainer_settle_replicas },
    { .name = "torchtune",
      .summary = "torchtune's configurations, and `tune run`",
      .sources = DIALECT_DOCUMENT, .commands = true, .own_documents = true,
      .programs = torchtune_recipes,
      .recognises = torchtune_recognises, .read = torchtune_read, .tables = torchtune_tables },
    { .name = "llmfoundry",
      .summary = "llm-foundry's configuration, Composer's commands and runs of mcli",
      .sources = DIALECT_DOCUMENT, .commands = true,
      .programs = (const char *const[]) { "llmfoundry", NULL },
      .recognises = llmfoundry_recognises, .read = llmfoundry_read, .tables = llmfoundry_tables, .settle = llmfoundry_settle },
    { .name = "olmo",
      .summary = "OLMo's configuration, and commands that name one",
      .sources = DIALECT_DOCUMENT, .commands = true,
      .recognises = olmo_recognises, .read = olmo_read, .tables = olmo_tables },
    { .name = "nanotron",
      .summary = "nanotron's configuration",
      .sources = DIALECT_DOCUMENT, .commands = true,
      .recognises = nanotron_recognises, .read = nanotron_read, .tables = nanotron_tables, .settle = trainer_settle_replicas },
    { .name = "litgpt",
      .summary = "litgpt's configuration and commands",
      .sources = DIALECT_DOCUMENT, .programs = (const char *const[]) { "litgpt", NULL },
      .recognises = litgpt_recognises, .read = litgpt_read, .tables = litgpt_tables },
    { .name = "usual",
      .summary = "a program's own document that no framework has: a model, a batch and a rate of learning by their usual names",
      .sources = DIALECT_DOCUMENT,
      .recognises = usual_recognises, .read = usual_read },
    { .name = "scenario",
      .summary = "smsim's own file",
      .emit = { .name = "scenario", .write = emit_tree, .comment = NULL, .first = "" } },
    { .name = NULL },
};
/* clang-format on */

static const struct dialect *recognised(const struct dialect_input *in)
{
    for (const struct dialect *d = dialects; d->name; d++)
        if (d->sources & in->source && d->recognises(in))
            return d;
    return NULL;
}

/* What a file is does not depend on the name that --estimator gives; a file that is
 * nothing else has an estimator of that name, or says which there are. */
const struct dialect *dialect_of(const struct dialect_input *in)
{
    struct dialect_input unnamed = *in;
    unnamed.estimator = NULL;
    const struct dialect *d = recognised(&unnamed);
    return d ? d : recognised(in);
}

const struct dialect *dialect_of_named(const struct value *root)
{
    const struct dialect_input in = { .source = DIALECT_DOCUMENT, .root = root };
    for (const struct dialect *d = dialects; d->name; d++)
        if (d->commands && d->recognises(&in))
            return d;
    return NULL;
}

const struct dialect *dialect_of_own(const struct value *root)
{
    const struct dialect_input in = { .source = DIALECT_DOCUMENT, .root = root };
    for (const struct dialect *d = dialects; d->name; d++)
        if (d->own_documents && d->recognises(&in))
            return d;
    return NULL;
}

const struct dialect *dialect_of_options(const struct value *options)
{
    const struct dialect_input in = { .source = DIALECT_COMMAND, .root = options };
    for (const struct dialect *d = dialects; d->name; d++)
        if (d->sources == DIALECT_COMMAND && !d->starts && d->recognises(&in))
            return d;
    return NULL;
}

bool dialect_composes(const struct value *root)
{
    bool own = false;
    for (const struct dialect *d = dialects; d->name && !own; d++)
        own = d->composes && d->composes(root);
    return own;
}

const struct dialect *dialect_of_any(void)
{
    const struct dialect *d = dialects;
    while (d->name && !d->any)
        d++;
    return d->name ? d : NULL;
}

const struct dialect *dialect_of_program(const char *name)
{
    for (const struct dialect *d = dialects; d->name; d++)
        if (d->programs && names_listed(d->programs, name))
            return d;
    return NULL;
}

const struct dialect *dialect_emitted(int number)
{
    for (const struct dialect *d = dialects; d->name; d++)
        if (d->emit.name && --number == 0)
            return d;
    return NULL;
}

void dialect_emit_names(struct name_value *out, int most)
{
    int n = 0;
    for (const struct dialect *d = dialects; d->name && n + 1 < most; d++)
        if (d->emit.name) {
            out[n] = (struct name_value) { d->emit.name, n + 1 };
            n++;
        }
    out[n] = (struct name_value) { NULL, 0 };
}

void dialect_read(const struct dialect *d, struct launch_context *t,
                  const struct dialect_input *in)
{
    d->read(t, in);
    for (const struct dialect *known = dialects; known->name; known++)
        if (known->assume)
            known->assume(t);
}

void dialect_take_left(struct launch_context *t)
{
    for (const struct dialect *d = dialects; d->name; d++)
        if (d->take_left)
            d->take_left(t);
}

void dialect_expand(struct launch_context *t, const struct launch_command *c,
                    struct launch_words *words)
{
    for (const struct dialect *d = dialects; d->name; d++)
        if (d->expand)
            d->expand(t, c, words);
}

const char *dialect_script_of(struct arena *arena, const struct value *root,
                              const char *file)
{
    const char *text = NULL;
    for (const struct dialect *d = dialects; d->name && !text; d++)
        text = d->script ? d->script(arena, root, file) : NULL;
    return text;
}

bool dialect_is_flag(const char *option)
{
    for (const struct dialect *d = dialects; d->name; d++)
        if (d->is_flag && d->is_flag(option))
            return true;
    return false;
}

/* The lists of a member of all rows, joined. */
static const char **joined(struct arena *arena, size_t member)
{
    int n = 0;
    const char **all;
    for (int pass = 0; pass < 2; pass++) {
        all = pass ? ARENA_ARRAY(arena, n + 1, const char *) : NULL;
        n = 0;
        for (const struct dialect *d = dialects; d->name; d++) {
            const char *const *c =
                *(const char *const *const *)((const char *)d + member);
            for (; c && *c; c++, n++)
                if (pass)
                    all[n] = *c;
        }
    }
    all[n] = NULL;
    return all;
}

static const struct value *argument_of(const struct python *p, const char *name,
                                       int64_t line)
{
    const struct value *v = NULL;
    for (const struct dialect *d = dialects; d->name && !v; d++)
        v = d->argument ? d->argument(p, name, line) : NULL;
    return v;
}

static bool is_enough(const struct python *p)
{
    bool enough = false;
    for (const struct dialect *d = dialects; d->name && !enough; d++)
        enough = d->enough && d->enough(p);
    return enough;
}

struct python_wanted dialect_calls(struct arena *arena)
{
    return (struct python_wanted) {
        .calls = joined(arena, offsetof(struct dialect, calls)),
        .same = joined(arena, offsetof(struct dialect, same)),
        .objects = joined(arena, offsetof(struct dialect, objects)),
        .kept = joined(arena, offsetof(struct dialect, kept)),
        .attributes = joined(arena, offsetof(struct dialect, attributes)),
        .modules_of = joined(arena, offsetof(struct dialect, modules)),
        .argument = argument_of,
        .enough = is_enough,
    };
}
