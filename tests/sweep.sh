#!/bin/sh
# Sweeps of the program given as $1 that are killed, resumed, cut into shards and run by
# one or several threads come to the same bytes. With mpirun and a program built by
# `make MPI=1`, over 8 ranks too.
set -u
smsim=$(realpath "${1:-build/smsim}")
cd "$(dirname "$0")/.." || exit 1
SMSIM_DATA=$PWD
export SMSIM_DATA
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/sweep.json" <<'END'
{ "base": "bert-large-squad-2xp3.16xlarge-ddp",
  "axes": [ { "path": "/cluster/instance", "values": ["p3.16xlarge", "p4d.24xlarge"] },
            { "path": "/cluster/count", "from": 0, "to": 5, "step": 1 },
            { "path": "/training/micro_batch_size", "from": 1, "to": 64, "factor": 2 },
            { "path": "/training/sequence_length", "from": 32, "to": 512, "step": 32 } ],
  "where": [ "/cluster/count != 4", "step_time_s < 2" ],
  "plots": [ { "file": "a.svg", "kind": "line", "x": "gpus", "y": "samples_per_s",
               "series": "/cluster/instance" } ] }
END
failed=0

# sweep NAME ARGUMENT...
sweep() {
    name=$1
    shift
    "$smsim" sweep "$dir/sweep.json" --out "$dir/$name" "$@" >"$dir/$name.text" ||
        fail "$name ended with $?"
}

fail() {
    echo "sweep: $1"
    failed=1
}

same() {
    for file in points.csv points.jsonl a.svg; do
        cmp "$dir/whole/$file" "$dir/$1/$file" || fail "$1: $file differs"
    done
}

sweep whole --jobs 1
lines=$(wc -l <"$dir/whole/points.jsonl")
[ "$lines" -gt 500 ] || fail "only $lines points"
grep -q '"error":"scenario: /cluster/count' "$dir/whole/points.jsonl" ||
    fail "no point failed, though there is no cluster of 0"

# Killed at 20 random moments. Progress is what a run adds to the journal.
kills=0
for moment in $(awk 'BEGIN { srand(); for (i = 0; i < 20; i++) print 0.01 + 0.05 * rand() }'); do
    resume=--resume
    [ -f "$dir/killed/journal" ] || resume=
    # shellcheck disable=SC2086 # --resume or nothing
    timeout -s KILL "$moment" "$smsim" sweep "$dir/sweep.json" --out "$dir/killed" \
        $resume >/dev/null 2>&1
    [ $? = 137 ] && kills=$((kills + 1))
done
printf '{"point":11,"ax' >>"$dir/killed/journal" # as a kill within a write leaves it
sweep killed --resume
same killed
doubled=$(cut -d, -f1 "$dir/killed/journal" | sort | uniq -d | wc -l)
[ "$doubled" = 0 ] || fail "$doubled points were run twice"

sweep threads --jobs 3
same threads
for shard in 3 1 2; do
    sweep shards --shard $shard/3
done
sweep shards --resume
same shards

if command -v mpirun >/dev/null && ldd "$smsim" | grep -q libmpi; then
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        mpirun --oversubscribe -n 8 "$smsim" sweep "$dir/sweep.json" --out "$dir/ranks" \
        --jobs 1 >/dev/null || fail "mpirun failed"
    same ranks
fi

sed 's/512/480/' "$dir/sweep.json" >"$dir/other.json"
"$smsim" sweep "$dir/other.json" --out "$dir/whole" --resume >/dev/null 2>"$dir/error"
[ $? = 3 ] && grep -q 'is of another sweep' "$dir/error" ||
    fail "a changed sweep was not refused: $(cat "$dir/error")"

[ $failed = 0 ] && echo "sweep: $lines points, $kills kills: the same bytes"
exit $failed
