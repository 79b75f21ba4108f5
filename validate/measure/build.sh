#!/bin/sh
# Builds the measuring program: build.sh OUTPUT. Needs nvcc with cuBLAS; NCCL where it is
# there (without it, collectives and steps on several GPUs are recorded as not built).
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

nvcc=${NVCC:-}
for path in "$(command -v nvcc || true)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" \
    /usr/local/cuda/bin/nvcc; do
    [ -z "$nvcc" ] && [ -x "$path" ] && nvcc=$path
done
[ -n "$nvcc" ] || missing "no nvcc (install the CUDA Toolkit, or give NVCC=/path/to/nvcc)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
has() { # header, library
    echo "#include <$1>" >"$work/has.cu"
    echo "int main(void) { return 0; }" >>"$work/has.cu"
    # shellcheck disable=SC2086
    "$nvcc" -o "$work/has" "$work/has.cu" ${CUDA_CFLAGS:-} ${CUDA_LDFLAGS:-} "-l$2" \
        >"$work/has.log" 2>&1
}
has cuda_runtime.h cudart || missing "$nvcc does not compile: $(tail -n 1 "$work/has.log")"
has cublasLt.h cublasLt || missing "no cuBLAS (install libcublas-dev of the CUDA Toolkit)"
nccl="-lnccl"
if ! has nccl.h nccl; then
    echo "smsim-measure: no NCCL here (libnccl-dev): built without collectives" >&2
    nccl=""
    CUDA_CFLAGS="${CUDA_CFLAGS:-} -DSMSIM_NO_NCCL"
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
' sh {} "$nvcc" "$codes" "${CUDA_CFLAGS:-}" "$work" >"$log" 2>&1 || true
cat "$log" >&2
[ ! -f "$work/failed" ] || missing "$(tr '\n' ' ' <"$work/failed")did not compile"
# shellcheck disable=SC2086
"$nvcc" -o "$work/out" "$work"/*.o ${CUDA_LDFLAGS:-} -lcublas -lcublasLt $nccl -lpthread \
    >"$work/ld.log" 2>&1 || missing "$(tail -n 1 "$work/ld.log")"
mv "$work/out" "$out"
