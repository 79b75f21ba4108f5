D=/home/somebody/projects/with/a/very/long/path/of/many/parts/of/a/tree
source $D/settings/environment_of_the_cluster.sh
torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 4 --global-batch-size 64 --vocab-size 50257 --tokenizer-type NullTokenizer --fp16 --train-iters 10 --deepspeed --deepspeed_config $D/configs/ds_config_of_this_job.json
