from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM


def adapted(size, rank):
    model = AutoModelForCausalLM.from_pretrained(size)
    return get_peft_model(model, LoraConfig(r=rank, target_modules=["c_attn"]))
