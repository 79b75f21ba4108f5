from transformers import AutoModelForCausalLM, Mxfp4Config
from trl import SFTConfig, SFTTrainer

stored = Mxfp4Config(dequantize=True)
model = AutoModelForCausalLM.from_pretrained(
    "openai/gpt-oss-20b", attn_implementation="eager", torch_dtype="auto", quantization_config=stored
)
args = SFTConfig(
    output_dir="out",
    per_device_train_batch_size=1,
    max_length=1024,
    gradient_checkpointing=False,  # FSDP does it
)
SFTTrainer(model=model, args=args, train_dataset=rows).train()
