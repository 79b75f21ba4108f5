horovodrun -np 16 -H first:8,second:8 python train.py
