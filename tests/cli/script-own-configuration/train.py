import argparse, torch
from turing.nv import BertForQuestionAnswering, BertConfig
from torch.utils.data import DataLoader
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--train_batch_size", type=int)
    args = parser.parse_args()
    bert_model_config = {
        "vocab_size_or_config_json_file": 30528,
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
    }
    bert_config = BertConfig(**bert_model_config)
    model = BertForQuestionAnswering(bert_config)
    model = torch.nn.parallel.DistributedDataParallel(model)
    opt = torch.optim.AdamW(model.parameters())
    loader = DataLoader(data, batch_size=args.train_batch_size)
    for b in loader:
        loss = model(b)
        loss.backward()
        opt.step()
main()
