# options with "=", and a variable by which the program chooses its trainer
export MODE=sft
ZERO=zero3.yaml
PRECISION=bf16 accelerate launch --config_file=$ZERO train.py --config=sft.yaml
