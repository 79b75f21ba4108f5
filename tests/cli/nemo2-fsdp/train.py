import nemo_run as run
from nemo.collections import llm

recipe = llm.llama3_8b.pretrain_recipe(name="fsdp", num_nodes=2, num_gpus_per_node=8)
recipe.trainer.strategy.tensor_model_parallel_size = 1
recipe.trainer.strategy.context_parallel_size = 1
recipe.trainer.strategy.fsdp = "megatron"
run.run(recipe, executor=run.LocalExecutor(ntasks_per_node=8, launcher="torchrun"))
