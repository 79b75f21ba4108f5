#!/bin/sh
# The whole run on a machine with GPUs and nvcc: builds the measuring program, measures the
# GPUs, runs training steps (its own, and PyTorch's where that is installed), and says what
# to commit. It needs no network and none of smsim's libraries: where smsim is not built,
# calibration and comparison are for the machine that has it, and it says how.
#
#   sh validate/measure/run.sh [PART]...   kernels steps pytorch; without a name, all three
#   BUDGET=540   seconds for all of it: every part gets its share and stops in time
#   OUT=DIR      where files go (validate/measurements)
#   NAME=h200    what they are called (the GPU's name and the date)
#   BUILD=build  where the program is built
#
# Each file is whole whenever the run is cut off, and parts may be run one by one.
set -u
cd "$(dirname "$0")/../.." || exit 2
begun=$(date +%s)
budget=${BUDGET:-540}
build=${BUILD:-build}
dir=${OUT:-validate/measurements}
program=$build/smsim-measure
parts=${*:-kernels steps pytorch}
for part in $parts; do
    case $part in
    kernels | steps | pytorch) ;;
    *)
        echo "run.sh: $part: is no part (kernels, steps, pytorch)" >&2
        exit 2 ;;
    esac
done
asked() {
    case " $parts " in *" $1 "*) true ;; *) false ;; esac
}
# left: seconds of the budget
left() {
    echo $((budget - ($(date +%s) - begun)))
}

mkdir -p "$dir" || exit 3
log=$dir/run.log
: >"$log"

# say TEXT...: to the reader, and kept next to the files
say() {
    echo "$@" | tee -a "$log"
}
if ! CUDA_ARCHS=${CUDA_ARCHS:-native} sh validate/measure/build.sh "$program"; then
    if [ -x "$program" ]; then
        say "$program is taken as it is"
    else
        asked pytorch || exit 3
        parts=pytorch
    fi
fi
say "run of $(date -u +%Y-%m-%dT%H:%M:%SZ), $budget s: $parts"
if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,memory.used,power.limit,clocks.max.sm,clocks.sm,temperature.gpu \
        --format=csv >>"$log" 2>&1
fi

# The first GPU's name as a file's: "NVIDIA H100 80GB HBM3" is h100-80gb-hbm3.
gpu_name() {
    if ! title=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null); then
        "$program" --out "$dir/.probe.json" --budget 5 --sections memory >>"$log" 2>&1 ||
            return 1
        title=$(sed -n 's/.*"kind": "device".*"name": "\([^"]*\)".*/\1/p' "$dir/.probe.json")
        rm -f "$dir/.probe.json"
    fi
    echo "$title" | head -n 1 | sed 's/NVIDIA //; s/Tesla //' | tr 'A-Z ' 'a-z-' |
        tr -cd 'a-z0-9-'
}
name=${NAME:-}
if [ -z "$name" ]; then
    name=$(gpu_name)
    if [ -z "$name" ]; then
        rm -f "$dir/.probe.json"
        tail -n 3 "$log" >&2
        exit 3
    fi
    name=$name-$(date +%Y-%m-%d)
fi

# --- kernels and steps of the measuring program -------------------------------------------------
# of the time: most, two thirds where PyTorch comes after, and a little to end in
own=$(($(left) - 20))
has_torch=no
if asked pytorch; then
    if python3 -c 'import torch' 2>>"$log"; then
        has_torch=yes
        own=$((own * 2 / 3))
    else
        say "PyTorch is not installed here: its steps are not measured"
    fi
fi
temp=$(mktemp -d) || exit 3
trap 'rm -rf "$temp"' EXIT
stack=$temp/llama-7b-8-layers.json
sed 's/"num_hidden_layers": 32/"num_hidden_layers": 8/' models/llama-7b.json >"$stack"

# The middle batches first: a small budget has seen those.
all_steps() {
    for batches in "16 2 2" "4 8 8" "32 1 1"; do
        # shellcheck disable=SC2086
        set -- $batches
        echo "--model models/bert-large-uncased.json --batch $1 --sequence 384"
        echo "--model models/gpt2-xl.json --batch $2 --sequence 1024"
        echo "--model $stack --batch $3 --sequence 2048"
    done
}
# measure SECTIONS FILE [OPTION]...
measure() {
    sections=$1
    out=$2
    shift 2
    say "$sections: $own s"
    "$program" --out "$out" --budget "$own" --sections "$sections" "$@" ||
        say "smsim-measure ended with $?"
}
kernels=memory,launch,stream,kernels,gemm,attention,copy,peer,collective,clock
# shellcheck disable=SC2046
if asked kernels && asked steps; then
    measure $kernels,step "$dir/$name.json" $(all_steps)
elif asked kernels; then
    measure $kernels "$dir/$name.json"
elif asked steps; then
    measure launch,step "$dir/$name-steps.json" $(all_steps)
fi

# --- PyTorch's steps -----------------------------------------------------------------------------
if [ $has_torch = yes ] && [ "$(left)" -lt 30 ]; then
    say "pytorch: no time is left (run.sh pytorch goes on)"
elif [ $has_torch = yes ]; then
    # it ends by itself, but for what its compilers leave after
    timeout -k 5 "$(left)" python3 validate/measure/pytorch_step.py \
        --out "$dir/$name-pytorch.json" --budget $(($(left) - 15)) ||
        say "pytorch_step.py ended with $?"
fi

# --- what comes of it ------------------------------------------------------------------------------
files=
for file in "$dir/$name.json" "$dir/$name-steps.json" "$dir/$name-pytorch.json"; do
    [ -s "$file" ] && files="$files $file"
done
if [ -z "$files" ]; then
    say "nothing was measured"
    exit 3
fi
profile=topologies/gpus/$name.json
say
if [ -x "$build/smsim" ] && [ -s "$dir/$name.json" ] &&
    "$build/smsim" calibrate "$dir/$name.json" --out "$profile"; then
    # shellcheck disable=SC2086
    "$build/smsim" validate --measured $files | tee -a "$log"
    files="$files $profile"
else
    say "where smsim is built:"
    [ -s "$dir/$name.json" ] && say "  smsim calibrate $dir/$name.json --out $profile"
    say "  smsim validate --measured$files"
fi
say
say "to commit${OUT:+ (from $OUT, below validate/measurements)}:"
for file in $files; do
    say "  $file"
done
