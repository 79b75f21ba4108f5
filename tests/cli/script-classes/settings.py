from dataclasses import dataclass, field
from typing import List


@dataclass
class Adapters:
    rank: int = 32
    modules: List[str] = field(default_factory=lambda: ["q_proj", "v_proj"])


class Run:
    model = "Qwen/Qwen2.5-1.5B"
    batch = 4
