#!/bin/bash
python custom.py data.global_batch_size=64 data.micro_batch_size=2 "trainer.max_steps*=2" -y
