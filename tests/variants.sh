#!/bin/sh
# How a file of others is read when one thing in it differs: for goldens (tests/cli/*/cmd).
#
#     tests/variants.sh SMSIM FOLDER/FILE EDITS [WORD...]
#
# EDITS has scripts of sed, a line each, whose first file is the folder's. Prints what
# `smsim WORD...` (`check FILE`) says of the file itself, and of each edited file the lines
# that differ; of one that is not read those alone that it has.
set -u
smsim=$(realpath "$1")
file=$2
edits=$(realpath "$3")
shift 3
words=${*:-check FILE}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -R "$(dirname "$file")" "$dir/job"
name=$(basename "$file")
cp "$file" "$dir/base"
cd "$dir/job" || exit 1

# all that is printed, and how it ends
say() {
    # shellcheck disable=SC2046 # words
    "$smsim" $(echo "$words" | sed "s/FILE/$name/") 2>&1 </dev/null
    echo "ends with $?"
}

say >"$dir/plain"
cat "$dir/plain"
while read -r edit; do
    printf '== %s\n' "$edit"
    sed "$edit" "$dir/base" >"$name"
    if cmp -s "$name" "$dir/base"; then
        echo "changes nothing"
    else
        say >"$dir/said"
        read=$(wc -l <"$dir/said")
        [ "$read" -ge 5 ] || read=0
        diff "$dir/plain" "$dir/said" | sed -n "/^[$([ "$read" = 0 ] || echo '<')>]/p"
    fi
done <"$edits"
