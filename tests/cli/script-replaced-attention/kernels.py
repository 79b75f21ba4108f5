from transformers.models.llama import modeling_llama


def replace_llama_attn_with_flash_attn():
    modeling_llama.LlamaAttention.forward = forward
