#!/bin/bash
ROOT=${ROOT:-"$(pwd)"}
WEIGHTS="${WEIGHTS}"
python3 ${ROOT}/main.py \
    recipes=tuning/own \
    recipes.training_config.model_config.model_name_or_path=$WEIGHTS \
    recipes.training_config.training_args.micro_train_batch_size=4 \
    git.use_default=false
