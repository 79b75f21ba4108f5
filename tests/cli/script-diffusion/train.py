import torch
from accelerate import Accelerator
from diffusers import AutoencoderKL, UNet2DConditionModel
from transformers import CLIPTextModel
from torch.utils.data import DataLoader

accelerator = Accelerator(mixed_precision="fp16")
vae = AutoencoderKL.from_pretrained("some/stable-diffusion", subfolder="vae")
unet = UNet2DConditionModel.from_pretrained("some/stable-diffusion", subfolder="unet")
text_encoder = CLIPTextModel.from_pretrained("some/stable-diffusion", subfolder="text_encoder")
optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-5)
train_dataloader = DataLoader(images, batch_size=4, shuffle=True)
