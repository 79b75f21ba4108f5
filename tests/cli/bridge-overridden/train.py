from pathlib import Path
import argparse

from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides

FILE = Path(__file__).parent.resolve() / "conf" / "short.yaml"
parser = argparse.ArgumentParser()
parser.add_argument("--config-file", type=str, default=str(FILE))
args, words = parser.parse_known_args()
cfg = llama32_1b_pretrain_config()
cfg.train.micro_batch_size = 2
cfg = process_config_with_overrides(cfg, config_filepath=args.config_file, cli_overrides=words or None)
cfg.train.train_iters = 70
pretrain(config=cfg, forward_step_func=forward_step)
