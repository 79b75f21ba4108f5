#!/bin/sh
# What a sweep of 10,000 points of BERT-large costs with the program given as $1, as
# `name: value unit` lines: wall-clock time on all cores, and points per second.
set -eu
smsim=$(realpath "${1:-build/smsim}")
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cat >"$out/sweep.json" <<'END'
{ "base": "bert-large-squad-2xp3.16xlarge-ddp",
  "axes": [ { "path": "/cluster/instance", "values": ["p3.16xlarge", "p3dn.24xlarge", "p4d.24xlarge", "p5.48xlarge"] },
            { "path": "/cluster/count", "from": 1, "to": 50, "step": 1 },
            { "path": "/training/sequence_length", "values": [128, 192, 256, 384, 512] },
            { "path": "/training/micro_batch_size", "from": 1, "to": 10, "step": 1 } ] }
END
start=$(date +%s%N)
"$smsim" sweep "$out/sweep.json" --out "$out/points" >/dev/null 2>&1
end=$(date +%s%N)
n=$(wc -l <"$out/points/points.jsonl")
awk -v n="$n" -v ns="$((end - start))" 'BEGIN {
    printf "sweep_%d_points: %.2f s\nsweep_rate: %.0f points/s\n", n, ns / 1e9, n * 1e9 / ns }'
