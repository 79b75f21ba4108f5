#!/bin/sh
# Installs what the build needs and lacks, with the system's package manager; where that
# cannot be, prints the exact command. Does nothing when all is there.
set -eu
apt_packages="gcc libc6-dev pkg-config libjansson-dev libgsl-dev libcairo2-dev libpango1.0-dev libexpat1-dev libfyaml-dev zlib1g-dev libsqlite3-dev libmicrohttpd-dev libcunit1-dev uthash-dev"
dnf_packages="gcc glibc-devel pkgconf-pkg-config jansson-devel gsl-devel cairo-devel pango-devel expat-devel libfyaml-devel zlib-devel sqlite-devel libmicrohttpd-devel CUnit-devel uthash-devel"

if [ -n "${BROWSER:-}" ]; then # make browser
    apt_packages="$apt_packages chromium chromium-driver python3"
    dnf_packages="$dnf_packages chromium chromedriver python3"
fi
if [ -n "${MPI:-}" ]; then # make MPI=1
    apt_packages="$apt_packages libopenmpi-dev openmpi-bin"
    dnf_packages="$dnf_packages openmpi-devel"
fi

have_all() {
    command -v "${CC:-cc}" >/dev/null && command -v pkg-config >/dev/null &&
        { [ -z "${BROWSER:-}" ] || command -v chromedriver >/dev/null; } &&
        pkg-config --exists jansson gsl cairo pangocairo expat libfyaml zlib sqlite3 libmicrohttpd ${MPI:+ompi-c} &&
        printf "#include <CUnit/Basic.h>\n#include <uthash.h>\n" | "${CC:-cc}" -E - >/dev/null 2>&1
}

have_all && exit 0
if command -v apt-get >/dev/null; then
    update="apt-get update -qq"
    install="env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $apt_packages"
elif command -v dnf >/dev/null; then
    update="true"
    install="dnf install -y -q $dnf_packages"
else
    echo "smsim needs these packages: $apt_packages" >&2
    exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "packages are missing; as root, run: $install" >&2
        exit 1
    fi
    sudo="sudo"
fi
echo "installing what is missing: $install"
$sudo $update && $sudo $install >/dev/null || {
    echo "that failed; by hand: $sudo $update && $sudo $install" >&2
    # Fedora and Debian have libfyaml; Amazon Linux and RHEL may lack it
    pkg-config --exists libfyaml || echo "where no package libfyaml-devel is: build libfyaml 0.7 or later from its source (autotools), and run this again" >&2
    exit 1
}
have_all || { echo "packages are installed but not found by pkg-config" >&2; exit 1; }
