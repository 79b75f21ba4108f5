#!/bin/bash
# a driver that writes its job, submits it, and watches it in a session
lr=${1:-1e-5}
job=job-$lr.sbatch
cat >$job <<END
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
srun torchrun --nnodes=2 --nproc_per_node=8 run_clm.py \
    --model_name_or_path meta-llama/Llama-3.2-1B \
    --per_device_train_batch_size 4 --gradient_accumulation_steps 2 \
    --block_size 2048 --bf16 --learning_rate $lr
END
sbatch --partition=gpu $job
