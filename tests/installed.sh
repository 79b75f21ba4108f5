#!/bin/sh
# make install into a folder, then its commands from elsewhere as somebody with a home
# that cannot be written; then make uninstall, which leaves nothing. $1 is build.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
failed=0

complain() {
    failed=$((failed + 1))
    echo "installed: $1"
}

# another user where that can be had: root may write everywhere
as() {
    if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    else
        "$@"
    fi
}

# run FOLDER COMMAND...: from /, with nothing in the environment
run() {
    (cd / && as env -i HOME="$dir/home" PATH="$1/bin:/usr/bin:/bin" TMPDIR=/tmp OMP_NUM_THREADS=2 \
        sh -c "$2") >"$dir/out" 2>"$dir/err"
}

# says WANTED FOLDER COMMAND
says() {
    run "$2" "$3" || complain "$3 ends with $?: $(head -n 3 "$dir/err")"
    grep -q -e "$1" "$dir/out" || complain "$3 does not print \"$1\": $(head -n 3 "$dir/out")"
}

mkdir -p "$dir/home" "$dir/root" "$dir/w"
chmod 555 "$dir/home"
chmod 777 "$dir/w"
make --no-print-directory BUILD="$build" DESTDIR="$dir/root" PREFIX=/opt/smsim install >"$dir/log" 2>&1 ||
    { echo "installed: make install: $(tail -n 3 "$dir/log")" && exit 1; }
p=$dir/root/opt/smsim

says "data    $p/share/smsim" "$p" "smsim --version"
says "^smsim [0-9]*\.[0-9]*\.[0-9]*$" "$p" "smsim --version"
says "prices  newest of 20[0-9-]*, oldest of 20" "$p" "smsim --version"
says "step time" "$p" "smsim simulate bert-large-squad-2xp3.16xlarge"
says "nearest" "$p" "smsim simulate bert-large-squad-2xp3.16xlarge"
says "samples/s" "$p" "smsim plan --model bert-large-uncased --instance p3.8xlarge --count 1 \
    --global-batch 16 --sequence-length 128"
says "gpt2" "$p" "smsim list models"
says "urn:smsim" "$p" "smsim schema scenario"
says "precision" "$p" "smsim help /training/precision"
says "busbw" "$p" "smsim collective --cluster p4d.24xlarge:2 --op all_reduce --bytes 1M"
says "aws_misc_training" "$p" "smsim validate aws_misc_training --brief"
says "bound" "$p" "smsim compare bert-large-squad-2xp3.16xlarge bert-large-squad-2xp4d.24xlarge; echo bound"
says "points.csv" "$p" "smsim sweep bert-large-batch --out $dir/w/sweep >$dir/w/said && ls $dir/w/sweep"
[ -z "$(ls -A "$dir/home")" ] || complain "something was written into the home folder"

# through a link, and moved as a whole
ln -s "$p/bin/smsim" "$dir/w/smsim"
says "data    $p/share" "$p" "$dir/w/smsim --version"
mv "$p" "$dir/root/opt/moved"
says "step time" "$dir/root/opt/moved" "smsim simulate bert-large-squad-2xp3.16xlarge"
mv "$dir/root/opt/moved" "$p"

# without /proc, where namespaces can be had
bare='mount -t tmpfs none /proc && cd / && exec env -i HOME=/ PATH="$1/bin:/usr/bin:/bin" smsim --version'
if unshare -m sh -c 'mount -t tmpfs none /proc' 2>/dev/null; then
    unshare -m sh -c "$bare" sh "$p" 2>&1 | grep -q "data    $p/share/smsim" ||
        complain "without /proc the data are not found"
fi

# the library, as programs of others find it: by pkg-config, with its data
for link in "" --static; do
    # shellcheck disable=SC2046,SC2086 # several
    "${CC:-cc}" -o "$dir/w/step" examples/step.c ${SANITIZE:-} $(PKG_CONFIG_PATH=$p/lib/pkgconfig pkg-config $link --cflags --libs smsim) \
        -Wl,-rpath,"$p/lib" 2>"$dir/err" || complain "examples/step.c is not built with what is installed: $(cat "$dir/err")"
    says "s a step" "$p" "$dir/w/step bert-large-squad-2xp3.16xlarge"
