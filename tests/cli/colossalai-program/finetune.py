import argparse

import colossalai
from colossalai.booster import Booster
from colossalai.booster.plugin import GeminiPlugin, HybridParallelPlugin, LowLevelZeroPlugin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plugin", type=str, default="gemini")
    parser.add_argument("--tp_size", type=int, default=1)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--model_type", type=str, default="bert")
    parser.add_argument("--target_f1", type=float, default=None)
    args = parser.parse_args()
    colossalai.launch_from_torch(seed=42)
    if args.plugin == "gemini":
        plugin = GeminiPlugin(offload_optim_frac=1.0, initial_scale=2**5)
    elif args.plugin == "low_level_zero":
        plugin = LowLevelZeroPlugin(initial_scale=2**5)
    elif args.plugin == "hybrid_parallel":
        plugin = HybridParallelPlugin(
            tp_size=args.tp_size,
            pp_size=2,
            num_microbatches=8,
            zero_stage=1,
            precision="bf16",
        )
    booster = Booster(plugin=plugin)


main()
