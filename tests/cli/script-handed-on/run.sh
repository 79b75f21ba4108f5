python train.py --batch 6 --recompute
