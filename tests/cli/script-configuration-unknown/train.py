import argparse
import torch
from transformers import BertConfig, BertForPreTraining

parser = argparse.ArgumentParser()
parser.add_argument("--config_file", default=None)
args = parser.parse_args()
config = BertConfig.from_json_file(args.config_file)
model = torch.nn.parallel.DistributedDataParallel(BertForPreTraining(config))
optimizer = torch.optim.AdamW(model.parameters())
for batch in torch.utils.data.DataLoader(texts, batch_size=8):
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
