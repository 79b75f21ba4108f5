#!/bin/sh
# `smsim validate --device` of the program given as $1, where there is no GPU: a script
# stands for smsim-measure and does what that does on good and on bad days. Also files of
# measurements that end early.
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"
file=$PWD/tests/measure/emulated-h100.json
passed=0
failed=0
export TMPDIR="$dir/tmp" FILE="$file" DAY
mkdir "$TMPDIR"

cat >"$dir/measure" <<'END'
#!/bin/sh
out=
args=$*
while [ $# -gt 1 ]; do
    [ "$1" = --out ] && out=$2
    shift
done
echo "progress" >&2
echo "not for the caller's output"
case $DAY in
good) cp "$FILE" "$out" ;;
asked) cp "$FILE" "$out" && echo "$args" >"$TMPDIR/../asked" ;;
none)
    echo "smsim-measure: no GPU to measure: no CUDA-capable device is detected" >&2
    exit 3 ;;
old) exit 2 ;;
odd) exit 9 ;;
killed) kill -9 $$ ;;
half) head -c 20000 "$FILE" >"$out" && kill -9 $$ ;;
truncated) head -c 20000 "$FILE" >"$out" ;;
empty) : >"$out" ;;
foreign) echo '{"format": "fio", "version": 1}' >"$out" ;;
nan) sed 's/"time_s": [0-9.e-]*}/"time_s": NaN}/' "$FILE" >"$out" ;;
zero) sed 's/"time_s": [0-9.e-]*}/"time_s": 0}/' "$FILE" >"$out" ;;
memory)
    sed '/"kind": "step"/,$d' "$FILE" >"$out"
    echo '{"kind": "section", "device": 0, "name": "step", "error": "cudaMalloc: out of memory"}]}' >>"$out" ;;
lost)
    sed 's/"rows": \[/&{"kind": "section", "device": 0, "name": "gemm", "error": "the GPU is lost"},/' \
        "$FILE" >"$out" ;;
esac
END
chmod +x "$dir/measure"

# day NAME STATUS TEXT [OPTION]...: how it ends, and what it says on standard error or output
day() {
    DAY=$1
    status=$2
    text=$3
    shift 3
    SMSIM_MEASURE="$dir/measure" "$smsim" validate --device "$@" >"$dir/stdout" \
        2>"$dir/stderr"
    check "$DAY" $? "$status" "$text"
}

