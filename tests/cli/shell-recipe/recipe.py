import argparse

import nemo_run as run
from nemo.collections import llm

parser = argparse.ArgumentParser()
parser.add_argument("--nodes", type=int, default=1)
parser.add_argument("--size", default="8b")
args = parser.parse_args()
if args.size == "70b":
    recipe = llm.llama3_70b.pretrain_recipe(name="own", dir="/runs", num_nodes=args.nodes, num_gpus_per_node=8)
else:
    recipe = llm.llama3_8b.pretrain_recipe(name="own", dir="/runs", num_nodes=args.nodes, num_gpus_per_node=8)
run.run(recipe, executor=run.LocalExecutor())
