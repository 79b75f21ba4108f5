#!/bin/sh
# README.md, MODEL.md, ARCHITECTURE.md, docs/*.md and docs/validation/*.md show what the
# program given as $1 really takes and prints:
#   ```console  begins with "$ build/smsim ARGUMENTS" and goes on with that command's
#               output; "```console slow" is run only with SLOW=1 (make readme)
#   ```jsonc    is a file that `smsim check` calls ok; one that does not begin with "{" is
#               sections, which are read at the end of the page's first whole file
#               (README.md's, where a page has none)
#   ```sh       its commands know their options, and make its targets
# Pictures and other files that a page links to or names are there. Differences are shown;
# with UPDATE=1 the console blocks are written anew.
set -u
smsim=$(realpath "${1:-build/smsim}")
cd "$(dirname "$0")/.." || exit 1
SMSIM_DATA=. # places in messages are those of a reader in the repository
export SMSIM_DATA
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
wrong=0

complain() {
    echo "readme: $page: $*"
    wrong=1
}

# the page with the console blocks as the program prints them now
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
    done <"$page"
}

# the blocks of a kind as $tmp/KIND-LINE
split_blocks() {
    awk -v kind="$1" -v dir="$tmp" '
        /^```/ { file = !open && $0 == "```" kind ? dir "/" kind "-" NR : ""; open = !open; next }
        open && file { print > file }' "$page"
}

check_jsonc() {
    whole=
    for block in $(ls "$tmp"/jsonc-* 2>/dev/null | sort -t- -k2n); do
        line=${block##*-}
        if [ "$(head -c 1 "$block")" = "{" ]; then
            whole=${whole:-$block}
        else
            { sed '$d' "${whole:-$tmp/whole}"; cat "$block"; echo "}"; } >"$block.whole"
            block=$block.whole
        fi
        cp "$block" "$tmp/block.json"
        "$smsim" check "$tmp/block.json" >/dev/null 2>"$tmp/errors" ||
            complain "the block at line $line: $(cat "$tmp/errors")"
    done
    [ "$page" != README.md ] || cp "$whole" "$tmp/whole"
}

check_option() { # COMMAND --OPTION
    "$smsim" "$1" --help | grep -q -e "^  $2 " || complain "smsim $1 has no option $2"
}

check_commands() {
    cat /dev/null "$tmp"/sh-* 2>/dev/null | sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' -e 's/ #.*//' >"$tmp/commands"
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
    for file in $(sed -n 's/](/\n](/gp' "$page" | sed -n 's/^](\([^)#:]*\)[)#].*/\1/p'); do
        [ -e "$(dirname "$page")/$file" ] || complain "there is no $file"
    done
}

# `src/FILE` and the like, but for patterns and names in capitals
check_paths() {
    tree='src|tests|validate|models|topologies|scenarios|plots|docs'
    for file in $(grep -oE "\`($tree)/[A-Za-z0-9_./-]+\`" "$page" | tr -d '\`' | grep -v '[A-Z]\{4\}'); do
        [ -e "$file" ] || complain "there is no $file"
    done
}

check_page() {
    rm -f "$tmp"/jsonc-* "$tmp"/sh-*
    print_anew >"$tmp/new"
    split_blocks jsonc
    split_blocks sh
    check_jsonc
    check_commands
    check_links
    check_paths
    if [ "${UPDATE:-}" = 1 ]; then
        cmp -s "$tmp/new" "$page" || cat "$tmp/new" >"$page"
    elif ! diff -u "$page" "$tmp/new"; then
        complain "shows other output than the program (UPDATE=1 sh tests/readme.sh $smsim)"
    fi
}

# pages that `make docs` writes
check_made() {
    page=$1
    "$smsim" schema "$2" | cmp -s - "$page" || complain "is not what smsim schema $2 prints (make docs)"
}

for page in README.md MODEL.md ARCHITECTURE.md docs/*.md docs/validation/*.md; do
    [ ! -e "$page" ] || check_page
done
check_made docs/reference.md --page
check_made docs/dialects.md --dialects
[ "$wrong" = 0 ] && echo "readme: commands print what the pages show, files are read"
exit "$wrong"
