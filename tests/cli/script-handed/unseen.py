from accelerate import Accelerator
from elsewhere import go_on
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
go_on(Accelerator().prepare(model))
