#!/bin/sh
# Replaces the programs that start training. It writes down what it was asked to start,
# and starts nothing. What only starts a starter (srun bash -c "torchrun ...") is followed.
# SMSIM_CAPTURE is the folder of the recorders, SMSIM_PATH the search path without it,
# SMSIM_OUTER the words of the starters around, SMSIM_GPUS the GPUs of a node.
name=${0##*/}

# The words as a shell reads them; configurations and programs by their whole path.
quote() {
    before=
    for w; do
        case $before in
        -hostfile | --hostfile | --host-file | -machinefile) [ ! -f "$w" ] || w=$PWD/${w#"$PWD"/} ;;
        esac
        before=$w
        case $w in
        /*) ;;
        --hostfile=*) [ ! -f "${w#*=}" ] || w=${w%%=*}=$PWD/${w#*=} ;;
        *=*.json | *=*.yaml | *=*.yml | *=*.toml)
            [ ! -f "${w#*=}" ] || w=${w%%=*}=$PWD/${w#*=}
            ;;
        *.json | *.yaml | *.yml | *.toml | *.py) [ ! -f "$w" ] || w=$PWD/${w#./} ;;
        esac
        case $w in
        '' | *[!A-Za-z0-9_./:=,@%+-]*)
            printf " '%s'" "$(printf %s "$w" | sed "s/'/'\\\\''/g")"
            ;;
        *) printf ' %s' "$w" ;;
        esac
    done
}

# What of the environment a step depends on: what no longer holds is taken back.
environment() {
    kept='NCCL_\|FI_\|OFI_NCCL_\|SM_\|SMP_\|NVTE_\|HOROVOD_\|NANOTRON_\|CUDA_DEVICE_MAX_CONNECTIONS='
    kept="$kept\|CUDA_VISIBLE_DEVICES=\|PYTORCH_ALLOC_CONF=\|PYTORCH_CUDA_ALLOC_CONF=\|TORCH_DISTRIBUTED_DEBUG="
    names=$(env | sed -n "/^\($kept\)/s/=.*//p")
    exported=$SMSIM_CAPTURE/exported
    [ ! -f "$exported" ] || while read -r v; do
        echo "$names" | grep -qx "$v" || echo "unset $v"
    done <"$exported"
    [ -z "$names" ] || echo "$names" >"$exported"
    for v in $names; do
        eval "printf 'export %s=%s\n' \"\$v\" \"\$(quote \"\$$v\")\"" | sed 's/= /=/'
    done
}

record() {
    {
        environment
        printf '%s%s\n' "$SMSIM_OUTER" "$(quote "$@")" | sed 's/^ *//'
    } >>"$SMSIM_CAPTURE/commands.sh"
    exit 0
}

# Runs what a starter would start, once, as its rank 0; the words before it are kept.
follow() {
    n=$1 # words of the starter, its own name too
    shift
    words=
    while [ "$n" -gt 0 ]; do
        words="$words$(quote "$1")"
        shift
        n=$((n - 1))
    done
    SMSIM_OUTER="$SMSIM_OUTER$words"
    RANK=0 LOCAL_RANK=0 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0
    export SMSIM_OUTER RANK LOCAL_RANK SLURM_PROCID SLURM_LOCALID SLURM_NODEID
    exec "$@"
}

# The words of a starter's own options, of which some take values.
skip() {
    skipped=1
    while [ $# -gt 0 ]; do
        case $1 in
        --mca | -mca | -genv | -env) take=3 ;;
        --*=*) take=1 ;;
        -N | -n | -p | -J | -A | -t | -c | -w | -o | -e | -G | -q | -D | -C | -np | --np | \
            -npernode | --npernode | -ppn | -H | --host | -hosts | -host | --hostfile | \
            -hostfile | -machinefile | -x | --map-by | -map-by | --bind-to | -bind-to | \
            --prefix | --nodes | --ntasks | --ntasks-per-node | --partition | --job-name | \
            --account | --time | --cpus-per-task | --nodelist | --exclude | --output | \
            --error | --gpus | --gpus-per-node | --gpus-per-task | --gres | --qos | \
            --chdir | --constraint | --mem | --wrap | --container-image | --container-mounts | \
            --container-workdir | --container-name | --jobid | --mpi | --cpu-bind | \
            --export | --distribution | --timeout) take=2 ;;
        -*) take=1 ;;
        *) return ;;
        esac
        [ "$take" -le $# ] || take=$#
        shift "$take"
        skipped=$((skipped + take))
    done
}

