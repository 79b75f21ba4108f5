import pytorch_lightning as pl
from pytorch_lightning.plugins import DeepSpeedPlugin
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2-xl")
train_loader = DataLoader(texts, batch_size=4)
trainer = pl.Trainer(gpus="0,1,2,3", plugins=DeepSpeedPlugin(stage=3), precision=16)
trainer.fit(Tuner(model), train_loader)
