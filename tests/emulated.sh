#!/bin/sh
# The measuring program on the CPU (tests/cuda), from the folder given as $1: gradients of its
# training steps against differences of the loss, and a whole run on two GPUs, which the
# program given as $2 reads.
set -u
built=$(realpath "${1:-build/emulated}")
smsim=$(realpath "${2:-build/smsim}")
cd "$(dirname "$0")/.." || exit 1
SMSIM_DATA=$PWD
EMULATED_NAME="NVIDIA H100 80GB HBM3"
export SMSIM_DATA EMULATED_NAME
models="tests/cuda/bert.json tests/cuda/gpt2.json tests/cuda/llama.json"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0

# expect NAME STATUS WANTED: standard output is not of interest, standard error is told
expect() {
    if [ "$2" -eq 0 ] && { [ $# -lt 3 ] || grep -q "$3" "$dir/stdout"; }; then
        passed=$((passed + 1))
        return
    fi
    echo "FAILED $1: status $2${3:+, \"$3\" expected}"
    tail -n 5 "$dir/stdout" "$dir/stderr"
    failed=$((failed + 1))
}
for order in forwards backwards; do
    # shellcheck disable=SC2086
    EMULATED_ORDER=$order "$built/check-step" $models >"$dir/stdout" 2>"$dir/stderr"
    expect "gradients, threads $order" $?
done

EMULATED_GPUS=2 "$built/smsim-measure" --out "$dir/run.json" --budget 4 --steps 3 \
    --sections launch,step --model tests/cuda/bert.json --batch 2 --sequence 16 \
    --model tests/cuda/llama.json --batch 2 --sequence 16 >"$dir/stdout" 2>"$dir/stderr"
expect "a run on two GPUs" $?
"$smsim" validate --measured "$dir/run.json" >"$dir/stdout" 2>"$dir/stderr"
expect "its steps are compared" $? "step times:     4 compared"
grep -c '"error"' "$dir/run.json" >"$dir/stdout"
expect "no row fails" 0 '^0$'

EMULATED_MEMORY=77000000 "$built/smsim-measure" --out "$dir/small.json" --budget 5 \
    --sections step --model tests/cuda/bert.json --batch 2 --sequence 32 \
    >"$dir/stdout" 2>"$dir/stderr"
expect "a step larger than the memory" $?
grep '"kind": "step"' "$dir/small.json" >"$dir/stdout"
expect "its row says so" 0 'out of memory"}'

echo "emulated GPUs: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
