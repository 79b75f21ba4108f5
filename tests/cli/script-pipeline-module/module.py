import deepspeed
import pytorch_lightning as pl
from torch.utils.data import DataLoader
from transformers import AutoModelForMaskedLM

block_size = 4
model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
config = {
    "train_micro_batch_size_per_gpu": 16, "bf16": {"enabled": True},
    "optimizer": {"type": "AdamW"}, "zero_optimization": {"stage": 2},
}


class Module(pl.LightningModule):
    def configure_optimizers(self):
        self.engine, _, _, _ = deepspeed.initialize(model=model, config=config)

    def training_step(self, batch, index):
        self.engine.backward(self.engine(**batch).loss)
        self.engine.step()


pl.Trainer(accelerator="gpu", max_steps=100).fit(Module(), DataLoader(data, batch_size=16))
