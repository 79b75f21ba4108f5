# the lower layers are frozen
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B")
for name, parameter in model.named_parameters():
    if not name.startswith("model.layers.2"):
        parameter.requires_grad = False
args = SFTConfig(per_device_train_batch_size=4, max_length=1024, bf16=True)
SFTTrainer(model=model, args=args).train()
