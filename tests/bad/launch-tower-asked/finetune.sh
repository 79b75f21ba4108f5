# Images come through a tower of their own, which the name of the model does not have.
deepspeed llava/train.py --model_name_or_path meta-llama/Llama-2-7b-hf --bf16 True \
    --vision_tower openai/clip-vit-large-patch14-336 \
    --per_device_train_batch_size 16 --model_max_length 2048 --gradient_checkpointing True
