#!/bin/sh
# Threads of others who asked why a run is slow (validate/threads/NAME): the job and the
# facts of its logs, retyped. Each is given to the program ($1), and the answer is held
# against the line of validate/threads/answers. UPDATE=1 writes that file anew.
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"

# The verdict and the ratio; of each class its causes, the most probable three.
brief() {
    sed -n -e 's/^    measured .*, \([0-9.]*\) times as long: \([a-z]*\).*/\2 \1 times/p' \
        -e 's/^# \([0-9]* sizes: [0-9]* slower\) .*/\1/p' \
        -e 's/^#* *\([0-9]*\) %  \(.*\)$/\1 % \2/p' "$1" |
        sed -e 's/: off by.*//' -e 's/: run ib_write.*//' -e 's/ (to separate.*//' | head -n 5 | paste -sd'|' | sed 's/|/ | /g'
}

export COLUMNS=400
for cmd in validate/threads/*/cmd; do
    name=${cmd%/cmd}
    eval "\"\$smsim\" $(cat "$cmd")" >"$dir/said" 2>&1
    [ $? -le 1 ] || { echo "questions: $name"; cat "$dir/said"; exit 1; }
    echo "${name##*/}: $(brief "$dir/said")"
done >"$dir/answers"
if [ "${UPDATE:-}" = 1 ]; then
    cp "$dir/answers" validate/threads/answers
fi
diff -u validate/threads/answers "$dir/answers" && echo "questions: $(wc -l <"$dir/answers") answers"
