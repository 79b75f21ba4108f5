torchrun --nproc_per_node=8 train_gpt.py --batch_size=16 --gradient_accumulation_steps=4 --optimizer_name=lion
