colossalai run --nproc_per_node 8 --hostfile hosts.txt finetune.py --target_f1 0.86 --plugin hybrid_parallel --model_type bert
colossalai run --nproc_per_node 8 train_ppo.py --pretrain x --plugin zero2
