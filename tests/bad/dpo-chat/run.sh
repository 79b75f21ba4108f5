deepspeed main.py --actor_model_name_or_path facebook/opt-1.3b --critic_model_name_or_path facebook/opt-350m \
    --per_device_train_batch_size 2 --max_answer_seq_len 256 --beta 0.1 --actor_zero_stage 3 --deepspeed
