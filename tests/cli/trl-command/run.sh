trl sft --model_name_or_path meta-llama/Llama-2-7b-hf \
    --dataset_name HuggingFaceH4/ultrachat_200k \
    --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 8 \
    --packing \
    --attn_implementation flash_attention_2 \
    --max_length 4096
