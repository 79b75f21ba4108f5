torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2 --do_train --max_steps 10 --block_size 512 \
    --per_device_train_batch_size 4 --bf16 maybe --gradient_checkpointing flase --use_flash_attention_2 none
