#!/bin/sh
# The targets of tests/fuzz, which are in $1 (build/asan), each for $2 seconds from the
# seed $3. With $4 = libfuzzer they are clang's, and their corpora stay in $1/corpus. What
# breaks a target is left in $1/fuzz.last or $1/crash-*: put it into tests/ once it is
# mended. Ends with a line of how many inputs there were; with SMSIM_FUZZ_LOG, that line
# is added to the file of that name.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
seconds=$2
seed=${3:-1}
how=${4:-alone}
SMSIM_DATA=$PWD
OMP_NUM_THREADS=1
LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
FUZZ_LAST=$build/fuzz.last
export SMSIM_DATA OMP_NUM_THREADS LSAN_OPTIONS FUZZ_LAST
log=$build/fuzz.log
: >"$log"
failed=0

# seeds READER: files of that kind
seeds() {
    case $1 in
    scenario) echo scenarios/*.json ;;
    python) echo scenarios/launch/*.py ;;
    shell) find tests/cli tests/strangers scenarios/launch -name '*.sh' -o -name '*.slurm' -o -name '*.sbatch' ;;
    json) find tests/cli tests/strangers scenarios/launch -name '*.json' ! -path '*/bad/*' ;;
    yaml) find tests/cli tests/strangers -name '*.yaml' -o -name '*.yml' ;;
    toml) find tests/cli tests/strangers -name '*.toml' ;;
    notebook) find tests -name '*.ipynb' ;;
    model) echo models/*.json ;;
    gpu | instance | fabric) echo topologies/"$1"s/*.json ;;
    nccl) echo tests/import/*.xml ;;
    smi) echo tests/import/*.txt ;;
    sweep) echo scenarios/sweeps/*.json ;;
    mapping) echo validate/cases/*.json ;;
    table) echo tests/measure/*.csv ;;
    nccltests) echo tests/measure/*.log ;;
    measured) echo tests/measure/*.json ;;
    esac
}

# folders of goldens whose file is read as a job: FOLDER/./FILE
jobs() {
    sed -n 's:.*\(simulate\|check\|plan\) \(tests/cli/[^/ ]*\)/\([^ ]*\).*:\2/./\3:p' tests/cli/*/cmd | sort -u |
        while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}

# alone TARGET ARGUMENT...
alone() {
    target=$1
    shift
    timeout $((seconds * 4 + 60)) "$build/fuzz_$target" "$@" >"$build/fuzz.out" 2>&1 || {
        echo "fuzz: fuzz_$target $1 ends with $?:"
        failed=$((failed + 1))
        grep -m 12 -E 'ERROR|runtime error|SUMMARY|does not hold|    #[0-6] ' "$build/fuzz.out"
        cp "$build/fuzz.last" "$build/fuzz.last.$target.$1" 2>/dev/null
    }
    sed -n 's/^[a-z ]*\([0-9][0-9]*\) runs.*/\1/p' "$build/fuzz.out" >>"$log"
}

# guided TARGET NAME SEED...: clang's, for as long
guided() {
    target=$1
    corpus=$build/corpus/$2
    mkdir -p "$corpus"
    shift 2
    [ $# = 0 ] || cp "$@" "$corpus" 2>/dev/null
    timeout $((seconds * 4 + 60)) "$build/fuzz_$target" -max_total_time="$seconds" -seed="$seed" -timeout=20 \
        -rss_limit_mb=4096 -max_len=65536 -artifact_prefix="$build/" -print_final_stats=1 "$corpus" \
        >"$build/fuzz.out" 2>&1 || {
        failed=$((failed + 1))
        echo "fuzz: fuzz_$target in $corpus:"
        grep -m 12 -E 'ERROR|runtime error|SUMMARY|does not hold|    #[0-6] |Test unit' "$build/fuzz.out"
    }
    sed -n 's/^stat::number_of_executed_units: *//p' "$build/fuzz.out" >>"$log"
}

readers="scenario python shell json yaml toml notebook model gpu instance fabric nccl smi sweep mapping table nccltests measured"
for reader in $readers; do
    FUZZ_READER=$reader
    export FUZZ_READER
    # shellcheck disable=SC2046 # several files
    if [ "$how" = libfuzzer ]; then
        guided files "$reader" $(seeds "$reader")
    else
        alone files "$reader" "$seconds" "$seed" $(seeds "$reader")
    fi
done
for target in sources launch kineto training_logs nsight chakra serve journal words step; do
    if [ "$how" = libfuzzer ]; then
        guided $target $target
    else
        alone $target "$seconds" "$seed"
    fi
done
if [ "$how" = libfuzzer ]; then
    FUZZ_START=tests/cli/hydra-document/./runs/tuned/sft.yaml
    export FUZZ_START
    mkdir -p "$build/folders"
    (cd "${FUZZ_START%%/./*}" && find . -name '*.yaml') | while read -r file; do
        { echo "$file" && cat "${FUZZ_START%%/./*}/$file"; } >"$build/folders/$(echo "$file" | tr / _)"
    done
    guided folders folders "$build"/folders/*
    guided cfg cfg scenarios/*.json
    guided logs logs tests/measure/*.log
else
    # shellcheck disable=SC2046 # several files
    alone folders "$seconds" "$seed" $(jobs)
    alone logs "$seconds" "$seed" tests/measure/*.log
    alone cfg $((seconds * 500)) "$seed"
fi
line="fuzz: $(awk '{ n += $1 } END { print n + 0 }' "$log") inputs, $failed failed"
echo "$line"
[ -z "${SMSIM_FUZZ_LOG:-}" ] || echo "$(date -u +%F) $how seed $seed: $line" >>"$SMSIM_FUZZ_LOG"
[ "$failed" = 0 ]
