# The projector alone is trained, before a language model that is frozen.
deepspeed llava/train.py --model_name_or_path meta-llama/Llama-2-7b-hf --bf16 True \
    --vision_tower openai/clip-vit-large-patch14-336 --tune_mm_mlp_adapter True \
    --per_device_train_batch_size 16 --model_max_length 2048 --gradient_checkpointing True
