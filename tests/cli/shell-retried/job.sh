attempt=0
while true; do
  left=$((END - $(date +%s)))
  if (( left <= 600 )); then
    exit 75
  fi
  attempt=$((attempt + 1))
  if torchrun --nproc_per_node 8 run_clm.py --do_train --model_name_or_path gpt2 --per_device_train_batch_size 4 --block_size 512 --bf16; then
    exit 0
  fi
  sleep 30
done
