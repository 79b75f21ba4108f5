#!/bin/sh
# Golden tests of the program given as $1.
#   tests/bad/NAME: `smsim check tests/bad/NAME/in.json` (or the arguments in the file cmd)
#       ends with 3, prints nothing, and complains exactly as the file error says
#   tests/cli/NAME: the arguments in cmd give the output in stdout, and end as status says
#       (0 without one); standard input is the file in, or empty
# With UPDATE=1 the outputs are written, not compared: look at the difference before
# committing it. With ONLY="NAME..." (patterns of the shell) only those cases are run.
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"
on_all_processors tests/golden.sh
out=$dir
passed=0
failed=0
asan=${ASAN_OPTIONS:-}

# is_asked: whether ONLY, if there is one, has the case $dir.
is_asked() (
    set -f
    [ -n "${ONLY:-}" ] || return 0
    for name in $ONLY; do
        # shellcheck disable=SC2254 # a pattern
        case ${dir##*/} in $name) return 0 ;; esac
    done
    return 1
)

# run DIR ARGUMENTS: as a shell splits them. A search for leaks takes as long as most
# commands: where cases are sampled (tests/unit/sample.h), each fifth has one.
run() {
    in=/dev/null
    [ -f "$1/in" ] && in=$1/in
    [ -n "${SAMPLE:-}" ] && export ASAN_OPTIONS="$asan:detect_leaks=$((asked % 10 < 2))"
    eval "\"\$smsim\" $2" <"$in" >"$out/stdout" 2>"$out/stderr"
    echo $? >"$out/status"
}

# same WANTED GOT NAME: shows the difference
same() {
    if [ "${UPDATE:-}" = 1 ]; then
        cp "$2" "$1"
    elif ! cmp -s "$1" "$2"; then
        echo "golden: $3:"
        diff -u "$1" "$2" | sed 's/^/    /'
        return 1
    fi
}

status_is() {
    [ "$(cat "$out/status")" = "$1" ] && return 0
    echo "golden: $2: exit code $(cat "$out/status") where $1 should be"
    sed 's/^/    /' "$out/stderr"
    return 1
}

count() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}

for dir in tests/bad/*/; do
    dir=${dir%/}
    is_asked || continue
    is_mine || continue
    if [ ! -f "$dir/error" ]; then
        echo "golden: $dir: has no file error"
        count 1
        continue
    fi
    arguments="check $dir/in.json"
    [ -f "$dir/cmd" ] && arguments=$(head -n 1 "$dir/cmd")
    run "$dir" "$arguments"
    wrong=0
    status_is 3 "$dir" || wrong=1
    same "$dir/error" "$out/stderr" "$dir" || wrong=1
    if [ -s "$out/stdout" ]; then
        echo "golden: $dir: printed on standard output"
        wrong=1
    fi
    count $wrong
done

for dir in tests/cli/*/; do
    dir=${dir%/}
    [ -f "$dir/cmd" ] || continue
    is_asked || continue
    is_mine || continue
    wanted=0
    [ -f "$dir/status" ] && wanted=$(cat "$dir/status")
    run "$dir" "$(head -n 1 "$dir/cmd")"
    wrong=0
    status_is "$wanted" "$dir" || wrong=1
    same "$dir/stdout" "$out/stdout" "$dir" || wrong=1
    count $wrong
done

echo "golden: $passed passed, $failed failed"
[ "$failed" = 0 ]