# The words of a starter whose options are not listed here: all before a program.
skip_to_program() {
    skipped=1
    for w; do
        case ${w##*/} in
        -*) ;;
        python* | bash | sh | env | numactl | singularity | apptainer | torchrun | deepspeed | \
            accelerate) return ;;
        *.sh) [ ! -x "$w" ] || return 0 ;;
        esac
        skipped=$((skipped + 1))
    done
}

# Whether what follows so many words is a program.
runs() {
    shift "$1"
    [ $# -le 1 ] || command -v "$2" >/dev/null
}

# The lines #SBATCH of a job, of which the last goes, and what SLURM sets for it.
directives() {
    job=$SMSIM_CAPTURE/job
    sed -n 's/^#SBATCH/&/p' "$1" >>"$job"
    cat "$SMSIM_CAPTURE/submitted" >>"$job" 2>/dev/null
    SLURM_NNODES=$(sed -n 's/^#SBATCH.*\(--nodes[= ]*\|-N *\)\([0-9][0-9]*\).*/\2/p' "$job" | tail -n 1)
    SLURM_NTASKS_PER_NODE=$(sed -n 's/^#SBATCH.*--ntasks-per-node[= ]*\([0-9][0-9]*\).*/\1/p' "$job" | tail -n 1)
    SLURM_GPUS_PER_NODE=$(sed -n 's/^#SBATCH.*--\(gpus-per-node\|gres\)[= ]*[a-z0-9:_-]*:*\([0-9][0-9]*\).*/\2/p' "$job" | tail -n 1)
    : "${SLURM_NNODES:=1}" "${SLURM_NTASKS_PER_NODE:=1}"
    : "${SLURM_GPUS_PER_NODE:=$SMSIM_GPUS}"
    SLURM_JOB_NUM_NODES=$SLURM_NNODES
    SLURM_NTASKS=$((SLURM_NNODES * SLURM_NTASKS_PER_NODE))
    SLURM_GPUS_ON_NODE=$SLURM_GPUS_PER_NODE
    SLURM_JOB_ID=1 SLURM_JOBID=1 SLURM_SUBMIT_DIR=$PWD
    SLURM_JOB_NODELIST="node-[1-$SLURM_NNODES]"
    SLURM_NODELIST=$SLURM_JOB_NODELIST
    export SLURM_NNODES SLURM_NTASKS_PER_NODE SLURM_GPUS_PER_NODE SLURM_JOB_NUM_NODES \
        SLURM_NTASKS SLURM_GPUS_ON_NODE SLURM_JOB_ID SLURM_JOBID SLURM_SUBMIT_DIR \
        SLURM_JOB_NODELIST SLURM_NODELIST
}

# The first words of sbatch as lines #SBATCH, one for each option. What --wrap names is the
# job.
submitted() {
    line='' option=''
    for w; do
        case $w in
        --wrap=*) echo "${w#*=}" >"$wrapped" && option='' ;;
        -*)
            [ -z "$line" ] || echo "$line"
            option=$w line="#SBATCH $w"
            [ "$w" != --wrap ] || line=''
            ;;
        *) if [ "$option" = --wrap ]; then echo "$w" >"$wrapped"; else line="$line $w"; fi ;;
        esac
    done
    [ -z "$line" ] || echo "$line"
}

