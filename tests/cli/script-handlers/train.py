import torch
from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import DDPCommunicationHookType, DistributedDataParallelKwargs
from transformers import AutoConfig, AutoModelForMaskedLM

ddp = DistributedDataParallelKwargs(
    static_graph=True, bucket_cap_mb=100, comm_hook=DDPCommunicationHookType.FP16
)
accelerator = Accelerator(
    mixed_precision="fp16",
    gradient_accumulation_steps=8,
    kwargs_handlers=[ddp],
    dataloader_config=DataLoaderConfiguration(split_batches=True),
)
model = AutoModelForMaskedLM.from_config(AutoConfig.from_pretrained("roberta-large"))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
loader = torch.utils.data.DataLoader(dataset, batch_size=256)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for batch in loader:
    with accelerator.accumulate(model):
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        optimizer.zero_grad()
