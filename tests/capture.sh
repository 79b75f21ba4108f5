#!/bin/sh
# smsim capture: what scripts would start, and that nothing of it is started. The program
# is given as $1.
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"
TMPDIR=$dir/tmp
export TMPDIR
mkdir "$dir/tmp" "$dir/bin"
cd "$dir" || exit 1
passed=0
failed=0

# A torchrun of the machine's own: it must not be started.
printf '#!/bin/sh\ntouch %s/started\n' "$dir" >bin/torchrun
cp bin/torchrun bin/deepspeed
chmod +x bin/*
PATH=$dir/bin:$PATH

# is NAME STATUS TEXT COMMAND...: ends so, prints a line that is, or holds, the text
is() {
    name=$1 status=$2 text=$3
    shift 3
    "$smsim" capture "$@" >out 2>err
    code=$?
    if [ $code = "$status" ] && cat out err | grep -qF -e "$text" && [ ! -e started ] &&
        [ -z "$(ls tmp)" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "capture: $name: ended with $code where $status should be, and \"$text\" be said:"
        cat out err | sed 's/^/    /'
    fi
}

script() { cat >"$1"; }

script nested.sh <<'S'
set -eu
mkdir -p configs
echo '{ "train_micro_batch_size_per_gpu": 2, "zero_optimization": { "stage": 2 } }' >configs/ds.json
export NCCL_PROTO=Simple
GPUS=$(nvidia-smi -L | wc -l)
declare_size() { echo $((8 * GPUS)); }
mpirun -np 32 -N $GPUS -x NCCL_PROTO --mca btl tcp,self bash -c \
    "torchrun --nnodes 4 --nproc_per_node $GPUS train.py --global-batch-size $(declare_size) --name 'a  b'"
S
is "mpirun of torchrun" 0 \
    "mpirun -np 32 -N 4 -x NCCL_PROTO --mca btl tcp,self torchrun --nnodes 4 --nproc_per_node 4 train.py --global-batch-size 32 --name 'a  b'" \
    --gpus 4 -- bash nested.sh
is "variables that NCCL reads" 0 "export NCCL_PROTO=Simple" -- bash nested.sh

echo 'import torch' >own_train.py
echo 'srun --odd 4 --nodes 2 wrap.sh python ./own_train.py --steps 3' >own.sh
is "programs by their whole path, of options that are not known" 0 \
    "srun --odd 4 --nodes 2 wrap.sh python $dir/own_train.py --steps 3" -- sh own.sh
echo 'singularity exec $IMAGE bash -c "torchrun own_train.py"' >image.sh
is "a container without an image" 0 "torchrun $dir/own_train.py" -- sh image.sh
echo 'cd $PBS_O_WORKDIR && torchrun own_train.py' >pbs.sh
is "the folder of a job" 0 "torchrun $dir/own_train.py" -- sh pbs.sh

script aprun.sh <<'S'
RANKS=$((4 * 3))
aprun -n $RANKS -N 4 --cc depth -d 16 python train.py --steps 3
S
is "aprun" 0 "aprun -n 12 -N 4 --cc depth -d 16 python train.py --steps 3" -- sh aprun.sh
echo 'ssh other touch started; qsub -l select=3 aprun.sh' >qsub.sh
is "qsub of a file" 0 "aprun -n 12 -N 4" -- sh qsub.sh
is "ssh" 0 "not run: ssh other touch started" -- sh qsub.sh
echo 'bsub -n 12 <aprun.sh' >bsub.sh
is "bsub of what it reads" 0 "aprun -n 12 -N 4" -- sh bsub.sh

echo 'deepspeed --num_gpus 8 run_clm.py --deepspeed configs/ds.json --do_train' >ds.sh
is "files by their whole path" 0 \
    "deepspeed --num_gpus 8 run_clm.py --deepspeed $dir/configs/ds.json --do_train" \
    -- sh ds.sh

script job.slurm <<'S'
#!/bin/bash
#SBATCH --nodes=6
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:a100:8
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun --mpi pmix -p batch torchrun --nnodes "$SLURM_NNODES" --nproc_per_node "$SLURM_GPUS_ON_NODE" \
    --rdzv_endpoint "$head:29500" pretrain_gpt.py --num-layers 2
S
wanted="srun --mpi pmix -p batch torchrun --nnodes 6 --nproc_per_node 8 --rdzv_endpoint node-1:29500 pretrain_gpt.py --num-layers 2"
is "a job run by hand" 0 "$wanted" -- bash job.slurm
is "a job that is submitted" 0 "$wanted" -- sbatch job.slurm
is "its directives" 0 "#SBATCH --gres=gpu:a100:8" -- sbatch --account x job.slurm

is "what was typed to submit it goes above them" 0 "torchrun --nnodes 2" -- sbatch --nodes=2 job.slurm

script here.sh <<'S'
N=3
sbatch -J name <<J
#!/bin/bash
#SBATCH --nodes=$N
srun torchrun --nnodes $N --nproc_per_node 8 train.py
J
S
is "a job of standard input" 0 "srun torchrun --nnodes 3 --nproc_per_node 8 train.py" -- bash here.sh
is "a job of words" 0 "#SBATCH -N 4" -- sbatch -N 4 --wrap 'srun torchrun --nnodes 4 train.py'

script devices.sh <<'S'
CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node gpu a.py
torchrun --nproc_per_node gpu b.py
S
is "the GPUs that a command sees" 0 "export CUDA_VISIBLE_DEVICES=0,1" -- bash devices.sh
is "and that the next one sees again" 0 "unset CUDA_VISIBLE_DEVICES" -- bash devices.sh

script within.sh <<'S'
conda run -n env --no-capture-output torchrun a.py
srun -N 2 apptainer exec --nv -B /data image.sif torchrun b.py
uv run --with x accelerate launch c.py
S
is "what runs in an environment" 0 "accelerate launch c.py" -- bash within.sh
is "what runs in a container" 0 "srun -N 2 torchrun b.py" -- bash within.sh
is "what came before an unknown command" 0 "sh ended with 127" \
    -- sh -c 'torchrun a.py; no_such_program'

if command -v python3 >/dev/null; then
printf 'import subprocess\nsubprocess.run(["torchrun", "--nproc_per_node", "2", "train.py"])\n' >start.py
is "torchrun of a script of Python" 0 "torchrun --nproc_per_node 2 train.py" -- python3 start.py
printf 'import subprocess, sys\nsubprocess.run([sys.executable, "-m", "torch.distributed.run", "train.py"])\n' >start.py
is "a Python of a script of Python" 0 "python3 -m torch.distributed.run train.py" -- python3 start.py
# shellcheck disable=SC2016 # the script's own shell expands it
is "GPUs that torch counts" 0 "torchrun --nproc_per_node 4 train.py" --gpus 4 \
    -- sh -c 'torchrun --nproc_per_node $(python3 -c "import torch; print(torch.cuda.device_count())") train.py'
printf 'open("started", "w")\n' >train.py
python=$(python3 -c 'import sys; print(sys.executable)')
if [ "$(python3 -c 'import sys; print(sys.version_info >= (3, 10))')" = True ]; then
    is "a Python by its path" 0 "python3 train.py --epochs 3" -- "$python" train.py --epochs 3
fi
is "a training script itself" 0 "python3 train.py --epochs 3" -- python3 train.py --epochs 3

script launch.py <<'S'
import boto3
import sagemaker
from sagemaker.huggingface import HuggingFace
from sagemaker.train import ModelTrainer
from sagemaker.train.configs import Compute

sizes = {f"p_{i}": i for i in range(2)}
bucket = sagemaker.Session().default_bucket()
first = HuggingFace(entry_point="train.py", instance_type="ml.p4d.24xlarge", instance_count=2,
                    role=sagemaker.get_execution_role(), hyperparameters={"epochs": 1, **sizes},
                    output_path=f"s3://{bucket}/out")
first.set_hyperparameters(lr=1e-4)
first.fit({"train": sagemaker.inputs.TrainingInput("s3://x")})
ModelTrainer(training_image="image", compute=Compute(instance_type="ml.p5.48xlarge", instance_count=4)).train()
boto3.client("s3").upload_file("a", "b", "c")
S
is "an estimator" 0 "hyperparameters={'epochs': 1, 'p_0': 0, 'p_1': 1, 'lr': 0.0001}" \
    -- python3 launch.py
is "a trainer of the third SDK" 0 \
    "ModelTrainer(training_image='image', compute=Compute(instance_type='ml.p5.48xlarge', instance_count=4))" \
    -- python3 launch.py
is "an estimator in a shell's file" 3 "give a name that ends in .py" --out x.sh -- python3 launch.py
else
    echo "capture: python3 is not here: its cases are left out"
fi

is "a script without training" 3 "started no training (it ended with 0" -- sh -c 'echo hello'
echo 'deepspeed train.py; exit 7' >late.sh
is "a script that fails later" 0 "sh ended with 7" -- sh late.sh
is "no command" 2 "no command" --gpus 8
is "no such program" 3 "cannot be run" -- ./nothing
is "a limit" 3 "did not end within 1 s" --limit 1 -- sleep 60
is "what is not run" 0 "not run: pip install x" -- sh -c 'pip install x; torchrun a.py'

# From the capture to a step: what was captured is read.
cat >gpt.sh <<'S'
S=(--num-layers 24 --hidden-size 2048 --num-attention-heads 16)
torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py "${S[@]}" --seq-length 2048 \
    --max-position-embeddings 2048 --micro-batch-size 2 --global-batch-size 64 --bf16 --vocab-size 50257
S
is "a capture in a file" 0 "" --out captured.sh -- bash gpt.sh
if "$smsim" simulate captured.sh --set /cluster/instance=p4d.24xlarge 2>&1 | grep -q "2 x p4d.24xlarge"; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "capture: captured.sh is not read"
fi
echo "capture: $passed passed, $failed failed"
[ $failed = 0 ]
