import argparse

import modeling
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--config_file")
parser.add_argument("--batch", type=int)
parser.add_argument("--max_seq_length", type=int)
args = parser.parse_args()
config = modeling.BertConfig.from_json_file(args.config_file)
model = DDP(modeling.BertForPreTraining(config).cuda())
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(data, batch_size=args.batch, shuffle=True):
    loss = model(**batch)
    loss.backward()
    optimizer.step()
