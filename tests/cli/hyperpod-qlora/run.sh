#!/bin/bash
LAUNCHER=${LAUNCHER:-"$(pwd)"}
HYDRA_FULL_ERROR=1 python3 "${LAUNCHER}/main.py" \
    recipes=qlora \
    instance_type=p5.48xlarge \
    base_results_dir="${LAUNCHER}/results" \
    recipes.run.name="adapters" \
    recipes.trainer.num_nodes=2 \
    recipes.model.train_batch_size=2 \
    recipes.model.hf_model_name_or_path="$HF_MODEL" \
    recipes.model.hf_access_token="$HF_TOKEN"
