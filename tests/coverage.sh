#!/bin/sh
# Which share of the lines and branches of each folder of src the tests run: of the counts
# in $1 (build/coverage). Prints a table; the last line is all of src.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "$1")
find "$build/src" -name '*.gcda' >"$build/counts"
[ -s "$build/counts" ] || { echo "coverage: nothing in $build has run" && exit 1; }
# shellcheck disable=SC2046 # several files
gcov -b -n $(cat "$build/counts") 2>/dev/null | awk '
    /^File / { file = substr($2, 2, length($2) - 2); ours = file ~ /^src\/.*\.c$/; sum = !ours }
    ours && !sum && /^Lines executed/ { sum = 1 # the next is that of all files
       split($0, p, /[:%]| of /); lines = p[4]; hit = p[2] * lines / 100; add("l", lines, hit) }
    ours && /^Taken at least once/ { split($0, p, /[:%]| of /); add("b", p[4], p[2] * p[4] / 100) }
    function add(kind, n, hit,   f, parts) {
        split(file, parts, "/"); f = parts[3] == "" ? "main" : parts[2]
        all[f, kind] += n; ran[f, kind] += hit; all["all", kind] += n; ran["all", kind] += hit; folders[f] = 1
    }
    function row(f) {
        printf "%-12s %6d lines %5.1f %%  %6d branches %5.1f %%\n", f, all[f, "l"], 100 * ran[f, "l"] / (all[f, "l"] ? all[f, "l"] : 1),
            all[f, "b"], 100 * ran[f, "b"] / (all[f, "b"] ? all[f, "b"] : 1)
    }
    END { for (f in folders) row(f); row("all") }' >"$build/table"
grep -v '^all ' "$build/table" | sort
grep '^all ' "$build/table"
