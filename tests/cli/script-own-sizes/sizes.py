from dataclasses import dataclass


@dataclass
class Sizes:
    width: int = 512
    depth: int = 8
    heads: int = 8
    hidden: int = None
    words: int = 32000

    def __post_init__(self):
        if self.hidden is None:
            self.hidden = 4 * self.width

    @classmethod
    def small(cls):
        return cls(width=768, depth=12, heads=12)
