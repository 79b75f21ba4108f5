from .precision import *
