CONFIG_FILE=${CONFIG_FILE:-"./mine.toml"}
torchrun --nproc_per_node 8 ./train.py --job.config_file ${CONFIG_FILE} --training.steps 20
