#!/bin/bash
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
srun python train.py
