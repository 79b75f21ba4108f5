deepspeed --num_nodes 2 --num_gpus 8 run_clm.py --deepspeed zero2.json \
    --model_name_or_path EleutherAI/gpt-neo-1.3B --per_device_train_batch_size 4 \
    --gradient_accumulation_steps 2 --block_size 2048 --bf16 True --do_train
