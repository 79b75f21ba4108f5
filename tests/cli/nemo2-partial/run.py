import argparse
import nemo_run as run
from functools import partial
from nemo.collections import llm


def get_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--max_steps", type=int, default=200)
    return parser


def small() -> llm.GPTConfig:
    return run.Config(
        llm.Llama3Config8B,
        num_layers=12,
        hidden_size=768,
        ffn_hidden_size=2688,
        num_attention_heads=16,
        num_query_groups=8,
    )


if __name__ == "__main__":
    args = get_parser().parse_args()
    make = partial(llm.llama31_8b.pretrain_recipe, num_nodes=args.nodes)
    recipe = make(name="small", dir="/results")
    recipe.trainer.strategy.context_parallel_size = 1
    recipe.model = run.Config(llm.LlamaModel, small())
    recipe.broadcast(max_steps=args.max_steps, seq_length=2048)
    with run.Experiment("small") as exp:
        exp.add(recipe, name="training")
        exp.run(detach=True)
