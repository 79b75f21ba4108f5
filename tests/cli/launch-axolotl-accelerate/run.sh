#!/bin/bash
accelerate launch --config_file ds.yaml --num_machines 2 -m axolotl.cli.train job.yml --max-steps 300
