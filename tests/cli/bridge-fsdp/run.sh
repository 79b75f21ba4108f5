#!/bin/bash
python scripts/performance/setup_experiment.py --account team --partition batch \
    --gpu gb200 -m llama3 -s 70b -ng 64 -c fp8_cs --task pretrain
