# A recipe whose batch and degrees a function of NeMo's performance scripts writes.
from nemo.collections import llm
from scripts.performance.helpers import set_primary_perf_configs


def recipe(nodes: int = 8):
    job = llm.llama31_70b.pretrain_recipe(performance_mode=True)
    job.trainer.max_steps = 7
    micro = 2
    job = set_primary_perf_configs(
        job,
        "pre_train",
        num_nodes=nodes,
        num_gpus_per_node=8,
        mbs=micro,
        gbs=128,
        max_steps=30,
        tp_size=4,
        pp_size=2,
        cp_size=2,
        vp_size=5,
        ep_size=1,
        compute_dtype="fp8",
        fp8_recipe="cs",
        recompute_layers=2,
    )
    job.model.config.seq_length = 4096
    job.data.seq_length = 4096
    job.data.global_batch_size = 64
    return job
