#!/bin/bash
# which model is an argument of the script
SIZE="${1:?usage: tune.sh SIZE}"
case "$SIZE" in
    1B) RECIPE=llama32_1b_sft_config ;;
    8B) RECIPE=llama3_8b_sft_config ;;
    70B) RECIPE=llama3_70b_sft_config ;;
    *) echo "no such size: $SIZE"; exit 1 ;;
esac
LENGTH=4096
OVERRIDES="model.seq_length=$LENGTH dataset.seq_length=$LENGTH \
    train.global_batch_size=64 train.micro_batch_size=1"
CMD="python scripts/training/run_recipe.py --recipe $RECIPE $OVERRIDES"
srun --nodes=2 --ntasks-per-node=8 bash -c "$CMD"
