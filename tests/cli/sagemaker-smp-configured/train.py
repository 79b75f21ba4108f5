import smdistributed.modelparallel.torch as smp
from torch.optim import AdamW
from transformers import AutoModelForCausalLM, GPTJConfig

config = GPTJConfig(n_embd=args.hidden_width, n_layer=args.num_layers, n_head=args.num_heads)
model = smp.DistributedModel(AutoModelForCausalLM.from_config(config))
for layer in model.get_module().transformer.h:
    smp.set_activation_checkpointing(layer)
optimizer = smp.DistributedOptimizer(AdamW(model.parameters()))


@smp.step
def train_step(model, batch):
    loss = model(**batch)["loss"]
    model.backward(loss)
    return loss
