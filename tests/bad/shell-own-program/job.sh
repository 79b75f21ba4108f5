#!/bin/bash
base=$(dirname $0)
python3 prepare_corpus.py --out data
deepspeed --num_nodes 4 --num_gpus 8 ${base}/our_pretraining.py \
    --cf ${base}/model.json --max_seq_length 512 --job_name large \
    --deepspeed --deepspeed_config ${base}/ds_512.json
