from colossalai.amp import AMP_TYPE
from titans.model.gpt import gpt2_large
from torch.optim import Adam

BATCH_SIZE = 16
NUM_MICRO_BATCHES = 8
SEQ_LEN = 1024
PIPELINE = 2
RANKS = 4

parallel = dict(pipeline=PIPELINE, tensor=dict(size=RANKS, mode="1d"))
fp16 = dict(mode=AMP_TYPE.NAIVE)
optimizer = dict(type=Adam, lr=1e-4)
model = dict(type=gpt2_large, checkpoint=True)
clip_grad_norm = 1.0
