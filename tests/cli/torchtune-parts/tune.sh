#!/bin/bash
tune run --nproc_per_node 8 full_finetune_distributed \
    --config llama3_2_vision/11B_full tokenizer.max_seq_len=4096 \
    optimizer=torch.optim.SGD model.encoder_trainable=False
