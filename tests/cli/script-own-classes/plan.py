import os
from dataclasses import dataclass


@dataclass
class Plan:
    batch_size: int = 8
    accumulation_steps_ref: int = 12
    ranks_ref: int = 4

    def __post_init__(self):
        ranks = int(os.environ.get("WORLD_SIZE", 1))
        self.accumulation_steps: int = self.accumulation_steps_ref * self.ranks_ref // ranks
