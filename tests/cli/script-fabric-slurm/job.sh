#!/bin/bash
#SBATCH --nodes 1
#SBATCH --gres gpu:a100:4
python train.py
