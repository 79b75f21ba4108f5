NPROC_PER_NODE=8 xtuner train full.py --deepspeed deepspeed_zero2 --work-dir out
