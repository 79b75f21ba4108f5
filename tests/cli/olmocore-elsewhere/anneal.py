from base import build
from olmo_core.optim import LinearWithWarmup
from olmo_core.train import Duration

config = build()
config.train_module.scheduler = LinearWithWarmup(warmup_steps=0)
config.trainer.max_duration = Duration.tokens(int(50e9))