# Runs a job, which may come from standard input, too. What was typed to submit it goes
# above the lines of its file.
submit() {
    n=$1 options=''
    shift
    wrapped=$SMSIM_CAPTURE/wrapped
    rm -f "$wrapped"
    while [ "$n" -gt 0 ]; do
        options="$options$(quote "$1")"
        shift
        n=$((n - 1))
    done
    eval "submitted $options" >"$SMSIM_CAPTURE/submitted"
    [ ! -f "$wrapped" ] || set -- "$wrapped"
    [ $# -gt 0 ] || { cat >"$wrapped" && set -- "$wrapped"; }
    [ -f "$1" ] || exit 0
    directives "$1"
    exec bash "$@"
}

# Runs a job of a scheduler whose lines are not read: the file among the words, or what
# comes from standard input.
submit_file() {
    n=$#
    while [ $# -gt 0 ]; do
        [ ! -f "$1" ] || exec bash "$@"
        shift
    done
    [ $n -gt 0 ] && [ -t 0 ] && not_run
    cat >"$SMSIM_CAPTURE/wrapped"
    [ -s "$SMSIM_CAPTURE/wrapped" ] || not_run
    exec bash "$SMSIM_CAPTURE/wrapped"
}

# The program itself; it is not asked again whether it trains (sitecustomize.py).
real() {
    program=${SMSIM_PYTHON:-$(PATH=$SMSIM_PATH command -v "$name")} || {
        echo "smsim capture: $name is not installed here" >&2
        exit 127
    }
    SMSIM_REAL=1
    export SMSIM_REAL
    unset SMSIM_PYTHON
    exec "$program" "$@"
}

not_run() {
    echo "smsim capture: not run: $name $*" >&2
    exit 0
}

# What runs a command elsewhere: in an environment, or in a container after its image.
within() {
    image=$1
    case $2 in
    run | exec) ;;
    *) shift && not_run "$@" ;;
    esac
    shift 2
    while [ $# -gt 0 ]; do
        case $1 in
        -n | -p | --name | --prefix | --cwd | --with | --python | --extra | --group | --project | \
            --directory | --env-file | -B | --bind | --pwd | --env | -H | --home | --overlay) shift ;;
        -*) ;;
        *) break ;;
        esac
        shift
    done
    case $1 in # the image, unless a variable that is not set should have named it
    '' | bash | sh | python*) ;;
    *) [ "$image" = 0 ] || shift ;;
    esac
    [ $# -gt 0 ] || not_run run
    exec "$@"
}

# Whether a script of Python trains, as far as its name and arguments say.
trains() {
    [ -z "$SMSIM_OUTER" ] || return 0
    case ${1##*/} in
    *train* | *finetune* | *run_* | *sft* | *dpo* | *lora* | main.py)
        grep -q sagemaker "$1" 2>/dev/null && return 1
        return 0
        ;;
    esac
    return 1
}

case $name in
srun | mpirun | mpiexec | mpiexec.hydra)
    skip "$@"
    runs $((skipped - 1)) "$@" || skip_to_program "$@" # an option that is not listed here
    [ $skipped -le $# ] || record "$name" "$@"
    follow $skipped "$name" "$@"
    ;;
orterun | aprun | jsrun | yhrun | ibrun | flux)
    skip_to_program "$@"
    [ $skipped -le $# ] || record "$name" "$@"
    follow $skipped "$name" "$@"
    ;;
qsub | bsub | pjsub) submit_file "$@" ;;
sbatch)
    skip "$@"
    submit $((skipped - 1)) "$@"
    ;;
conda | mamba | micromamba | uv | poetry | pipenv | pdm) within 0 "$@" ;;
singularity | apptainer) within 1 "$@" ;;
directives) directives "$1" && shift && exec "$@" ;;
python*)
    case $1 in
    -m)
        case $2 in
        torch.distributed.* | accelerate* | deepspeed* | horovod* | axolotl* | llamafactory* | \
            trl* | torchtitan* | torchtune* | colossalai*) record "$name" "$@" ;;
        esac
        [ -z "$SMSIM_OUTER" ] || record "$name" "$@"
        ;;
    -c) [ -z "$SMSIM_OUTER" ] || record "$name" "$@" ;;
    *)
        for w; do
            case $w in
            -*) ;;
            *.py)
                ! trains "$w" || record "$name" "$@"
                break
                ;;
            *) break ;;
            esac
        done
        ;;
    esac
    real "$@"
    ;;
scontrol)
    i=1
    while [ "$1 $2" = "show hostnames" ] && [ $i -le "${SLURM_NNODES:-1}" ]; do
        echo "node-$i"
        i=$((i + 1))
    done
    ;;
nvidia-smi)
    i=0
    while [ $i -lt "$SMSIM_GPUS" ]; do
        echo "GPU $i: unknown"
        i=$((i + 1))
    done
    ;;
pip* | module | apt-get | docker | kubectl | wget | curl | ssh | pdsh | clush | scp | rsync) not_run "$@" ;;
*) record "$name" "$@" ;;
esac
