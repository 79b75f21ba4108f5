nemo llm pretrain --factory qwen3_30b_a3b trainer.num_nodes=2
