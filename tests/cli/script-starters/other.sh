python other/train.py --model_name gpt2 # another program of that name, not of scripts
