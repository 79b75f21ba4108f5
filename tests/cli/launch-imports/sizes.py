MICRO_BATCH = 2
SEQUENCE = {"short": 1024, "long": 4096}
