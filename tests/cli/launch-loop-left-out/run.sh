for step in 100 200 300; do
    python convert_checkpoint.py --step $step
done
torchrun --nproc_per_node 8 run_clm.py --model_name_or_path gpt2 --block_size 512 \
    --per_device_train_batch_size 4 --do_train
