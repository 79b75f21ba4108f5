import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision
from torch.distributed.fsdp.wrap import enable_wrap, wrap
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

torch.distributed.init_process_group("nccl")
seq_len = 1024


def put(model):
    types = MixedPrecision(param_dtype=torch.float32, reduce_dtype=torch.bfloat16)
    with enable_wrap(wrapper_cls=FSDP, auto_wrap_policy=policy, mixed_precision=types):
        for name, part in model.named_children():
            model.add_module(name, wrap(part))
    return model.cuda()


model = put(AutoModelForCausalLM.from_pretrained("gpt2-large", torch_dtype=torch.bfloat16))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for x in DataLoader(texts(seq_len), batch_size=4):
    with torch.amp.autocast(device_type="cuda", dtype=torch.bfloat16):
        loss = model(x).loss
    loss.backward()
    optimizer.step()
