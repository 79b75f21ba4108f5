from trl import GRPOConfig, GRPOTrainer

trainer = GRPOTrainer(model=model, reward_funcs=[reward], args=GRPOConfig())
trainer.train()
