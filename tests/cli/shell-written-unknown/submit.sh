NODES=1
BATCH=1
while [[ $# -gt 0 ]]; do
    case $1 in
        --nodes) NODES=$2; shift 2;;
        --batch) BATCH=$2; shift 2;;
        --length) LENGTH=$2; shift 2;;
    esac
done
DIR=$HOME/jobs/$(date +%s)$NAME
mkdir -p $DIR
cat > $DIR/job.sbatch <<EOF
#!/bin/bash
#SBATCH --nodes=$NODES
#SBATCH --ntasks-per-node=8
srun bash -c "cd \$SLURM_SUBMIT_DIR
python3 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \\
    --seq-length ${LENGTH:-2048} --max-position-embeddings 4096 --vocab-size 50257 \\
    --micro-batch-size $BATCH --global-batch-size 128 --tensor-model-parallel-size $TP --bf16"
EOF
sbatch $DIR/job.sbatch
