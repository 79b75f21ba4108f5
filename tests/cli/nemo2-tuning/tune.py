from nemo.collections import llm

recipe = llm.mistral_7b.finetune_recipe(num_nodes=1, peft_scheme="lora", packed_sequence=True)
recipe.peft.dim = 16
recipe.peft.target_modules = ["linear_qkv", "linear_proj"]
