export CUDA_VISIBLE_DEVICES=0,1
python tune.py --batch_size 4 --context_length 256 --model_name gpt2-xl
