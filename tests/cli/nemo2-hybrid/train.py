import nemo_run as run
from nemo import lightning as nl
from nemo.collections import llm
from nemo.collections.llm.recipes.precision.mixed_precision import bf16_mixed

NAME = "own_hybrid"


def trainer(tensor=2, num_nodes=2):
    strategy = run.Config(
        nl.MegatronStrategy,
        tensor_model_parallel_size=tensor,
        sequence_parallel=True,
        ddp=run.Config(llm.DistributedDataParallelConfig, overlap_grad_reduce=True, grad_reduce_in_fp32=True),
    )
    return run.Config(nl.Trainer, devices=8, num_nodes=num_nodes, max_steps=10, strategy=strategy, plugins=[bf16_mixed()])


def pretrain_recipe():
    return run.Partial(
        llm.pretrain,
        model=run.Config(llm.MambaModel, config=run.Config(llm.NemotronHConfig8B, num_layers=4, hybrid_override_pattern="M-M*")),
        trainer=trainer(),
        data=run.Config(llm.MockDataModule, seq_length=8192, global_batch_size=64, micro_batch_size=1),
    )
