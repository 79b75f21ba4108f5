#!/bin/bash
SOURCE=${BASH_SOURCE[0]}
while [ -L "$SOURCE" ]; do
    HERE=$( cd -P "$( dirname "$SOURCE" )" >/dev/null 2>&1 && pwd )
    SOURCE=$(readlink "$SOURCE")
done
HERE=$( cd -P "$( dirname "$SOURCE" )" >/dev/null 2>&1 && pwd )
source "$HERE/sizes.sh"
torchrun --nproc_per_node 8 pretrain_gpt.py $SIZES --micro-batch-size 2 --fp16 --vocab-size 32000 --tokenizer-type NullTokenizer
