from .deep import load
from .parts import encode
