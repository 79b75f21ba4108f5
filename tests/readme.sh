#!/bin/sh
# README.md shows what the program given as $1 really prints: every ```console block begins
# with "$ build/smsim ARGUMENTS" and goes on with that command's output. Differences are
# shown; with UPDATE=1 the blocks are written anew.
set -u
smsim=$(realpath "${1:-build/smsim}")
cd "$(dirname "$0")/.." || exit 1
SMSIM_DATA=. # places in messages are those of a reader in the repository
export SMSIM_DATA
new=$(mktemp)
trap 'rm -f "$new"' EXIT
in_block=no
while IFS= read -r line; do
    case $in_block:$line in
    no:'```console')
        in_block=command
        printf '%s\n' "$line" ;;
    command:'$ build/smsim '*)
        in_block=output
        printf '%s\n' "$line"
        eval "\"\$smsim\" ${line#\$ build/smsim }" 2>&1 </dev/null ;;
    output:'```')
        in_block=no
        printf '%s\n' "$line" ;;
    output:*) ;;
    *)
        printf '%s\n' "$line" ;;
    esac
done <README.md >"$new"
if [ "${UPDATE:-}" = 1 ]; then
    cat "$new" >README.md
elif ! diff -u README.md "$new"; then
    echo "readme: README.md shows other output than the program (UPDATE=1 sh tests/readme.sh $smsim)"
    exit 1
fi
echo "readme: its commands print what it shows"
