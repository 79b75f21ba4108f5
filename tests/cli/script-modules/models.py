import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig


def quantised(bits):
    if bits == 4:
        return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
    return None


def load(name, bits=16):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name, quantization_config=quantised(bits), torch_dtype=torch.bfloat16)
    return prepare_model_for_kbit_training(model), tokenizer


def adapt(model, rank):
    return get_peft_model(model, LoraConfig(r=rank, target_modules="all-linear"))


def merge(model):
    return AutoModelForCausalLM.from_pretrained("gpt2")
