import argparse

import nemo_run as run
from nemo.collections import llm

parser = argparse.ArgumentParser()
parser.add_argument("--tensor_model_parallel_size", type=int, default=1)
parser.add_argument("--global_batch_size", type=int, default=512)
args = parser.parse_args()
recipe = llm.llama3_8b.pretrain_recipe(num_nodes=1, num_gpus_per_node=8)
recipe.trainer.strategy.tensor_model_parallel_size = args.tensor_model_parallel_size
recipe.data.global_batch_size = args.global_batch_size
run.run(recipe)
