from settings.machines import PRECISION

MODEL_ID = "meta-llama/Llama-3.1-8B"
COMMON = {"gradient_accumulation_steps": 4, PRECISION: True, "gradient_checkpointing": True,
          "fsdp": "full_shard auto_wrap", "max_steps": 500}
