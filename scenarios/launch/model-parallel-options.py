# The options of a job whose estimator is elsewhere: what they do not say is asked for.
#   smsim simulate scenarios/launch/model-parallel-options.py --set /model=roberta-large \
#       --set /cluster/instance=ml.p3.16xlarge --set /cluster/count=2 \
#       --set /training/sequence_length=128 --set /training/micro_batch_size=4
stages = 2
smp_options = {
    "enabled": True,
    "parameters": {
        "microbatches": 4,
        "pipeline": "interleaved",
        "pipeline_parallel_degree": stages,
        "tensor_parallel_degree": 2,
        "placement_strategy": "cluster",  # spread is the other one
        "optimize": "speed",
        "ddp": True,
    },
}
mpi_options = {"enabled": True, "processes_per_host": 8}
