#!/bin/sh
# README.md shows what the program given as $1 really takes and prints:
#   ```console  begins with "$ build/smsim ARGUMENTS" and goes on with that command's
#               output; "```console slow" is run only with SLOW=1 (make readme)
#   ```jsonc    is a file that `smsim check` calls ok; one that does not begin with "{" is
#               sections, and stands at the end of the first whole file
#   ```sh       its commands know their options, and make its targets
# Pictures and other files that it links to are there. Differences are shown; with UPDATE=1
# the console blocks are written anew.
set -u
smsim=$(realpath "${1:-build/smsim}")
cd "$(dirname "$0")/.." || exit 1
SMSIM_DATA=. # places in messages are those of a reader in the repository
export SMSIM_DATA
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
wrong=0

complain() {
    echo "readme: $*"
    wrong=1
}

# README.md with the console blocks as the program prints them now
print_anew() {
    in_block=no
    while IFS= read -r line; do
        case $in_block:$line in
        no:'```console' | no:'```console slow')
            in_block=command
            [ "$line" = '```console slow' ] && [ "${SLOW:-}" != 1 ] && in_block=as_is
            printf '%s\n' "$line" ;;
        command:'$ build/smsim '*)
            in_block=output
            printf '%s\n' "$line"
            eval "\"\$smsim\" ${line#\$ build/smsim }" 2>&1 </dev/null ;;
        output:'```' | as_is:'```')
            in_block=no
            printf '%s\n' "$line" ;;
        output:*) ;;
        *)
            printf '%s\n' "$line" ;;
        esac
    done <README.md
}

# the blocks of a kind as $tmp/KIND-LINE
split_blocks() {
    awk -v kind="$1" -v dir="$tmp" '
        /^```/ { file = !open && $0 == "```" kind ? dir "/" kind "-" NR : ""; open = !open; next }
        open && file { print > file }' README.md
}

check_jsonc() {
    whole=
    for block in $(ls "$tmp"/jsonc-* | sort -t- -k2n); do
        if [ "$(head -c 1 "$block")" = "{" ]; then
            whole=${whole:-$block}
        else
            { sed '$d' "$whole"; cat "$block"; echo "}"; } >"$block.whole"
            block=$block.whole
        fi
        mv "$block" "$block.json"
        "$smsim" check "$block.json" >/dev/null 2>"$tmp/errors" ||
            complain "the block at line $(expr "$block" : '.*-\([0-9]*\)'): $(cat "$tmp/errors")"
        mv "$block.json" "$block"
    done
}

check_option() { # COMMAND --OPTION
    "$smsim" "$1" --help | grep -q -e "^  $2 " || complain "smsim $1 has no option $2"
}

check_commands() {
    cat "$tmp"/sh-* | sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' -e 's/ #.*//' >"$tmp/commands"
    while read -r program command rest; do
        case $program in
        make)
            grep -q "^$command:" Makefile || complain "make has no target $command" ;;
        build/smsim)
            for word in $rest; do
                case $word in --*) check_option "$command" "${word%%=*}" ;; esac
            done ;;
        esac
    done <"$tmp/commands"
}

check_links() {
    for file in $(sed -n 's/.*](\([^)#:]*\)).*/\1/p' README.md); do
        [ -e "$file" ] || complain "there is no $file"
    done
}

print_anew >"$tmp/new"
split_blocks jsonc
split_blocks sh
check_jsonc
check_commands
check_links
if [ "${UPDATE:-}" = 1 ]; then
    cat "$tmp/new" >README.md
elif ! diff -u README.md "$tmp/new"; then
    complain "README.md shows other output than the program (UPDATE=1 sh tests/readme.sh $smsim)"
fi
[ "$wrong" = 0 ] && echo "readme: its commands print what it shows, its files are read"
exit "$wrong"
