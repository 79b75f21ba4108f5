python hf_to_megatron_generate_text.py --hf_model_path x --prompt "a"
