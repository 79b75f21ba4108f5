#!/bin/sh
# libsmsim: its examples, shared and static, against the program; what it exports; its
# package of Python and the notebook, by Debian's python3 where that is. $1 is build, $2 the C compiler.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${1:-build}")
cc=${2:-cc}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
ours=$(tr '\n' ' ' <src/lib/smsim.h | grep -o 'SMSIM_API [^(;]*(' | sed -n 's/.*[ *]\(smsim_[a-z_]*\)($/\1/p' | sort)

complain() {
    failed=$((failed + 1))
    echo "library: $1"
}

# the header is one of C99 and of C++, alone
echo '#include <smsim.h>' >"$dir/alone.c"
"$cc" -std=c99 -pedantic -Wall -Werror -Isrc/lib -fsyntax-only "$dir/alone.c" || complain "smsim.h is no C99"
if command -v "${CXX:-c++}" >/dev/null; then
    "${CXX:-c++}" -Wall -Werror -Isrc/lib -x c++ -fsyntax-only "$dir/alone.c" || complain "smsim.h is no C++"
fi

# nothing else is seen of it
for file in libsmsim.so libsmsim.a; do
    # shellcheck disable=SC2046 # -D of the shared one
    nm $([ $file = libsmsim.a ] || echo -D) --defined-only -g "$build/$file" 2>/dev/null |
        sed -n 's/.* [TDBRV] \([^@]*\).*/\1/p' | sort >"$dir/seen"
    echo "$ours" | cmp -s - "$dir/seen" || complain "$file exports: $(echo "$ours" | diff - "$dir/seen" | head -n 5)"
done
nm -D --defined-only "$build/libsmsim.so" | grep -c '@@SMSIM_0$' | grep -qx "$(echo "$ours" | wc -l)" ||
    complain "names of libsmsim.so have no version"

# with what a program in C links by pkg-config
# shellcheck disable=SC2086 # several
libs=$(pkg-config --libs ${PKGS:?is a variable of the Makefile: run make library})
for example in step choose; do
    flags="-std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror ${SANITIZE:-} -Isrc/lib examples/$example.c"
    # shellcheck disable=SC2086 # several
    "$cc" $flags -o "$dir/$example" -L"$build" -lsmsim -lpthread -Wl,-rpath,"$build" || complain "$example.c is not built"
    # shellcheck disable=SC2086
    "$cc" $flags -o "$dir/$example-static" "$build/libsmsim.a" $libs -fopenmp -lm -lpthread ||
        complain "$example.c is not built with libsmsim.a"
done

# runs EXAMPLE ARGUMENT...: both alike, into $dir/out
runs() {
    example=$1
    shift
    (cd / && "$dir/$example" "$@" >"$dir/out" 2>"$dir/err") || complain "$example $* ends with $?: $(head -n 3 "$dir/err")"
    (cd / && SMSIM_DATA=$OLDPWD "$dir/$example-static" "$@") >"$dir/out2" 2>&1
    cmp -s "$dir/out" "$dir/out2" || complain "$example $*: the static one prints $(diff "$dir/out" "$dir/out2" | head -n 3)"
}
job=bert-large-squad-2xp3.16xlarge
runs step $job
for count in 2 4; do
    ms=$("$build/smsim" simulate $job --set /cluster/count=$count 2>/dev/null | sed -n 's/^  step time *\([0-9.]*\) m*s.*/\1/p')
    awk -v ms="$ms" -v row=$((count / 2)) 'NR == row { s = $3 * (ms > 10 ? 1000 : 1); bad = (s - ms) / ms; exit !(bad < 0.01 && bad > -0.01) }' \
        "$dir/out" || complain "step $job: $count instances take $ms in the program, and: $(cat "$dir/out")"
done
runs choose
grep -q '^  GPU' "$dir/out" || complain "choose names no cause: $(cat "$dir/out")"
[ "$(grep -c 'samples/s' "$dir/out")" = 6 ] || complain "choose lists other than 3 plans each: $(cat "$dir/out")"
# errors are values: nothing but the example's own line is printed
"$dir/step" nothing-of-that-name >"$dir/out" 2>"$dir/err" && complain "a job that is none is simulated"
[ "$(wc -l <"$dir/err")" = 1 ] && grep -q 'is not in scenarios/' "$dir/err" || complain "of a job that is none: $(cat "$dir/err")"
(ulimit -v 60000 && exec "$dir/step" llama2-70b-smp2-16xp5.48xlarge /cluster/count=2048 --unfold >"$dir/out" 2>"$dir/err")
[ $? -le 1 ] || complain "without memory the process ends: $(head -n 3 "$dir/err")"
# a locale whose numbers have commas, for the package's test
localedef -i de_DE -f UTF-8 "$dir/de_DE.UTF-8" >/dev/null 2>&1 && LOCPATH=$dir && export LOCPATH

python=$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || command -v python3)
if [ -z "$python" ]; then
    echo "python3 is not here: the package is not tested"
elif [ -z "${SANITIZE:-}" ]; then
    SMSIM="$build/smsim" SMSIM_LIBRARY="$build/libsmsim.so.0" PYTHONDONTWRITEBYTECODE=1 \
        "$python" -W error -m unittest discover -s python/tests >"$dir/out" 2>&1 || complain "$(cat "$dir/out")"
    grep -q '^Ran [1-9]' "$dir/out" || complain "no test of Python was run"
    SMSIM_LIBRARY="$build/libsmsim.so.0" PYTHONDONTWRITEBYTECODE=1 \
        "$python" -W error tests/notebook.py docs/notebook.ipynb >"$dir/out" 2>&1 ||
        complain "$(cat "$dir/out") (UPDATE=1 make library writes it anew)"
fi
echo "library: $failed failed"
[ "$failed" = 0 ]
