import argparse

from transformers import AutoModelForCausalLM, TrainingArguments
from trl import SFTTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--model_id", type=str)
parser.add_argument("--max_seq_length", type=int, default=1024)
args = parser.parse_args()
model = AutoModelForCausalLM.from_pretrained(args.model_id, device_map="auto", torch_dtype="bfloat16")
training = TrainingArguments(output_dir="/opt/ml/model", per_device_train_batch_size=4, bf16=True)
SFTTrainer(model=model, args=training, max_seq_length=args.max_seq_length).train()
