import click
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM


@click.command()
@click.option("-b", "--batch-size", default=2, type=int)
@click.option("--length", "length", default=512, show_default=True)
@click.option("--half/--no-half", default=False)
@click.option("--base", required=True)
def main(batch_size, length, half, base):
    model = AutoModelForCausalLM.from_pretrained(base, max_position_embeddings=length)
    model = DDP(model.cuda())
    opt = torch.optim.AdamW(model.parameters())
    for batch in DataLoader(rows(), batch_size=batch_size, shuffle=True):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=half):
            loss = model(**batch).loss
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
