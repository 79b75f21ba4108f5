from torch.distributed.fsdp import FullyShardedDataParallel
from torch.optim import AdamW
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=kinds[settings.kind])
model = FullyShardedDataParallel(model)
optimizer = AdamW(model.parameters())
for batch in DataLoader(texts, batch_size=4):
    model(**batch).loss.backward()
    optimizer.step()
