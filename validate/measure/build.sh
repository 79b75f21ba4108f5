#!/bin/sh
# Builds the measuring program: build.sh OUTPUT. Needs nvcc, and cuBLAS next to it or in
# Python's packages; NCCL where either has it (without it, collectives and steps on several
# GPUs are recorded as not built).
#   NVCC=/path/to/nvcc   CUDA_CFLAGS, CUDA_LDFLAGS: further flags (where NCCL is)
#   CUDA_ARCHS="75 100": generations to make binaries for, of those that nvcc knows;
#       "native": those of the GPUs here, which builds in a fraction of the time
# Says what is missing and ends with 3.
set -eu
out=${1:?usage: build.sh OUTPUT}
here=$(dirname "$0")
missing() {
    echo "smsim-measure is not built: $1" >&2
    exit 3
}

# The folders of NVIDIA's packages for Python, which bring headers and libraries of their
# own, the latter without a link libNAME.so.
python_folders() {
    python3 -c 'import glob, sys
for path in sys.path:
    for folder in glob.glob(glob.escape(path) + "/nvidia/*/"):
        print(folder)' 2>/dev/null || true
}

nvcc=${NVCC:-}
for path in "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" \
    /usr/local/cuda/bin/nvcc $(python_folders | sed 's|$|bin/nvcc|'); do
    [ -z "$nvcc" ] && [ -x "$path" ] && nvcc=$path
done
[ -n "$nvcc" ] || missing "no nvcc (install the CUDA Toolkit, or give NVCC=/path/to/nvcc)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cflags=${CUDA_CFLAGS:-}
ldflags=${CUDA_LDFLAGS:-}
# compiles HEADER FLAGS...: whether a program with this header does, linked with the flags
compiles() {
    printf '#include <%s>\nint main(void) { return 0; }\n' "$1" >"$work/has.cu"
    shift
    # shellcheck disable=SC2086
    "$nvcc" -o "$work/has" "$work/has.cu" $cflags "$@" $ldflags >"$work/has.log" 2>&1
}
if ! compiles cuda_runtime.h; then
    ldflags="$ldflags -L${nvcc%/*}/../lib" # where packages for Python have it
    compiles cuda_runtime.h ||
        missing "$nvcc does not compile: $(grep -m 1 -i error "$work/has.log")"
fi

# library HEADER NAME: adds what NAME is compiled and linked with, from where nvcc looks or
# else from Python's packages; the program finds it there again when it starts.
library() {
    if compiles "$1" "-l$2" -Xlinker --trace; then
        at=$(sed -n "s|^[^/]*\(/.*\)/lib$2\.so.*|\1|p" "$work/has.log" | head -n 1)
        ldflags="$ldflags -l$2${at:+ -Xlinker -rpath -Xlinker $(cd "$at" && pwd -P)}"
        return 0
    fi
    for folder in $(python_folders); do
        for file in "$folder"lib/lib"$2".so*; do
            link="-L${folder}lib -l:${file##*/} -Xlinker -rpath -Xlinker ${folder}lib"
            # shellcheck disable=SC2086
            if compiles "$1" -isystem "${folder}include" $link; then
                cflags="$cflags -isystem ${folder}include"
                ldflags="$ldflags $link"
                return 0
            fi
        done
    done
    return 1
}
library cublas_v2.h cublas && library cublasLt.h cublasLt ||
    missing "no cuBLAS (install libcublas-dev of the CUDA Toolkit)"
if ! library nccl.h nccl; then
    echo "smsim-measure: no NCCL here (libnccl-dev): built without collectives" >&2
    cflags="$cflags -DSMSIM_NO_NCCL"
fi

# The generations of the GPUs here, as nvidia-smi says; nothing where it does not.
native_archs() {
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' |
        grep '^[0-9][0-9]*$' | sort -un | tr '\n' ' ' || true
}

# Binaries for the generations that this nvcc knows, from V100 on (CUDA 13 begins with
# sm_75); GPUs between and beyond them translate the PTX of the oldest or newest.
archs=${CUDA_ARCHS:-70 75 80 90 100 120}
if [ "$archs" = native ]; then
    archs=$(native_archs)
    archs=${archs:-70 75 80 90 100 120}
fi
known=$("$nvcc" --list-gpu-arch 2>/dev/null || echo compute_80)
codes=""
oldest=""
newest=""
for arch in $archs; do
    case "$known" in
    *"compute_$arch"*)
        codes="$codes -gencode arch=compute_$arch,code=sm_$arch"
        oldest=${oldest:-$arch}
        newest=$arch
        ;;
    esac
done
[ -n "$newest" ] || missing "$nvcc knows none of these generations: $archs (CUDA_ARCHS names others)"
codes="$codes -gencode arch=compute_$newest,code=compute_$newest"
[ "$oldest" = "$newest" ] ||
    codes="$codes -gencode arch=compute_$oldest,code=compute_$oldest"

mkdir -p "$(dirname "$out")"
jobs=$(nproc 2>/dev/null || echo 1)
log=$work/log
# shellcheck disable=SC2086
for source in "$here"/*.cu; do
    echo "$source"
done | xargs -P "$jobs" -I{} sh -c '
    name=$(basename "$1" .cu)
    "$2" -O3 $3 -Xcompiler -Wall,-Wextra $4 -c "$1" -o "$5/$name.o" || echo "$1" >>"$5/failed"
' sh {} "$nvcc" "$codes" "$cflags" "$work" >"$log" 2>&1 || true
cat "$log" >&2
[ ! -f "$work/failed" ] || missing "$(tr '\n' ' ' <"$work/failed")did not compile"
# shellcheck disable=SC2086
"$nvcc" -o "$work/out" "$work"/*.o $ldflags -lpthread >"$work/ld.log" 2>&1 ||
    missing "$(tail -n 1 "$work/ld.log")"
"$work/out" --help >/dev/null 2>"$work/start.log" ||
    missing "it does not start: $(tail -n 1 "$work/start.log")"
mv "$work/out" "$out"
