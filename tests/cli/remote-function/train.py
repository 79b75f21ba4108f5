# A function that SageMaker's SDK runs as a job; the instances are in config.yaml.
from huggingface_hub import snapshot_download
from sagemaker.remote_function import remote
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def copy_model(name):
    snapshot_download(repo_id=name, local_dir="/tmp/base")


@remote(volume_size=100, use_torchrun=True)
def train_fn(name, samples, batch=8, length=512):
    copy_model(name)
    name = "/tmp/base"
    model = AutoModelForCausalLM.from_pretrained(name, attn_implementation="sdpa")
    samples = samples.map(lambda s: tokenizer(s["text"], max_length=1024, truncation=True, padding="max_length"))
    arguments = TrainingArguments(output_dir="/tmp/out", bf16=True, max_steps=10,
                                  per_device_train_batch_size=batch)
    Trainer(model=model, train_dataset=samples, args=arguments).train()


train_fn("Qwen/Qwen2.5-0.5B", samples=None, batch=2)
