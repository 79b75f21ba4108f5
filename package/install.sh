#!/bin/sh
# Installs what $1 (build) holds under $2, a prefix with DESTDIR in front, or takes it out
# again:
#     package/install.sh install|uninstall build /usr/local
# The data go to share/smsim, where the program finds them from bin and lib.
set -eu
cd "$(dirname "$0")/.."
what=$1
build=$2
prefix=$3
lib=$prefix/${LIBDIR:-lib}
share=$prefix/share

completions() { # lines "SHELL FILE"
    echo "bash bash-completion/completions/smsim"
    echo "zsh zsh/site-functions/_smsim"
    echo "fish fish/vendor_completions.d/smsim.fish"
}

uninstall() {
    rm -f "$prefix/bin/smsim" "$prefix/bin/smsim-measure" "$share"/man/man1/smsim.1 "$share"/man/man1/smsim-*.1
    rm -f "$prefix/include/smsim.h" "$lib"/libsmsim.a "$lib"/libsmsim.so "$lib"/libsmsim.so.* "$lib/pkgconfig/smsim.pc"
    rm -rf "$share/smsim" "$share/doc/smsim"
    completions | while read -r _ file; do rm -f "$share/$file"; done
    # folders that this leaves empty
    for folder in share/man/man1 share/man share/bash-completion/completions share/bash-completion \
        share/zsh/site-functions share/zsh share/fish/vendor_completions.d share/fish share/doc share \
        include "${LIBDIR:-lib}/pkgconfig" "${LIBDIR:-lib}" bin; do
        rmdir "$prefix/$folder" 2>/dev/null || true
    done
    rmdir "$prefix" 2>/dev/null || true
}

# copy FOLDER...: data, readable by all; programs and scripts of validate/ are of the repository
copy() {
    for folder in "$@"; do
        find "$folder" -type d -exec sh -c 'for d; do mkdir -p "$0/$d"; done' "$share/smsim" {} +
        find "$folder" -type f ! -path 'validate/measure/*' ! -name '*.sh' -exec sh -c '
            for f; do install -m 644 "$f" "$0/$f"; done' "$share/smsim" {} +
    done
    find "$share/smsim" -type d -empty -delete
}

program() {
    install -d "$prefix/bin" "$share/man/man1" "$share/doc/smsim/docs/validation" "$share/doc/smsim/docs/images"
    install -m 755 "$build/smsim" "$prefix/bin/smsim"
    [ ! -x "$build/smsim-measure" ] || install -m 755 "$build/smsim-measure" "$prefix/bin"
    install -m 644 "$build"/man/smsim*.1 "$share/man/man1"
    install -m 644 README.md MODEL.md LICENSE "$share/doc/smsim"
    install -m 644 docs/*.md "$share/doc/smsim/docs"
    install -m 644 docs/validation/*.md "$share/doc/smsim/docs/validation"
    install -m 644 docs/images/* "$share/doc/smsim/docs/images"
    completions | while read -r shell file; do
        install -d "$(dirname "$share/$file")"
        "$build/smsim" --completion "$shell" >"$share/$file"
        chmod 644 "$share/$file"
    done
}

# the prefix as seen from the folder of smsim.pc, so that all of it may be moved
up() {
    echo "${LIBDIR:-lib}/pkgconfig" | sed 's:[^/]*:..:g'
}

library() {
    [ -e "$build/libsmsim.so.0" ] || return 0 # make static has none
    install -d "$lib/pkgconfig" "$prefix/include"
    install -m 644 src/lib/smsim.h "$prefix/include/smsim.h"
    install -m 644 "$build/libsmsim.a" "$build/libsmsim.so.0" "$lib"
    ln -sf libsmsim.so.0 "$lib/libsmsim.so"
    {
        echo "prefix=\${pcfiledir}/$(up)"
        echo "libdir=\${prefix}/${LIBDIR:-lib}"
        echo "includedir=\${prefix}/include"
        echo
        echo "Name: smsim"
        echo "Description: time, memory and cost of distributed training"
        echo "Version: $(sed -n 's/.*VERSION_TEXT "\(.*\)".*/\1/p' src/base/release.h)"
        echo "Requires.private: $(echo "$PKGS" | sed "s/ *libmicrohttpd//; s/ *cairo//; s/ *sqlite3//")"
        echo "Libs: -L\${libdir} -lsmsim"
        echo "Libs.private: -fopenmp -lm -lpthread -ldl"
        echo "Cflags: -I\${includedir}"
    } >"$lib/pkgconfig/smsim.pc"
    chmod 644 "$lib/pkgconfig/smsim.pc"
}

case $what in
install)
    uninstall # of an older release, whose data may be others
    program
    library
    copy models topologies scenarios schemas validate
    ;;
uninstall) uninstall ;;
*) echo "install.sh: install or uninstall" >&2 && exit 2 ;;
esac
