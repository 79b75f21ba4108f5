#!/bin/bash
# Started by the job: files of its channels, processes by what SageMaker sets.
set -euo pipefail
log() { echo -e "[INFO] $1"; }
parse() {
    while [[ $# -gt 0 ]]; do
        case "$1" in
            --accelerate_config) ACCELERATE="$2"; shift 2 ;;
            --config) CONFIG="$2"; shift 2 ;;
            *) log "unknown: $1"; exit 1 ;;
        esac
    done
}
main() {
    parse "$@"
    gpus="$(printf '%s' "$SM_NUM_GPUS" | tr -d '[:space:]')"
    log "starting on $gpus GPUs"
    accelerate launch --config_file "$ACCELERATE" --num_machines "$SM_HOST_COUNT" \
        --num_processes $((gpus * SM_HOST_COUNT)) train.py --config "$CONFIG"
}
main "$@"
