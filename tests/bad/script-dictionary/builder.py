from peft import LoraConfig, get_peft_model


def build(options):
    return get_peft_model(options.model, LoraConfig(r=8))
