cd torchtitan
NGPU=4 CONFIG_FILE="../torchtitan-command/llama3.toml" ./run_train.sh --parallelism.pipeline_parallel_degree=1 --parallelism.tensor_parallel_degree=4 --parallelism.data_parallel_replicate_degree=1 --parallelism.data_parallel_shard_degree=-1 --training.seq_len 4096
