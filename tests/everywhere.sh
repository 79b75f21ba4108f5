#!/bin/sh
# The same bytes from the program given as $1 with 1 to 8 threads, in any locale, time zone
# and working folder, and from the programs of other compilers that follow it.
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"
shift
failed=0
runs=0

# outputs PROGRAM FOLDER: those of all commands
outputs() {
    mkdir -p "$2"
    n=0
    while read -r arguments; do
        n=$((n + 1))
        # shellcheck disable=SC2086 # words
        "$1" $arguments </dev/null >"$2/$n" 2>"$2/$n.err"
        echo "status $?" >>"$2/$n"
    done <"$dir/commands"
}

# same WHAT FOLDER: as the first
same() {
    runs=$((runs + n))
    for i in $(seq "$n"); do
        cmp -s "$dir/first/$i" "$2/$i" && cmp -s "$dir/first/$i.err" "$2/$i.err" && continue
        failed=$((failed + 1))
        echo "everywhere: with $1, smsim $(sed -n "${i}p" "$dir/commands") prints other bytes:"
        diff "$dir/first/$i" "$2/$i" | head -n 4
    done
}

sed "/^#/d; s:JOB:$PWD/scenarios:g" tests/walk/everywhere.txt >"$dir/commands"
outputs "$smsim" "$dir/first"
for threads in 1 2 5 8; do
    OMP_NUM_THREADS=$threads outputs "$smsim" "$dir/threads"
    same "$threads threads" "$dir/threads"
done
if localedef -i de_DE -f UTF-8 "$dir/de_DE.UTF-8" >/dev/null 2>&1; then
    LOCPATH=$dir LC_ALL=de_DE.UTF-8 outputs "$smsim" "$dir/locale"
    same "a German locale" "$dir/locale"
else
    echo "everywhere: no locale can be made here (apt-get install locales)"
fi
TZ=Pacific/Auckland LC_ALL=C outputs "$smsim" "$dir/zone"
same "another time zone" "$dir/zone"
(cd / && outputs "$smsim" "$dir/folder")
same "another working folder" "$dir/folder"
for other in "$@"; do
    outputs "$(realpath "$other")" "$dir/other"
    same "$other" "$dir/other"
done
echo "everywhere: $runs outputs, $failed differ"
[ "$failed" = 0 ]
