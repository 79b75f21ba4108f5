tune run lora_finetune_single_device --config llama3_1/8B_qlora_single_device dataset.packed=True tokenizer.max_seq_len=2048
