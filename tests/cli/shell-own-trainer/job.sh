# what argparse completes, a model known by its name, lengths that the model has
accelerate launch --num_processes 1 tests/cli/shell-own-trainer/train.py \
    --model_name_or_path mail/roberta-base-mail \
    --per_device_train_batch 16 --bf16 --output_dir out
