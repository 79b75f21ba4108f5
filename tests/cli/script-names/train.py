import torch
from datasets import load_dataset
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision, ShardingStrategy
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM


def epoch(net, rule, plan, batches):
    for i, x in enumerate(batches):
        with torch.cuda.amp.autocast(False):
            total = net(x).loss
        total.backward()
        plan.step()
        if (i + 1) % 3 == 0:
            rule.step()


torch.distributed.init_process_group("nccl")
student = AutoModelForCausalLM.from_pretrained("gpt2")
student.bfloat16()
half = MixedPrecision(torch.bfloat16, torch.float32)
student = FSDP(student, None, ShardingStrategy.SHARD_GRAD_OP, None, None, None, half)
adam = torch.optim.AdamW(student.parameters(), lr=1e-4)
epoch(student, adam, LambdaLR(adam, lambda n: 1), DataLoader(load_dataset("text"), 4))
