#!/bin/sh
# A stranger's files, all the way: each is simulated, a plan is made of it and written in
# a dialect, and what was written gives the plan's time and memory when it is read back
# with the options that its header names. The rows: tests/strangers/rows.txt. The program
# is given as $1.
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"
failed=0
rows=0

wrong() {
    failed=$((failed + 1))
    echo "strangers: $1: $2"
    [ ! -s "$dir/said" ] || tail -n 5 "$dir/said" | sed 's/^/    /'
}

# The numbers of a result by the names of two members, the first of each.
numbers() {
    for member in step_time_s peak_bytes; do
        sed -n "s/^ *\"$member\": \([0-9.e+-]*\),*$/\1/p" "$1" | head -n 1
    done
}

# A plan that is the file's own answer: options are words, and values have no blanks.
row() {
    rows=$((rows + 1))
    file=tests/strangers/$1
    # shellcheck disable=SC2086
    "$smsim" simulate "$file" $2 --json "$dir/step.json" >"$dir/said" 2>&1
    if [ $? -gt 1 ]; then # 1: it does not fit, which a plan mends
        wrong "$1" "it cannot be simulated"
        return
    fi
    case $4 in
    sagemaker) ending=py ;;
    deepspeed) ending=json ;;
    scenario) ending=scenario.json ;;
    *) ending="sh" ;;
    esac
    # shellcheck disable=SC2086
    if ! "$smsim" plan "$file" $2 $3 --top 1 --emit "$4" --json "$dir/plan.json" \
        >"$dir/emitted.$ending" 2>"$dir/said"; then
        wrong "$1" "no plan is written as $4"
        return
    fi
    # the header's options, or the warnings of JSON, which has no comments
    sed -n 's/^# *\(--set .*\)$/\1/p' "$dir/emitted.$ending" >"$dir/sets"
    [ $ending != json ] || sed -n 's/^warning: .*: \(--set .*\)$/\1/p' "$dir/said" >"$dir/sets"
    if ! eval "\"\$smsim\" simulate \"\$dir/emitted.\$ending\" --json \"\$dir/back.json\" $(tr '\n' ' ' <"$dir/sets")" \
        >"$dir/said" 2>&1; then
        wrong "$1" "what was written as $4 is not read back"
        return
    fi
    if [ "$(numbers "$dir/plan.json")" != "$(numbers "$dir/back.json")" ]; then
        wrong "$1" "as $4 it has $(numbers "$dir/back.json" | tr '\n' ' ') where the plan has $(numbers "$dir/plan.json" | tr '\n' ' ')"
    fi
}

while IFS='|' read -r file sets plan dialect; do
    case $file in
    '' | '#'*) continue ;;
    esac
    row "$(echo "$file" | xargs)" "$sets" "$plan" "$(echo "$dialect" | xargs)"
done <tests/strangers/rows.txt
echo "strangers: $rows files there and back, $failed failed"
[ $failed = 0 ]
