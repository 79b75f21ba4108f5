#!/bin/sh
# Every option of the program given as $1 does something, or is refused or warned of by
# name: the rows of tests/walk/options.txt.
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"
on_all_processors tests/options.sh
failed=0
rows=0

# trimmed: without the blanks around
trim() {
    echo "$1" | sed 's/^ *//; s/ *$//'
}

# run NAME ARGUMENTS: what it prints, and what it writes; OUT is a new file
run() {
    rm -rf "$dir/out"
    mkdir "$dir/out"
    # shellcheck disable=SC2086
    "$smsim" $(echo "$2" | sed "s:OUT:$dir/out/file:g") </dev/null \
        >"$dir/$1" 2>"$dir/$1.err"
    { echo "status $?"; ls "$dir/out"; } >>"$dir/$1"
}

complain() {
    failed=$((failed + 1))
    echo "options: $1"
}

# row ARGUMENTS OPTION WHAT: rows of the same arguments that follow each other share the
# run without the option
last=
row() {
    name=${2%% *}
    [ "$1" = "$last" ] || run plain "$1"
    last=$1
    run with "$1 $2"
    rows=$((rows + 1))
    if [ "$3" = told ]; then
        grep -q -e "$name" "$dir/with.err" ||
            complain "smsim $1 $2: $name does nothing, and nothing says so"
    elif [ "${3%%:*}" = same ]; then
        cmp -s "$dir/plain" "$dir/with" || complain "smsim $1 $2: is not the same"
    elif cmp -s "$dir/plain" "$dir/with"; then
        complain "smsim $1 $2: $name does nothing"
    fi
}

while IFS='|' read -r arguments option what; do
    case $arguments in '#'* | '') continue ;; esac
    is_mine || continue
    row "$(trim "$arguments")" "$(trim "$option")" "$(trim "$what")"
done <tests/walk/options.txt

# each option of the commands that have rows has one
for command in $(sed -n 's/^\([a-z]*\) .*|.*|.*/\1/p' tests/walk/options.txt | sort -u); do
    is_mine || continue
    for option in $("$smsim" "$command" --help | sed -n 's/^  \(--[a-z0-9-]*\).*/\1/p'); do
        grep -q -e "^$command .*| *$option[ |]" tests/walk/options.txt ||
            complain "$command $option: has no row in tests/walk/options.txt"
    done
done
echo "options: $rows rows, $failed failed"
[ "$failed" = 0 ]
