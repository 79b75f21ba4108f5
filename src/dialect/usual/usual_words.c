/* Words of a program's own document that no row of the Trainer's has. */
#include "base/names.h"
#include "dialect/trainer/trainer.h"
#include "dialect/usual/usual.h"

#include <string.h>

/* clang-format off */
/* Words of training on preferences, and on what a model generates. */
static const char *const pairs[] = { "beta", "dpo_beta", "dpo", "orpo", "kto", "simpo", "loss_type", "max_prompt_length", "reference_model", "ref_model", NULL };
static const char *const generated[] = {
    "rollout", "rollouts", "grpo", "ppo", "rloo", "gspo", "num_generations", "group_size", "kl_coef", "num_rollouts", "actor", "critic", "reward_model", "rewards", NULL,
};
static const char *const methods[] = { "mode", "method", "stage", "algorithm", "algo", "training_type", "training_mode", "trainer_type", "objective", NULL };
/* What a program starts itself on, in sections of SLURM's words and the like. */
static const struct { const char *const names[7]; const char *pointer; int64_t least; } cluster[] = {
    { { "num_nodes", "nnodes", "n_nodes", "num_machines", NULL }, "/cluster/count", 1 },
    { { "gpus_per_node", "num_gpus_per_node", "n_gpus_per_node", "gpus_per_machine", NULL }, "/cluster/gpus_per_instance", 1 },
    { { "tp_size", "tensor_parallel_size", "tensor_parallel", "tensor_parallel_degree", "tensor_model_parallel_size", "tp_degree", NULL }, "/parallelism/tensor", 2 },
    { { "pp_size", "pipeline_parallel_size", "pipeline_parallel", "pipeline_parallel_degree", "pipeline_model_parallel_size", "pp_degree", NULL }, "/parallelism/pipeline", 2 },
    { { "cp_size", "context_parallel_size", "context_parallel", "context_parallel_degree", "cp_degree", NULL }, "/parallelism/context", 2 },
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

void usual_take_cluster(struct launch_context *t, const struct value *root)
{
    for (size_t i = 0; i < sizeof(cluster) / sizeof(cluster[0]); i++) {
        const struct value_item *it =
            usual_value(root, cluster[i].names, USUAL_DEPTH - 1);
        int64_t n;
        if (!it || !launch_whole(it->value, &n) || n < cluster[i].least ||
            launch_has(t, cluster[i].pointer))
            continue;
        launch_set(t, cluster[i].pointer, json_integer((json_int_t)n), it);
        launch_hear(t, it);
    }
}
