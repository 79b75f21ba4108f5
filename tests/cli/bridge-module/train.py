# A recipe by its module's name, and a file that the script itself puts over it.
import argparse
from pathlib import Path

from megatron.bridge.recipes.qwen.qwen3_14b import pretrain_config
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain
from megatron.bridge.training.utils.omegaconf_utils import apply_overrides, create_omegaconf_dict_config
from omegaconf import OmegaConf

OWN_FILE: Path = Path(__file__).parent.resolve() / "conf" / "own.yaml"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config-file", type=str, default=str(OWN_FILE))
    args, words = parser.parse_known_args()
    cfg = pretrain_config()
    merged, excluded = create_omegaconf_dict_config(cfg)
    if args.config_file:
        own = OmegaConf.load(args.config_file)
        merged = OmegaConf.merge(merged, own)
    apply_overrides(cfg, OmegaConf.to_container(merged, resolve=True), excluded)
    pretrain(config=cfg, forward_step_func=forward_step)


if __name__ == "__main__":
    main()
