# A copy of DeepSpeed-Chat's second step, whose text makes its model by a function of its own.
deepspeed step2_reward_model_finetuning/main.py --model_name_or_path facebook/opt-350m --num_padding_at_beginning 1 \
    --data_path own --data_split 2,4,4 --per_device_train_batch_size 8 --max_seq_len 512 --gradient_accumulation_steps 1 \
    --zero_stage 2 --num_train_epochs 1 --deepspeed --output_dir out
