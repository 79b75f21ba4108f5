import functools, torch, argparse
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, MixedPrecision, ShardingStrategy, CPUOffload
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import apply_activation_checkpointing
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("meta-llama/Llama-2-7b-hf")
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--model-name", default="meta-llama/Llama-2-7b-hf")
    args = parser.parse_args()
    model = AutoModelForCausalLM.from_pretrained(args.model_name, attn_implementation="flash_attention_2")
    bf16_policy = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32, buffer_dtype=torch.bfloat16)
    model = FSDP(model, sharding_strategy=ShardingStrategy.HYBRID_SHARD, mixed_precision=bf16_policy, device_id=0, limit_all_gathers=True, cpu_offload=CPUOffload(offload_params=False))
    apply_activation_checkpointing(model)
    train_ds = [tokenizer(x, max_length=2048, padding="max_length", truncation=True) for x in data]
    val_loader = DataLoader(val_ds, batch_size=64)
    train_loader = DataLoader(train_ds, batch_size=args.batch_size, num_workers=2, sampler=s)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    for batch in train_loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
if __name__ == "__main__":
    main()
