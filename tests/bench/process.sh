#!/bin/sh
# What one call of the program given as $1 costs, from exec to exit, as
# `name: value unit` lines: the median time of 20 simulations of the demo's scenario, and
# the largest memory that one took (where GNU time is there).
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
