"""A recipe whose parts this file makes: data of a class of its own, and a precision that
it chooses by a file that is not there."""
import json

import nemo_run as run
from nemo.collections import llm
from nemo.collections.llm.recipes.precision.mixed_precision import bf16_mixed, bf16_with_fp8_mixed

from ours.data import OurDataModule


def chosen():
    with open("not_there.json") as f:
        return json.load(f)["precision"]


def recipe():
    r = llm.llama3_8b.pretrain_recipe(name="ours", num_nodes=1, num_gpus_per_node=8)
    r.data = OurDataModule(seq_length=4096, micro_batch_size=2, global_batch_size=64)
    r.trainer.plugins = bf16_with_fp8_mixed() if chosen() == "fp8" else bf16_mixed()
    r.trainer.strategy.tensor_model_parallel_size = 2
    return r


if __name__ == "__main__":
    run.run(recipe(), executor=run.LocalExecutor(ntasks_per_node=8))
