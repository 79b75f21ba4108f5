#!/bin/sh
# The program for arm64, under qemu, against the one given as $1 ($2: build): the commands of
# tests/walk/everywhere.txt print the same words, and numbers to 1e-12 of each other. Needs
# Debian's gcc-aarch64-linux-gnu and qemu-user-static; the libraries are downloaded from its
# archive and unpacked into build/arm64, nothing is installed.
# shellcheck source=tests/setup.sh
. "$(dirname "$0")/setup.sh"
build=$(realpath "$2")/arm64
root=$build/root
for tool in aarch64-linux-gnu-gcc qemu-aarch64-static apt-get; do
    command -v $tool >/dev/null || { echo "arm64: $tool is not here" && exit 0; }
done

# the archive's packages of that architecture, by an apt with a state of its own
unpack() {
    mkdir -p "$build/apt/lists/partial" "$build/apt/archives/partial" "$build/debs"
    : >"$build/apt/status"
    set -- -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
        -o Dir::State="$build/apt" -o Dir::State::status="$build/apt/status" -o Dir::Cache="$build/apt"
    (cd "$build/debs" && apt-get "$@" update && apt-get "$@" download libjansson-dev libjansson4 libgsl-dev libgsl27 \
        libgslcblas0 libcairo2-dev libexpat1-dev libexpat1 libfyaml-dev libfyaml0 zlib1g-dev zlib1g libsqlite3-dev \
        libmicrohttpd-dev uthash-dev) || return 1
    for deb in "$build"/debs/*.deb; do dpkg -x "$deb" "$root.part" || return 1; done
    rm -rf "$build/debs" "$build/apt"
    mv "$root.part" "$root"
}

[ -d "$root" ] || unpack || { echo "arm64: the archive cannot be had" && exit 1; }
lib=$root/usr/lib/aarch64-linux-gnu
make --no-print-directory BUILD="$build" CC=aarch64-linux-gnu-gcc CFLAGS=-O1 PKG_CF="-isystem $root/usr/include -isystem $root/usr/include/cairo" \
    PKG_LD="-L$lib -L$root/lib/aarch64-linux-gnu -Wl,--disable-new-dtags,-rpath,$lib:$root/lib/aarch64-linux-gnu -ljansson -lgsl -lgslcblas -lexpat -lfyaml -lz" \
    "$build/smsim" || exit 1

# numbers, and what is between them, one a line
tokens() {
    tr '\t' ' ' <"$1" | grep -oE '[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?|[^0-9]+'
}

failed=0
n=0
sed "/^#/d; s:JOB:$PWD/scenarios:g" tests/walk/everywhere.txt >"$dir/commands"
while read -r arguments; do
    n=$((n + 1))
    # shellcheck disable=SC2086 # words
    "$smsim" $arguments </dev/null >"$dir/here" 2>&1
    echo "status $?" >>"$dir/here"
    # shellcheck disable=SC2086 # words
    qemu-aarch64-static -L /usr/aarch64-linux-gnu "$build/smsim" $arguments </dev/null >"$dir/there" 2>&1
    echo "status $?" >>"$dir/there"
    tokens "$dir/here" >"$dir/a"
    tokens "$dir/there" >"$dir/b"
    paste "$dir/a" "$dir/b" | awk -F '\t' -v command="$arguments" '
        $1 == $2 { next }
        { apart = $1 - $2; size = $1 + 0 }
        $1 ~ /^[0-9]/ && $2 ~ /^[0-9]/ && (apart < 0 ? -apart : apart) <= 1e-12 * size { worst++; next }
        { print "arm64: smsim " command ": \"" $2 "\" where \"" $1 "\" should be"; bad = 1; exit }
        END { if (worst && !bad) print "arm64: smsim " command ": " worst " numbers apart by less than 1e-12"; exit bad }' || failed=$((failed + 1))
done <"$dir/commands"
echo "arm64: $n outputs, $failed differ"
[ "$failed" = 0 ]
