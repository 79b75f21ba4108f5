MODEL = "gpt2"
BATCH = 6
