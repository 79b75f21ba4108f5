python train.py --batch-size 256
