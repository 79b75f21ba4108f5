# Colossal-AI as it was before its booster: what it shards is not read, and a loader of an
# evaluation says nothing of the training's batch.
import colossalai
from colossalai.nn.optimizer import HybridAdam
from colossalai.utils import get_dataloader
from colossalai.zero import ZeroOptimizer
from torch.utils.data import DataLoader
from transformers import OPTForCausalLM

colossalai.launch_from_torch(config=dict())
model = OPTForCausalLM.from_pretrained("facebook/opt-1.3b")
train_dataloader = get_dataloader(train_dataset, shuffle=True, batch_size=16)
eval_dataloader = DataLoader(eval_dataset, batch_size=8)
optimizer = ZeroOptimizer(HybridAdam(model.parameters(), lr=1e-4), model, initial_scale=2**14)
for batch in train_dataloader:
    optimizer.backward(model(**batch)["loss"])
    optimizer.step()
