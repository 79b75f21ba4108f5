import lightning as L
import torch
from lightning.pytorch.strategies import DeepSpeedStrategy
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM


class Tuner(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = AutoModelForCausalLM.from_pretrained("gpt2-xl")

    def training_step(self, batch, index):
        return self.model(**batch).loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-4)


train_loader = DataLoader(texts, batch_size=4, shuffle=True)
trainer = L.Trainer(
    accelerator="gpu",
    devices=8,
    num_nodes=2,
    strategy=DeepSpeedStrategy(stage=3, offload_optimizer=True),
    precision="bf16-mixed",
    accumulate_grad_batches=2,
    gradient_clip_val=1.0,
    overfit_batches=0.1,
)
trainer.fit(Tuner(), train_loader)
