# Moved to trl/scripts/sft.py.
