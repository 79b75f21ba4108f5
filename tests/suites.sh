#!/bin/sh
# Every suite of a unit program in a process of its own, as many at a time as there are
# processors, the long ones first. Prints what fails, and a summary. $1: the program.
set -eu
unit=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
long="dialect keys
bounded
emit
plan_order
fields
risk
plan
serve"
"$unit" --list >"$dir/all"
{
    echo "$long" | grep -Fx -f "$dir/all" || true
    echo "$long" >"$dir/long"
    grep -Fxv -f "$dir/long" "$dir/all"
} >"$dir/order"
tr '\n' '\0' <"$dir/order" | UNIT=$unit DIR=$dir xargs -0 -P "$(nproc)" -I{} sh -c '
    if "$UNIT" "$1" >"$DIR/out.$$" 2>&1; then
        sed -n "s/^ *asserts *\([0-9]*\) .*/\1/p" "$DIR/out.$$" >"$DIR/passed.$$"
    else
        echo "suites: $1 failed:"
        cat "$DIR/out.$$"
        echo "$1" >>"$DIR/failed"
    fi' - {}
n=$(wc -l <"$dir/order")
passed=$(find "$dir" -name 'passed.*' | wc -l)
asserts=$(cat "$dir"/passed.* | awk '{ sum += $1 } END { print sum + 0 }')
echo "suites: $passed of $n passed, $asserts asserts"
[ "$passed" = "$n" ] && [ ! -e "$dir/failed" ]