done
if [ -x /usr/bin/python3 ] && [ -z "${SANITIZE:-}" ]; then
    cp -r python/smsim "$dir/w/smsim-python" && mkdir "$dir/w/python" && mv "$dir/w/smsim-python" "$dir/w/python/smsim"
    rm -rf "$dir/w/python/smsim/__pycache__"
    says "$p/share/smsim" "$p" "LD_LIBRARY_PATH=$p/lib PYTHONPATH=$dir/w/python /usr/bin/python3 -B -c '
import smsim
assert smsim.simulate(\"bert-large-squad-2xp3.16xlarge\")[\"step_time_s\"] > 0
print(smsim.data())'"
fi

# pages name each other and their pictures
(cd "$p/share/doc/smsim/docs" && grep -oh '](\(validation\|images\)/[^)#]*\|]([a-z-]*\.md' ./*.md | sort -u) | sed 's/](//' >"$dir/links"
[ "$(wc -l <"$dir/links")" -gt 20 ] || complain "the pages that were installed have no links"
while read -r link; do
    [ -e "$p/share/doc/smsim/docs/$link" ] || complain "docs/$link is named, and was not installed"
done <"$dir/links"

# pages of the manual and completions
for page in smsim smsim-simulate smsim-plan; do
    [ -s "$p/share/man/man1/$page.1" ] || complain "there is no manual page $page"
done
script=$p/share/bash-completion/completions/smsim
bash -n "$script" || complain "the completion of bash does not parse"
# complete LINE: what bash offers for its last word
complete() {
    PATH=$p/bin:$PATH bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _smsim; printf "%s\n" "${COMPREPLY[@]}"' \
        "$script" "$@"
}
# offers WANTED WORD...
offers() {
    wanted=$1
    shift
    complete "$@" | grep -qx -e "$wanted" || complain "bash: $* does not offer $wanted: $(complete "$@" | head -n 5)"
}
offers simulate smsim sim
offers --network smsim simulate --net
offers analytic smsim simulate --network a
offers analytic smsim simulate --network = a
offers bert-large-squad-2xp3.16xlarge smsim simulate bert-large-squad-2xp3.16
offers p4d.24xlarge smsim topology p4
offers instances smsim list inst
offers README.md smsim simulate --json README
[ "$(complete smsim simulate --network ana)" = analytic ] || complain "bash: a name is offered with others"
# what is shipped and what is offered are of one table
for option in $("$p/bin/smsim" plan --help | sed -n 's/^  \(--[a-z0-9-]*\).*/\1/p'); do
    offers "$option" smsim plan "$option"
done
script=$p/share/zsh/site-functions/_smsim
if command -v zsh >/dev/null; then
    zsh -n "$script" || complain "the completion of zsh does not parse"
fi
script=$p/share/fish/vendor_completions.d/smsim.fish
if command -v fish >/dev/null; then
    XDG_DATA_HOME=$dir/w XDG_CONFIG_HOME=$dir/w PATH=$p/bin:$PATH fish -N -c \
        "source $script; complete -C 'smsim simulate --netw'" 2>"$dir/err" | grep -q -e --network ||
        complain "fish does not offer --network: $(head -n 3 "$dir/err")"
fi
for shell in bsh "" "bash fish"; do
    run "$p" "smsim --completion $shell"
    status=$?
    [ "$shell" = "bash fish" ] || [ $status = 2 ] || complain "--completion $shell ends with $status"
done

make --no-print-directory BUILD="$build" DESTDIR="$dir/root" PREFIX=/opt/smsim uninstall >"$dir/log" 2>&1 ||
    complain "make uninstall: $(tail -n 3 "$dir/log")"
left=$(find "$dir/root" ! -type d)
[ -z "$left" ] && [ ! -d "$p" ] || complain "make uninstall leaves $left"
echo "installed: $failed failed"
[ "$failed" = 0 ]
