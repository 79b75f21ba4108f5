#!/bin/sh
# Each layer of src/ includes only what its row allows, and what those rows allow in turn.
# A word with a slash allows one header. With objects in $1 (build), no more than six files
# call each other in a circle. Prints what breaks that.
set -eu
build=${1:-build}
most=6
allowed() {
    cat <<'ROWS'
base
draw         base
engine       base
memory       base
config       base
hardware     config
model        config hardware/dtype.h
layout       model hardware
scenario     layout
dialect      scenario
cost         hardware model layout
run          engine cost memory
step         run scenario
simulate     step
risk         simulate
campaign     simulate
compare      campaign
kineto       base
logs         kineto
doctor       campaign logs calibrate
search       campaign risk
sweep        campaign
calibrate    simulate kineto
validation   simulate risk
trace        step
replay       cost kineto
report       draw trace replay compare doctor search sweep calibrate validation
page         report
serve        base
schema       report dialect
lib          report dialect
cmd          schema report dialect page serve
ROWS
}
status=0

# lines "FILE:LINE: #include" that no row allows
includes() {
    allowed | awk '
        { layer[NR] = $1; may[$1] = $1; for (i = 2; i <= NF; i++) { row[$1] = row[$1] " " $i } }
        function closure(l,   n, i, t) {
            n = split(row[l], t, " ")
            for (i = 1; i <= n; i++) if (index(all, " " t[i] " ") == 0) { all = all t[i] " "; closure(t[i]) }
        }
        END { for (i = 1; i <= NR; i++) { all = " " layer[i] " "; closure(layer[i]); print layer[i] ":" all } }
    ' >"$tmp/rows"
    grep -rnE '^#include "' src --include='*.[ch]' | awk -F: -v rows="$tmp/rows" '
        BEGIN { while ((getline line < rows) > 0) { n = index(line, ":"); may[substr(line, 1, n - 1)] = substr(line, n + 1) } }
        {
            split($1, path, "/"); layer = path[2]
            if (path[3] == "") next # main.c
            header = $3; sub(/^#include "/, "", header); sub(/".*/, "", header)
            split(header, to, "/")
            if (!(layer in may)) { print layer ": no row for this layer"; next }
            if (index(may[layer], " " to[1] " ") == 0 && index(may[layer], " " header " ") == 0)
                print $1 ":" $2 ": " layer " may not include " header
        }'
}

# circles of files that call each other, by the symbols of their objects
circles() {
    find "$build/src" -name '*.o' -exec nm -P -A {} + 2>/dev/null | awk -v most="$most" -v strip="$build/src/" '
        { f = $1; sub(/:$/, "", f); sub(strip, "", f); sub(/\.o$/, ".c", f) }
        $3 ~ /[TDBRC]/ { where[$2] = f; if (!(f in id)) { id[f] = ++n; name[n] = f } }
        $3 == "U" { wants[++u] = $2; by[u] = f }
        END {
            for (i = 1; i <= u; i++) if (wants[i] in where && where[wants[i]] != by[i] && by[i] in id) {
                a = id[by[i]]; b = id[where[wants[i]]]
                if (!((a, b) in seen)) { seen[a, b] = 1; out[a] = out[a] " " b }
            }
            for (i = 1; i <= n; i++) {
                top = 1; stack[1] = i
                while (top) {
                    m = split(out[stack[top--]], t, " ")
                    for (k = 1; k <= m; k++) if (!((i, t[k]) in reach)) { reach[i, t[k]] = 1; stack[++top] = t[k] }
                }
            }
            for (i = 1; i <= n; i++) if (!(i in done)) {
                size = 1; list = name[i]
                for (j = 1; j <= n; j++) if (j != i && (i, j) in reach && (j, i) in reach) { size++; list = list " " name[j]; done[j] = 1 }
                if (size > most) print "a circle of " size " files: " list
            }
        }'
}

# global functions and tables of src/ that no file of it uses: tests alone would. Those that their own file uses
# pass. xmalloc_set_fail is for programs that link smsim's objects; sources of YAML and TOML await their dialects;
# sweep_hub is for programs that are built with MPI=1.
test_only="main xmalloc_set_fail sweep_hub_init sweep_hub_release sweep_hub_give sweep_hub_point sweep_hub_take toml_read yaml_read yaml_release yaml_interpolate"
unused() {
    find "$build/src" -name '*.o' -exec nm -P -A {} + 2>/dev/null | awk -v strip="$build/" '
        { f = $1; sub(/:$/, "", f); sub(strip, "", f); sub(/\.o$/, ".c", f) }
        $3 ~ /[TDBR]/ && $2 !~ /^\./ { where[$2] = f }
        $3 == "U" { used[$2] = 1 }
        END { for (s in where) if (!(s in used)) print s, where[s] }' | sort |
    while read -r symbol file; do
        case " $test_only " in *" $symbol "*) continue ;; esac
        [ -f "$file" ] || continue
        case $file in src/lib/*) continue ;; esac # for programs of others
        n=$(sed 's:/\*.*\*/::; s:^ *\*.*$::; s:/\*.*$::' "$file" | grep -cw "$symbol") || true
        [ "$n" -gt 1 ] || echo "$file: nothing but tests uses $symbol: use it, or remove it"
    done
}

# names of libraries and backends outside their table: rows answer (scenario/libraries.h)
library_names() {
    grep -rnwE '(LIBRARY|BACKEND)_[A-Z_]+' src --include='*.[ch]' | grep -v '^src/scenario/libraries'
    grep -rnE '(->|\.)smp *([=!<>]=|[<>]) *[0-9]' src --include='*.[ch]' | grep -v '^src/scenario/libraries'
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
includes >"$tmp/bad"
if grep -rnE '#include <cairo' src --include='*.[ch]' | grep -v '^src/draw/' >>"$tmp/bad"; then
    echo "only draw knows cairo: it belongs there" >>"$tmp/bad"
fi
if grep -rnE '#include <zlib' src --include='*.[ch]' | grep -vE '^src/(logs/|trace/trace_json)' >>"$tmp/bad"; then
    echo "only logs and trace/trace_json know zlib: it belongs there" >>"$tmp/bad"
fi
if grep -rnE '#include <sqlite' src --include='*.[ch]' | grep -v '^src/kineto/nsight.c' >>"$tmp/bad"; then
    echo "only kineto/nsight.c knows sqlite3: it belongs there" >>"$tmp/bad"
fi
if grep -rnE 'version_(compare|within|nearest)\([^;]*"' src --include='*.c' | grep -v '^src/scenario/releases.c' >>"$tmp/bad"; then
    echo "releases are named in scenario/releases.c: ask it" >>"$tmp/bad"
fi
if library_names >>"$tmp/bad"; then
    echo "libraries are decided by their rows: ask scenario/libraries.h" >>"$tmp/bad"
fi
twice=$(sed -n 's/^#define HAS_[A-Z0-9_]* *FLAG(\([0-9]*\)).*/\1/p' src/model/build/rows.h | sort | uniq -d)
if [ -n "$twice" ]; then
    echo "src/model/build/rows.h: two flags of rows share bit" $twice >>"$tmp/bad"
fi
[ -d "$build/src" ] && unused >>"$tmp/bad"
[ -d "$build/src" ] && circles >>"$tmp/bad"
if [ -s "$tmp/bad" ]; then
    cat "$tmp/bad"
    exit 1
fi
echo "layers: each includes only what its row allows; no circle of more than $most files"
