from .make import load
