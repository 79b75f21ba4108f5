import os

PYTORCH = os.environ.get("PYTORCH_VERSION", "2.5.1")
