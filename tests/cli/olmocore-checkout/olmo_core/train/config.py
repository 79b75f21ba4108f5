from dataclasses import dataclass
from typing import List, Optional


class RecomputeMode:
    full = "full"
    selected_modules = "selected_modules"


@dataclass
class RecomputeConfig:
    mode: str = RecomputeMode.full
    block_interval: Optional[int] = None
    modules: Optional[List[str]] = None
