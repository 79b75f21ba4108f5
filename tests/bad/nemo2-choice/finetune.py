import nemo_run as run
from nemo.collections import llm
import argparse
from dataModule import MyFinetuningDataModule


def get_args():
    parser = argparse.ArgumentParser(description="Code to finetune models")
    parser.add_argument("--model-id", type=str, required=True, choices=["llama32_1b", "qwen3_4b", "llama3_8b"])
    parser.add_argument("--micro-batch-size", type=int, default=1)
    parser.add_argument("--global-batch-size", type=int, default=8)
    parser.add_argument("--peft-scheme", default=None, choices=[None, 'lora'])
    parser.add_argument("--gpus-per-node", type=int, default=1)
    parser.add_argument("--tensor-parallel", type=int, default=1)
    parser.add_argument("--seq-length", type=int, default=2048)
    args = parser.parse_args()
    return args


def configure(args, nodes: int = 1, gpus_per_node: int = 2):
    model_id = args.model_id
    if(model_id == "llama32_1b" or model_id == "llama32_1b"):
        recipe = llm.llama32_1b.finetune_recipe(
            dir="x", num_nodes=nodes, num_gpus_per_node=gpus_per_node, peft_scheme=args.peft_scheme)
    elif model_id == "qwen3_4b":
        recipe = llm.qwen3_4b.finetune_recipe(
            dir="x", num_nodes=nodes, num_gpus_per_node=gpus_per_node, peft_scheme=args.peft_scheme)
    elif model_id == "llama3_8b" or model_id == "llama3_8b_instruct":
        recipe = llm.llama3_8b.finetune_recipe(
            dir="x", num_nodes=nodes, num_gpus_per_node=gpus_per_node, peft_scheme=args.peft_scheme)
    else:
        raise ValueError(f"Model {model_id} is not supported")
    recipe.trainer.strategy.context_parallel_size = 1
    recipe.trainer.strategy.tensor_model_parallel_size = args.tensor_parallel
    recipe.data = run.Config(
        MyFinetuningDataModule,
        seq_length=args.seq_length,
        micro_batch_size=args.micro_batch_size,
        global_batch_size=args.global_batch_size,
    )
    return recipe


def go(args):
    finetune = configure(args, nodes=1, gpus_per_node=args.gpus_per_node)
    with run.Experiment("x") as exp:
        exp.add(finetune, name="x")
        exp.run(sequential=True, tail_logs=True)


if __name__ == "__main__":
    args = get_args()
    go(args)
