import argparse
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer


def log_probs(model, ids, mask):
    logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1]
    lp = torch.gather(logits.log_softmax(-1), 2, ids[:, 1:].unsqueeze(2)).squeeze(2)
    return (lp * mask[:, 1:]).sum(-1)


def dpo_loss(pc, pr, rc, rr, beta):
    return -F.logsigmoid(beta * ((pc - pr) - (rc - rr))).mean()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--model", default="Qwen/Qwen2.5-0.5B-Instruct")
    ap.add_argument("--beta", type=float, default=0.1)
    ap.add_argument("--batch_size", type=int, default=4)
    ap.add_argument("--max_length", type=int, default=512)
    args = ap.parse_args()
    tok = AutoTokenizer.from_pretrained(args.model)
    policy = AutoModelForCausalLM.from_pretrained(args.model, torch_dtype=torch.bfloat16).cuda()
    ref_model = AutoModelForCausalLM.from_pretrained(args.model, torch_dtype=torch.bfloat16).cuda()
    ref_model.eval()
    data = load(tok, args.max_length)
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True)
    opt = torch.optim.AdamW(policy.parameters(), lr=5e-7)
    for batch in loader:
        pc = log_probs(policy, batch["chosen"], batch["chosen_mask"])
        pr = log_probs(policy, batch["rejected"], batch["rejected_mask"])
        with torch.no_grad():
            rc = log_probs(ref_model, batch["chosen"], batch["chosen_mask"])
            rr = log_probs(ref_model, batch["rejected"], batch["rejected_mask"])
        loss = dpo_loss(pc, pr, rc, rr, args.beta)
        loss.backward()
        opt.step()
        opt.zero_grad()


main()
