/* Words of a program's own document that no row of the Trainer's has. */
#include "base/names.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"
#include "dialect/usual/usual.h"

#include <string.h>

/* clang-format off */
/* Words of training on preferences, and on what a model generates. */
static const char *const pairs[] = { "beta", "dpo_beta", "dpo", "orpo", "kto", "simpo", "loss_type", "max_prompt_length", "reference_model", "ref_model", NULL };
static const char *const generated[] = {
    "rollout", "rollouts", "grpo", "ppo", "rloo", "gspo", "dapo", "online_dpo", "reinforce", "rlhf", "rlvr", "num_generations", "group_size", "kl_coef", "num_rollouts", "actor", "critic", "reward_model", "rewards", NULL,
};
static const char *const methods[] = { "mode", "method", "stage", "algorithm", "algo", "training_type", "training_mode", "trainer_type", "objective", NULL };
/* What a program starts itself on, in sections of SLURM's words and the like. */
static const struct { const char *const names[8]; const char *pointer; int64_t least; } cluster[] = {
    { { "num_nodes", "nnodes", "n_nodes", "num_machines", NULL }, "/cluster/count", 1 },
    { { "gpus_per_node", "num_gpus_per_node", "n_gpus_per_node", "gpus_per_machine", NULL }, "/cluster/gpus_per_instance", 1 },
    { { "tp_size", "tensor_parallel_size", "tensor_parallel", "tensor_parallel_degree", "tensor_model_parallel_size", "tp_degree", "tp", NULL }, "/parallelism/tensor", 2 },
    { { "pp_size", "pipeline_parallel_size", "pipeline_parallel", "pipeline_parallel_degree", "pipeline_model_parallel_size", "pp_degree", "pp", NULL }, "/parallelism/pipeline", 2 },
    { { "cp_size", "context_parallel_size", "context_parallel", "context_parallel_degree", "cp_degree", "cp", NULL }, "/parallelism/context", 2 },
};
/* clang-format on */

const struct value_item *usual_value(const struct value *v, const char *const *names,
                                     int depth)
{
    for (int32_t i = 0; v->kind == VALUE_DICT && i < v->n; i++) {
        const struct value_item *it = &v->items[i], *in;
        if (it->key && names_listed(names, it->key) && it->value->kind != VALUE_NONE)
            return it;
        in = depth > 1 ? usual_value(it->value, names, depth - 1) : NULL;
        if (in)
            return in;
    }
    return NULL;
}

void usual_take_method(struct launch_context *t, const struct value *root)
{
    static const char at[] = "/training/task";
    const struct value_item *named = usual_value(root, methods, USUAL_DEPTH - 1),
                            *pair = usual_value(root, pairs, USUAL_DEPTH - 1),
                            *made = usual_value(root, generated, USUAL_DEPTH - 1);
    const char *word =
        named && named->value->kind == VALUE_STRING ? named->value->text : "";
    if (made || names_listed(generated, word))
        trainer_refuse(t, made ? made : named,
                       "training on answers that the model generates");
    else if (*word && trainer_take_method(t, named, word))
        launch_hear(t, named);
    else if (pair && !launch_has(t, at) && !launch_is_unresolved(t, at)) {
        launch_add_unresolved(
            t, at, pair->line,
            "%.60s: by which method the program trains on preferences "
            "is not known",
            pair->key);
        launch_add_example(t, at, "dpo");
    }
}

/* Sections of a scheduler, whose words are shorter. */
static const struct value_item *scheduled(const struct value *root,
                                          const char *const *names)
{
    static const char *const sections[] = { "slurm", "sbatch", "cluster", "launcher",
                                            NULL };
    const struct value_item *it = NULL;
    for (const char *const *s = sections; *s && !it; s++) {
        const struct value *v = value_member(root, *s);
        it = v && v->kind == VALUE_DICT ? usual_value(v, names, 1) : NULL;
    }
    return it;
}

void usual_take_cluster(struct launch_context *t, const struct value *root)
{
    static const char *const nodes[] = { "nodes", NULL }, *const gpus[] = { "gpus",
                                                                            "gres_gpus",
                                                                            NULL };

    for (size_t i = 0; i < sizeof(cluster) / sizeof(cluster[0]); i++) {
        const struct value_item *it =
            usual_value(root, cluster[i].names, USUAL_DEPTH - 1);
        int64_t n;
        if (!it && i < 2)
            it = scheduled(root, i == 0 ? nodes : gpus);
        if (!it || !launch_whole(it->value, &n) || n < cluster[i].least ||
            launch_has(t, cluster[i].pointer))
            continue;
        launch_set(t, cluster[i].pointer, json_integer((json_int_t)n), it);
        launch_hear(t, it);
    }
}

/* What a program calls its method itself. */
static void take_own_method(struct launch_context *t, const struct value *root,
                            const struct value_item *it)
{
    const char *word = it->value->text;
    bool described = value_get(root, "use_peft") || value_get(root, "lora_r") ||
                     value_get(root, "lora_rank") || value_get(root, "lora_alpha");
    if (launch_has(t, "/training/task")) {
        launch_hear(t, it);
        return;
    }
    if (names_listed(generated, word)) {
        trainer_refuse(t, it, "training on answers that the model generates");
    } else if (peft_is_named(word) && !described) {
        launch_add_unresolved(t, PEFT_LORA, it->line,
                              "%s: %.40s names adapters, and no word describes them",
                              it->key, word);
        launch_add_example(t, PEFT_LORA, PEFT_EXAMPLE);
    } else if (strcmp(word, "sft") != 0 && !peft_is_named(word) &&
               !trainer_take_method(t, it, word)) {
        return;
    }
    launch_hear(t, it);
}

/* Words of a program's own: its method, and sections that were read as a cluster. */
void usual_take_own(struct launch_context *t, const struct value *root)
{
    static const char *const names[] = { "method", "training_method", "training_type",
                                         "slurm",  "sbatch",          NULL };
    usual_take_cluster(t, root);
    for (const char *const *n = names; *n; n++) {
        const struct value_item *it = value_get(root, *n);
        if (it && it->value->kind == VALUE_STRING)
            take_own_method(t, root, it);
        else if (it && it->value->kind == VALUE_DICT && launch_has(t, "/cluster/count"))
            launch_hear(t, it);
    }
}
