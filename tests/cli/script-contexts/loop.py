import horovod.torch as hvd
import torch
from transformers import AutoModelForSequenceClassification


def main(batch=24, steps=2):
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased").cuda()
    optimizer = hvd.DistributedOptimizer(torch.optim.AdamW(model.parameters()), backward_passes_per_step=steps)
    with (rows.make_torch_dataloader(cur_shard=hvd.rank(), shard_count=hvd.size(), batch_size=batch) as train_rows,
          held.make_torch_dataloader(batch_size=64) as test_rows):
        for x in train_rows:
            loss = model(**x).loss
            loss.backward()
            optimizer.step()


HorovodRunner(np=8).run(main)
