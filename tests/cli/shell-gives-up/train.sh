#!/bin/bash
# Without its settings, or of another size, the script ends: what is left is known.
SETTINGS=${DIR}/settings.json
if [ -f "$SETTINGS" ]; then
    BATCH=4
else
    echo "no settings" >&2
    exit 1
fi
if [ ! -d "$DIR/data" ]; then
    echo "no data"
    exit 2;
else
    LENGTH=256
fi
ARGS=(--model_name_or_path "gpt2" --run_name "a b" --fp16)
WORDS=$(printf " %q" "${ARGS[@]}")
if command -v torchrun; then CMD=torchrun; else CMD=python; fi
eval "torchrun --nproc_per_node 4 run_clm.py --per_device_train_batch_size $BATCH --block_size $LENGTH $WORDS"
