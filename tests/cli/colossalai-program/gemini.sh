colossalai run --nproc_per_node 8 finetune.py \
    --plugin gemini --model_type gpt2 --target_f1 0.6 \
    --tp_size 2 \
    --batch_size 16
