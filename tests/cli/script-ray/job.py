import ray
from ray.train.torch import TorchTrainer
from ray.train import ScalingConfig
def train_func(cfg):
    from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    args = TrainingArguments("out", per_device_train_batch_size=4, bf16=True)
    trainer = Trainer(model=model, args=args)
    trainer.train()
trainer = TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=16, use_gpu=True))
trainer.fit()
