#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
PROJECT=/project/of/ours
run="srun --label singularity exec --nv --bind $PROJECT:$PROJECT $PROJECT/image.sif $PROJECT/scripts/start.sh"
$run
