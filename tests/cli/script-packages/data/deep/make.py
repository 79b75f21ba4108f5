from transformers import AutoModelForCausalLM

from ..parts import SIZE


def load(kind):
    return AutoModelForCausalLM.from_pretrained("gpt2-medium" if kind == SIZE else "gpt2")