# check NAME STATUS WANTED TEXT [printed]: with `printed`, whatever else is printed is right
check() {
    wrong=
    [ "$2" = "$3" ] || wrong="ended with $2 where $3 should be"
    cat "$dir/stdout" "$dir/stderr" | tr '\n' ' ' | grep -qF -- "$4" ||
        wrong="$wrong; does not say \"$4\""
    [ "$3" = 3 ] && [ -z "${5:-}" ] && [ -s "$dir/stdout" ] && wrong="$wrong; printed a result"
    [ -z "${5:-}" ] && grep -q "not for the caller" "$dir/stdout" && wrong="$wrong; passed output on"
    [ -z "$(ls -A "$TMPDIR")" ] || wrong="$wrong; left something behind"
    if [ -n "$wrong" ]; then
        echo "device: $1: $wrong"
        sed 's/^/    /' "$dir/stderr"
        rm -rf "${TMPDIR:?}"/*
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

expect() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        echo "device: $1: \"$3\" where \"$2\" should be"
        failed=$((failed + 1))
    fi
}

day good 0 "operators:"
day good 0 '"step_errors"' --json -
day none 3 "nothing was measured (smsim-measure says why above)"
day none 3 "no CUDA-capable device"
day old 3 "build it again"
day odd 3 "smsim-measure ended with 9"
day killed 3 "was killed by signal 9"
day half 3 "was killed by signal 9" --out "$dir/kept.json"
expect "nothing half-written" no "$([ -e "$dir/kept.json" ] && echo yes || echo no)"
day truncated 3 "/smsim-measure."
day empty 3 "/smsim-measure."
day foreign 3 "is a format not known here"
day nan 3 "NaN"
day zero 3 "is not a positive time"
day memory 3 "step: cudaMalloc: out of memory"
day lost 0 "gemm: the GPU is lost"
day good 3 "--model: " --model no-such-model
day good 0 "operators:" --out "$dir/kept.json"
expect "kept as it was measured" same "$(cmp -s "$file" "$dir/kept.json" && echo same)"
expect "nothing beside it" kept.json "$(cd "$dir" && ls -d kept* | tr -d '\n')"
day good 3 "cannot be written" --out "$dir/no/such/place.json"
day asked 0 "operators:" --model gpt2 --batch 3 --sequence 128 --budget 77 --fp16
expect "options are handed on" \
    "--model $PWD/models/gpt2.json --batch 3 --sequence 128 --budget 77 --fp16" \
    "$(sed 's/^--out [^ ]* //' "$dir/asked")"

SMSIM_MEASURE="$dir/nothing" "$smsim" validate --device >"$dir/stdout" 2>"$dir/stderr"
check "a program that is not there" $? 3 "is no program that can be run"
cp "$smsim" "$dir/smsim"
PATH=/nowhere SMSIM_MEASURE="" SMSIM_DATA="$dir" "$dir/smsim" validate --device \
    --model "$PWD/models/gpt2.json" >"$dir/stdout" 2>"$dir/stderr"
check "no program" $? 3 "is not built: run \`make measure\` where nvcc is"

# a profile that was fitted to the same file comes to the same as the fit on the way
"$smsim" calibrate "$file" --out "$dir/mine.json" >/dev/null
for gpu in "" "--gpu $dir/mine.json"; do
    # shellcheck disable=SC2086
    "$smsim" validate --measured "$file" $gpu --json "$dir/result${gpu:+2}" \
        --plot "$dir/result.svg" >"$dir/stdout" 2>"$dir/stderr"
    check "compared ${gpu%% *}" $? 0 "step times:"
done
median() {
    sed -n '/^  "operator_errors"/,$s/.*"median_abs_error": 0.0\(..\).*/\1/p' "$1" | head -n 1
}
expect "as good as the fit" "$(median "$dir/result")" "$(median "$dir/result2")"
expect "a figure" 3 "$(grep -c 'id="series-' "$dir/result.svg")"

# the whole run, with the script for the program, and no nvcc
mkdir "$dir/build"
cp "$dir/measure" "$dir/build/smsim-measure"
DAY=good BUILD="$dir/build" OUT="$dir/out" NAME=gpu NVCC=/no/nvcc \
    sh validate/measure/run.sh kernels steps >"$dir/stdout" 2>"$dir/stderr"
check "run.sh" $? 0 "smsim validate --measured $dir/out/gpu.json" printed
check "run.sh" 0 0 "to commit (from $dir/out, below validate/measurements):   $dir/out/gpu.json" printed
expect "what run.sh leaves" "gpu.json run.log " "$(cd "$dir/out" && ls | tr '\n' ' ')"
DAY=none BUILD="$dir/build" OUT="$dir/none" NVCC=/no/nvcc \
    sh validate/measure/run.sh >"$dir/stdout" 2>"$dir/stderr"
check "run.sh without a GPU" $? 3 "no CUDA-capable device" printed
sh validate/measure/run.sh kernel >"$dir/stdout" 2>"$dir/stderr"
check "run.sh of no part" $? 2 "kernel: is no part (kernels, steps, pytorch)"

size=$(wc -c <"$file")
for part in 0 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987; do
    head -c $((size * part / 1000)) "$file" >"$dir/cut.json"
    "$smsim" validate --measured "$dir/cut.json" >"$dir/stdout" 2>"$dir/stderr"
    check "cut at $part of 1000" $? 3 "$dir/cut.json"
done

echo "device: $passed passed, $failed failed"
[ "$failed" = 0 ]
