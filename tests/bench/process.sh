#!/bin/sh
# What one call of the program given as $1 costs, from exec to exit, as
# `name: value unit` lines: the median time of 20 simulations of the demo's scenario, and
# the largest memory that one took (where GNU time is there); then CPU time of larger works.
set -u
smsim=$(realpath "${1:-build/smsim}")
cd "$(dirname "$0")/../.." || exit 1
scenario=scenarios/bert-large-squad-2xp3.16xlarge.json
runs=20

now_ns() {
    date +%s%N
}

i=0
while [ $i -lt $runs ]; do
    start=$(now_ns)
    "$smsim" simulate "$scenario" >/dev/null || exit 1
    end=$(now_ns)
    echo $((end - start))
    i=$((i + 1))
done | sort -n | awk '{ t[NR] = $1 }
    END { printf "simulate_process: %.2f ms\n", (t[int((NR + 1) / 2)] + t[int(NR / 2) + 1]) / 2e6 }'

if /usr/bin/time -f %M true 2>/dev/null; then
    rss=$(/usr/bin/time -f %M "$smsim" simulate "$scenario" 2>&1 >/dev/null | tail -n 1)
    awk -v kib="$rss" 'BEGIN { printf "simulate_peak_rss: %.1f MiB\n", kib / 1024 }'
fi

# CPU time of a whole process on one core, the mean of some runs: name, runs, and what
# the program is called with
cpu() {
    name=$1 times=$2
    shift 2
    # shellcheck disable=SC2016
    OMP_NUM_THREADS=1 /usr/bin/time -f '%U %S' sh -c \
        'n=$1; shift; while [ $n -gt 0 ]; do "$@" >/dev/null || exit 1; n=$((n - 1)); done' \
        sh "$times" "$smsim" "$@" 2>&1 | tail -n 1 |
        awk -v name="$name" -v n="$times" '{ printf "%s_cpu: %.1f ms\n", name, ($1 + $2) / n * 1e3 }' |
        tee -a "$dir/rows"
}

# a row made of two others: name, unit, what awk makes of a and b (ms), and their names
made() {
    awk -v name="$1" -v unit="$2" -v a_row="$4_cpu:" -v b_row="$5_cpu:" \
        '$1 == a_row { a = $2 } $1 == b_row { b = $2 }
        END { printf "%s: %.2f%s\n", name, '"$3"', unit }' "$dir/rows"
}

# elapsed time of one run of the same on as many threads as the second word says
elapsed() {
    name=$1 threads=$2
    shift 2
    OMP_NUM_THREADS=$threads /usr/bin/time -f '%e %M' "$smsim" "$@" 2>&1 >/dev/null | tail -n 1 |
        awk -v name="$name" -v n="$threads" \
            '{ printf "%s_%d_threads: %.2f s, %.0f MiB\n", name, n, $1, $2 / 1024 }'
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/gpt3.json" <<'END'
{ "model": "gpt3-175b", "cluster": { "instance": "p4de.24xlarge", "count": 64 },
  "training": { "sequence_length": 2048, "micro_batch_size": 1, "microbatches": 192,
                "precision": "fp16", "activation_checkpointing": "full", "vocab_padding": 1024 },
  "parallelism": { "tensor": 8, "pipeline": 8, "virtual_stages": 3, "schedule": "interleaved" } }
END
/usr/bin/time -f %U true 2>/dev/null || exit 0
# 65,536 GPUs, and 16 times the data parallelism: as long
llama() {
    cat <<END
{ "model": "llama-3.1-405b", "cluster": { "instance": "p5.48xlarge", "count": $1 },
  "training": { "sequence_length": 8192, "micro_batch_size": 1, "microbatches": 32,
                "precision": "bf16", "activation_checkpointing": "full" },
  "parallelism": { "tensor": 8, "pipeline": 16, "schedule": "1f1b",
                   "sharding": { "strategy": "optimizer" } } }
END
}
llama 8192 >"$dir/llama-65536.json"
llama 131072 >"$dir/llama-1048576.json"
cpu version 20 --version
cpu bert_large_16_gpus 50 simulate "$scenario"
cpu llama_405b_65536_gpus 5 simulate "$dir/llama-65536.json"
cpu llama_405b_1048576_gpus 5 simulate "$dir/llama-1048576.json"
cpu gpt3_175b_512_gpus 20 simulate "$dir/gpt3.json"
cpu gpt3_175b_512_gpus_gpipe_768 5 simulate "$dir/gpt3.json" --set /training/microbatches=768 \
    --set /parallelism/virtual_stages=1 --set /parallelism/schedule=gpipe
cpu gpt3_175b_512_gpus_20_draws 2 simulate "$dir/gpt3.json" \
    --set '/uncertainty={"compute_jitter":{"cv":0.03},"samples":20}'
made llama_405b_1048576_over_65536_gpus "" "b / a" llama_405b_65536_gpus llama_405b_1048576_gpus
made gpt3_175b_512_gpus_draws " draws/s" "20e3 / (b - a)" gpt3_175b_512_gpus gpt3_175b_512_gpus_20_draws
cpu gpt3_175b_16384_gpus_unfolded 1 simulate "$dir/gpt3.json" --unfold \
    --set /cluster/count=2048 --set /training/microbatches=16 \
    --set /parallelism/virtual_stages=1 --set /parallelism/schedule=1f1b
for threads in 1 2; do # four rounds of 192 microbatches, which are steady by then
    elapsed gpt3_175b_16384_gpus_unfolded_interleaved "$threads" simulate "$dir/gpt3.json" --unfold \
        --set /cluster/count=2048
done
for count in 64 512 1..64; do
    cpu "plan_gpt3_175b_${count}_p4d" 1 plan --model gpt3-175b --instance p4d.24xlarge \
        --count "$count" --global-batch 1536 --sequence-length 2048
done
cpu calibrate_9106_products 1 calibrate validate/data/aiconfigurator_gemm_bf16_a100.csv --out "$dir/a100.json"
cpu validate 1 validate --brief
