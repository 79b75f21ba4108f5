from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM


def plain(name):
    return AutoModelForCausalLM.from_pretrained(name)


def adapted(name):
    return get_peft_model(plain(name), LoraConfig(r=20, target_modules=["c_attn"]))
