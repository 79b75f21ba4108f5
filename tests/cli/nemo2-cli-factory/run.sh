#!/bin/bash
python custom.py --factory "mixtral_8x7b(num_nodes=4)" "data.global_batch_size*=2" -y
