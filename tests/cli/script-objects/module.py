import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification


class Texts(pl.LightningDataModule):
    def __init__(self, task, train_batch_size=32, eval_batch_size=64):
        super().__init__()
        self.save_hyperparameters()

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.hparams.train_batch_size)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=self.hparams.eval_batch_size)


class Classifier(pl.LightningModule):
    def __init__(self, name, lr=2e-5):
        super().__init__()
        self.lr = lr
        self.model = AutoModelForSequenceClassification.from_pretrained(name)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.model.parameters(), lr=self.lr)


trainer = pl.Trainer(max_steps=1000, accelerator="gpu", devices=4, precision=16)
trainer.fit(Classifier("bert-base-cased"), datamodule=Texts("sst2", train_batch_size=16))
