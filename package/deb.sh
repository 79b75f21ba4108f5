#!/bin/sh
# A Debian package of what $1 (build) holds, as build/smsim_VERSION_ARCH.deb. $2 is the
# release (PKGS: the libraries, of the Makefile), DEBFULLNAME and DEBEMAIL are its maintainer. Dependencies are those of the program's and the library's shared libraries.
set -eu
cd "$(dirname "$0")/.."
build=$1
version=$2
for tool in dpkg-deb dpkg-shlibdeps gzip strip; do
    command -v $tool >/dev/null || { echo "deb: $tool is not here (apt-get install dpkg-dev binutils)" >&2 && exit 1; }
done
arch=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-The smsim authors} <${DEBEMAIL:-smsim@localhost}>"
work=$build/deb
rm -rf "$work"
mkdir -p "$work/debian" "$work/root/DEBIAN"
LIBDIR=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH) sh package/install.sh install "$build" "$work/root/usr"
root=$work/root

# what policy asks of files
doc=$root/usr/share/doc/smsim
rm "$doc/LICENSE"
cat package/copyright LICENSE >"$doc/copyright"
# in place of the list of changes
{
    echo "smsim ($version) unstable; urgency=medium"
    echo
    echo "  * Release $version."
    echo
    echo " -- $maintainer  Thu, 01 Jan 2026 00:00:00 +0000"
} | gzip -9n >"$doc/changelog.gz"
gzip -9n "$root"/usr/share/man/man1/*.1
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root/usr/bin/smsim"
find "$root/usr/lib" -name '*.so.*' -type f -exec strip --strip-unneeded --remove-section=.comment --remove-section=.note {} + 2>/dev/null || true
find "$root/usr/lib" -name '*.a' -exec strip --strip-debug --enable-deterministic-archives {} + 2>/dev/null || true
find "$root" -name '*.so.*' -type f -exec chmod 644 {} +
find "$root" -type d -exec chmod 755 {} +
mkdir -p "$root/usr/share/lintian/overrides"
cp package/lintian-overrides "$root/usr/share/lintian/overrides/smsim"
chmod 644 "$root/usr/share/lintian/overrides/smsim" "$doc/copyright"

printf 'Source: smsim\n\nPackage: smsim\nArchitecture: any\n' >"$work/debian/control"
# libraries that are loaded when they are needed (base/late.h): an object that names them
"${CC:-cc}" -shared -o "$work/root/late.so" -Wl,--no-as-needed $(pkg-config --libs-only-L --libs-only-l pangocairo sqlite3 libmicrohttpd)
objects=$(cd "$work" && echo root/late.so && find root/usr -name smsim -type f -perm -u+x -o -name 'libsmsim.so.*' -type f)
# shellcheck disable=SC2086 # several
depends=$(cd "$work" && dpkg-shlibdeps -O $objects 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
rm "$root/late.so"
if [ -e "$root"/usr/lib/*/libsmsim.so ]; then
    echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
    soname=$(cd "$root"/usr/lib/*/ && ls libsmsim.so.? | sed 's/libsmsim.so.//')
    echo "libsmsim $soname smsim (>= $version)" >"$root/DEBIAN/shlibs"
fi
{
    echo "Package: smsim"
    echo "Version: $version"
    echo "Architecture: $arch"
    echo "Maintainer: $maintainer"
    echo "Installed-Size: $(du -sk "$root/usr" | cut -f1)"
    echo "Depends: $depends"
    echo "Section: science"
    echo "Priority: optional"
    cat package/description
} >"$root/DEBIAN/control"
(cd "$root" && find usr -type f -exec md5sum {} +) | sort -k2 >"$root/DEBIAN/md5sums"
out=$build/smsim_${version}_$arch.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$out" >/dev/null
echo "$out"
if command -v lintian >/dev/null; then
    lintian --tag-display-limit 0 --allow-root "$out"
else
    echo "lintian is not here: the package is not checked"
fi
