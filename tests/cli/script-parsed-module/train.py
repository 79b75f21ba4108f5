import torch

from options import read_options

args = read_options()
model = torch.nn.Transformer(args.width)
model = torch.nn.DataParallel(model)
optimizer = torch.optim.AdamW(model.parameters())
train_loader = torch.utils.data.DataLoader(data, batch_size=args.batch_size)
for x in train_loader:
    model(x).sum().backward()
    optimizer.step()
