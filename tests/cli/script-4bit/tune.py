# QLoRA by TRL: what is not in 4 bits is cast to bf16
import torch
from peft import LoraConfig, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from trl import SFTConfig, SFTTrainer

quantization = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_quant_type="nf4",
    bnb_4bit_use_double_quant=True,
    bnb_4bit_compute_dtype=torch.bfloat16,
)
model = AutoModelForCausalLM.from_pretrained(
    "meta-llama/Llama-3.1-8B", quantization_config=quantization
)
model = prepare_model_for_kbit_training(model)
adapters = LoraConfig(r=16, target_modules="all-linear", task_type="CAUSAL_LM")
args = SFTConfig(
    per_device_train_batch_size=2,
    gradient_accumulation_steps=8,
    max_length=2048,
    bf16=True,
)
SFTTrainer(model=model, args=args, peft_config=adapters).train()
