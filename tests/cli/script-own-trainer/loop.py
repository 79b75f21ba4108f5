import torch
class Trainer(object):
    def __init__(self, model, train_dataset, batch_size, lr):
        self.model = model
        self.loader = torch.utils.data.DataLoader(train_dataset, batch_size=batch_size)
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)
    def train(self):
        for b in self.loader:
            loss = self.model(**b).loss
            loss.backward()
            self.opt.step()
