# The checkpoint that is loaded says by its name which model it is.
NPROC_PER_NODE=8 megatron sft --load /models/Qwen3-30B-A3B-mcore --dataset own.jsonl \
    --tensor_model_parallel_size 2 --expert_model_parallel_size 4 --micro_batch_size 1 \
    --global_batch_size 16 --max_length 2048 --packing true --sequence_parallel true
