# A recipe that functions of the script make, and change.
import nemo_run as run
from nemo.collections import llm
from nemo.collections.llm.recipes.precision.mixed_precision import bf16_with_fp8_mixed
from nemo.lightning.pytorch.callbacks.megatron_comm_overlap import MegatronCommOverlapCallback


def configure(nodes: int = 1, gpus: int = 8):
    recipe = llm.llama3_70b.pretrain_recipe(
        dir="/results", name="own", num_nodes=nodes, num_gpus_per_node=gpus
    )
    recipe.trainer.strategy.tensor_model_parallel_size = 8
    recipe.trainer.strategy.virtual_pipeline_model_parallel_size = 4
    recipe.trainer.plugins = bf16_with_fp8_mixed()
    recipe.trainer.plugins.grad_reduce_in_fp32 = False
    recipe.trainer.callbacks.append(
        run.Config(MegatronCommOverlapCallback, tp_comm_overlap=True)
    )
    recipe.data.micro_batch_size = 1
    recipe.data.global_batch_size = 256
    recipe.model.config.recompute_granularity = "full"
    recipe.model.config.recompute_method = "uniform"
    recipe.model.config.recompute_num_layers = 2
    recipe.model.config.num_layers = 64
    recipe.trainer.max_steps = 500
    recipe.optim.config.clip_grad = 0.5
    return recipe


def tune():
    return llm.mistral_7b.finetune_recipe(num_nodes=2, peft_scheme="lora", packed_sequence=True)


tuning = tune()
tuning.peft.dim = 16
recipe = configure(nodes=16)
run.run(recipe, executor=run.LocalExecutor(ntasks_per_node=8))
