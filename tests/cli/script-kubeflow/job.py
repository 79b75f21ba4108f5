from kubeflow.trainer import TrainerClient, CustomTrainer

def train_gpt():
    import torch
    from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B", torch_dtype=torch.bfloat16)
    args = TrainingArguments(output_dir="/out", per_device_train_batch_size=4, gradient_accumulation_steps=2, bf16=True, gradient_checkpointing=True)
    trainer = Trainer(model=model, args=args, train_dataset=ds)
    trainer.train()

client = TrainerClient()
job = client.train(
    runtime=client.get_runtime("torch-distributed"),
    trainer=CustomTrainer(
        func=train_gpt,
        num_nodes=2,
        resources_per_node={"cpu": 8, "memory": "64Gi", "nvidia.com/gpu": 4},
        packages_to_install=["transformers"],
    ),
)
