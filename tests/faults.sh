#!/bin/bash
# What the program given as $1 does when a call fails: each open and rename, $2 of the
# mallocs (spread evenly), and writes after every block. It ends as it does without a
# fault and with the same output, or with an error that says why; an output is whole, or
# is not there.
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"
each=${2:-40}
failed=0
runs=0
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
"${CC:-cc}" -shared -fPIC -O1 -o "$dir/faults.so" tests/faults.c || exit 1

complain() {
    failed=$((failed + 1))
    echo "faults: $1"
    sed 's/^/    /' "$dir/err" | head -n 3
}

# run ARGUMENTS: OUT is the file of its output
run() {
    rm -f "$dir/out.json"
    # shellcheck disable=SC2046,SC2086
    "$@" >"$dir/stdout" 2>"$dir/err"
}

# judge STATUS WHAT: against the run without a fault
judge() {
    runs=$((runs + 1))
    case $1 in
    "$status")
        # without that table a result has no range, and says so
        grep -q 'job counts as measured' "$dir/stdout" "$dir/err" "$dir/out.json" 2>/dev/null && return
        # OpenMP's own word, with 1
        grep -q 'libgomp: Out of memory' "$dir/err" && return
        cmp -s "$dir/stdout" "$dir/plain.stdout" || complain "$2: other output, and no error"
        [ ! -e "$dir/plain.json" ] || cmp -s "$dir/out.json" "$dir/plain.json" || complain "$2: another file, and no error" ;;
    3 | 4 | 1)
        [ -s "$dir/err" ] || complain "$2: ends with $1, and says nothing"
        [ "$1" = 4 ] || [ ! -e "$dir/out.json" ] || grep -q '"urn:smsim:failure' "$dir/out.json" ||
            cmp -s "$dir/out.json" "$dir/plain.json" || complain "$2: part of a file is left" ;;
    *) complain "$2: ends with $1" ;;
    esac
    left=$(find "$dir" -name 'out.json?*')
    [ -z "$left" ] || { complain "$2: leaves $left" && rm -f "$left"; }
}

# one of a command: $of, the number of the call, arguments
fault() {
    of=$1
    at=$2
    shift 2
    run env LD_PRELOAD="$dir/faults.so" FAULT_OF="$of" FAULT_AT="$at" timeout 60 "$smsim" "$@"
    judge $? "$of $at of smsim $*"
}

while read -r arguments; do
    # shellcheck disable=SC2086 # words
    set -- $(echo "$arguments" | sed "s:OUT:$dir/out.json:g")
    run "$smsim" "$@"
    status=$?
    cp "$dir/stdout" "$dir/plain.stdout"
    rm -f "$dir/plain.json"
    [ ! -e "$dir/out.json" ] || cp "$dir/out.json" "$dir/plain.json"
    for of in malloc open rename; do
        run env LD_PRELOAD="$dir/faults.so" FAULT_OF=$of FAULT_COUNT="$dir/count" "$smsim" "$@"
        n=$(cat "$dir/count")
        most=$n
        [ "$of" = malloc ] && most=$each
        step=$(((n + most - 1) / (most > 0 ? most : 1)))
        for ((at = 1; n > 0 && at <= n; at += step)); do
            fault $of "$at" "$@"
        done
    done
    for blocks in 0 1 2 3 5 8; do # of 1024 bytes
        rm -f "$dir/out.json"
        (trap '' XFSZ && ulimit -f $blocks && timeout 60 "$smsim" "$@" >"$dir/stdout") 2>&1 | cat >"$dir/err"
        judge "${PIPESTATUS[0]}" "a disk of $blocks KiB under smsim $*"
    done
done <<ROWS
simulate bert-large-squad-2xp3.16xlarge --json OUT
simulate scenarios/launch/bert-large-squad-smddp.py --json OUT --set /training/sequence_length=384
plan --model bert-large-uncased --instance p3.8xlarge --count 1 --global-batch 16 --sequence-length 128 --json OUT
compare bert-large-squad-2xp3.16xlarge bert-large-squad-2xp4d.24xlarge --json OUT
collective --cluster p4d.24xlarge:2 --op all_reduce --bytes 1M --json OUT
check scenarios/gpt3-175b-64xp4d.24xlarge.json
schema simulate
doctor llama2-70b-smp2-16xp5.48xlarge --log tests/walk/logs/llama2-70b.log --log tests/walk/logs/nccl-socket.log --json OUT
calibrate tests/measure/all_reduce-a100.csv --instance p4d.24xlarge --out OUT
topology --import-nccl-xml tests/import/p4d.xml --out OUT
simulate bert-large-squad-2xp3.16xlarge --html OUT
simulate bert-large-squad-2xp3.16xlarge --trace OUT
simulate tests/strangers/8B_lora.yaml --set /cluster/instance=p5.48xlarge --set /cluster/count=1 --json OUT
simulate tests/strangers/clm_fsdp.sh --set /cluster/instance=p5.48xlarge --set /cluster/count=2 --json OUT
ROWS
echo "faults: $runs runs, $failed failed"
[ "$failed" = 0 ]
