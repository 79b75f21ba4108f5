set -x

read -r -d '' training_commands <<EOF
openrlhf.cli.train_sft \
   --pretrain mistralai/Mixtral-8x7B-v0.1 \
   --dataset my/answers \
   --input_key question \
   --max_len 4096 \
   --train_batch_size 128 \
   --micro_train_batch_size 4 \
   --zero_stage 3 \
   --zpg 8 \
   --bf16 \
   --load_in_4bit \
   --lora_rank 64 \
   --max_norm 0 \
   --aux_loss_coef 0.001 \
   --gradient_checkpointing
EOF

if [[ ${1} != "slurm" ]]; then
    deepspeed --module $training_commands
fi
