import nemo_run as run
from nemo.collections import llm
from nemo.collections.llm.recipes import llama3_8b, llama3_70b


def eight():
    recipe = llama3_8b.pretrain_recipe(name="eight", num_nodes=2, num_gpus_per_node=8)
    recipe.trainer.strategy.tensor_model_parallel_size = 2
    return recipe


def seventy():
    return llama3_70b.pretrain_recipe(name="seventy", num_nodes=4, num_gpus_per_node=8)


if __name__ == "__main__":
    run.cli.main(llm.pretrain, default_factory=seventy)
