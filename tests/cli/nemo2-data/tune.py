# A data module in place of the recipe's has its own defaults: micro-batches of 4.
import nemo_run as run
from nemo.collections import llm

recipe = llm.llama31_8b.finetune_recipe(
    num_nodes=2, num_gpus_per_node=8, peft_scheme=None, seq_length=8192, packed_sequence=True
)
recipe.data = run.Config(llm.SquadDataModule, seq_length=1024, global_batch_size=64)
run.run(recipe)
