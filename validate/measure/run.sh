#!/bin/sh
# The whole run on a machine with a GPU: builds the measuring program, measures the GPUs,
# runs training steps (its own, and PyTorch's where that is installed), calibrates where
# smsim is built, and lists the files to commit.
#   sh validate/measure/run.sh [NAME]     NAME of the files, by default that of the GPU
#   BUDGET=600 seconds for the kernels;  BUILD=build
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build}
dir=validate/measurements
program=$build/smsim-measure
sh validate/measure/build.sh "$program" || exit 3
mkdir -p "$dir"
files=""

# keep FILE: to be committed, when it is there
keep() {
    if [ -s "$1" ]; then
        files="$files $1"
    fi
}

name=${1:-}
if [ -z "$name" ]; then
    "$program" --out "$dir/gpu.json" --budget 10 --sections launch || exit 3
    name=$(sed -n 's/.*"kind": "device".*"name": "\([^"]*\)".*/\1/p' "$dir/gpu.json" |
        head -n 1 | sed 's/NVIDIA //' | tr 'A-Z ' 'a-z-')
    rm -f "$dir/gpu.json"
fi
name=$name-$(date +%Y-%m-%d)

"$program" --out "$dir/$name.json" --budget "${BUDGET:-600}" || exit 3
keep "$dir/$name.json"

# step MODEL FILE BATCH SEQUENCE
step() {
    out=$dir/$name-step-$1-b$3-s$4.json
    "$program" --out "$out" --sections step --model "$2" --batch "$3" --sequence "$4" \
        --budget 120
    keep "$out"
}
stack=$(mktemp)
trap 'rm -f "$stack"' EXIT
sed 's/"num_hidden_layers": 32/"num_hidden_layers": 8/' models/llama-7b.json >"$stack"
for batch in 4 16 32; do
    step bert-large models/bert-large-uncased.json $batch 384
done
for batch in 2 8; do
    step gpt2-xl models/gpt2-xl.json $batch 1024
    step llama-7b-8-layers "$stack" $batch 2048
done

if python3 -c 'import torch' 2>/dev/null; then
    python3 validate/measure/pytorch_step.py --out "$dir/$name-pytorch.json"
    keep "$dir/$name-pytorch.json"
else
    echo "PyTorch is not installed here: its steps are not measured"
fi

if [ -x "$build/smsim" ]; then
    more=""
    [ -s "$dir/$name-pytorch.json" ] && more=$dir/$name-pytorch.json
    # shellcheck disable=SC2086
    "$build/smsim" calibrate "$dir/$name.json" $more --out "topologies/gpus/$name.json" &&
        keep "topologies/gpus/$name.json"
else
    echo "no $build/smsim: run  smsim calibrate $dir/$name.json --out" \
        "topologies/gpus/$name.json  where it is built"
fi

echo
echo "to commit:"
for file in $files; do
    echo "  git add $file"
done
