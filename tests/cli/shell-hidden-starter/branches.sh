if [ "$USE_UV" = 1 ]; then
    START="uv run torchrun"
else
    START=torchrun
fi
$START --nproc_per_node=4 run_clm.py --model_name_or_path gpt2 --per_device_train_batch_size 4 --block_size 512 --fp16
