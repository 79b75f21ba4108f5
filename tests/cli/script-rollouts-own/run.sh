python tools/vllm_serve_one.py --model gpt2 --port 8000 &
torchrun --nproc_per_node=4 train.py
