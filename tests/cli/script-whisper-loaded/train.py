import torch
import whisper
from torch.utils.data import DataLoader

model = whisper.load_model("small", device="cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for sounds, texts, labels in DataLoader(data, batch_size=8, shuffle=True):
    loss = torch.nn.functional.cross_entropy(model(sounds, texts).transpose(1, 2), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
