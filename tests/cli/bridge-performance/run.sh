#!/bin/bash
python scripts/performance/setup_experiment.py --account team --partition batch \
    --gpu h100 -m llama3 -s 70b -ng 64 -c fp8_cs --task pretrain -gb 512 \
    --container_image nvcr.io/nvidia/nemo:dev
