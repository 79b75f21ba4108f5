import os
from dataclasses import dataclass


@dataclass
class Ranks:
    world: int = 1
    shards: bool = False

    def __post_init__(self):
        self.world = int(os.getenv("WORLD_SIZE", 1))
        self.shards = self.world > 1


class Base:
    def __init__(self, large=False):
        self.batch = 16 if large else 8


class Sizes(Base):
    batch = 4
    accumulate = 1

    def grow(self):
        self.accumulate = 2 * self.accumulate


class Steps:
    def __init__(self, steps):
        self.steps = steps
        self.double()

    def double(self):
        self.steps *= 2


class MoreSteps(Steps):
    def __init__(self):
        super().__init__(3)
        self.steps += 1
