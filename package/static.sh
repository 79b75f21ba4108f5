#!/bin/sh
# A tarball with a static program (glibc, every library within it) and its data, which
# runs on any Linux of the architecture: build/smsim-VERSION-linux-ARCH.tar.gz. $1 is
# build, $2 the release; the rest is the command that links, without libraries.
set -eu
cd "$(dirname "$0")/.."
build=$1
version=$2
shift 2
name=smsim-$version-linux-$(uname -m)
top=$build/static/$name
rm -rf "$build/static"
mkdir -p "$top"
# cairo.pc leaves gobject's out, which its .a calls
# shellcheck disable=SC2086 # several
libs="$(pkg-config --static --libs $PKGS) $(pkg-config --static --libs gobject-2.0)"
# shellcheck disable=SC2086 # several
if ! "$@" -static -o "$build/static/smsim" -fopenmp $libs -lm 2>"$build/static/log"; then
    cat "$build/static/log" >&2
    echo "static: a library has no .a: on Debian, libcairo2-dev and the others of make deps have" >&2
    exit 1
fi
strip "$build/static/smsim"
if ldd "$build/static/smsim" >/dev/null 2>&1; then
    echo "static: the program still needs shared libraries" >&2
    exit 1
fi
ln -sf ../man "$build/static/"
sh package/install.sh install "$build/static" "$top"
tar --sort=name --owner=0 --group=0 --mtime='2026-01-01 00:00Z' -C "$build/static" -cf - "$name" |
    gzip -9n >"$build/$name.tar.gz"
echo "$build/$name.tar.gz"
