import nemo_run as run
from nemo.collections import llm

recipe = llm.llama3_8b.pretrain_recipe(name="own", dir="/checkpoints", num_nodes=2, num_gpus_per_node=8)
recipe.trainer.strategy.tensor_model_parallel_size = 2
recipe.trainer.strategy.context_parallel_size = 1
recipe.data.global_batch_size = 256
run.run(recipe, executor=run.LocalExecutor())
