# The length that a recipe is called with is that of its packed sequences.
nemo llm finetune --factory "llama31_8b(num_nodes=2, seq_length=6144, packed_sequence=True)" data.global_batch_size=32
