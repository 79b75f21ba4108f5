from transformers import LlamaForCausalLM, Trainer, TrainingArguments


class Counted(LlamaForCausalLM):
    def flops(self, tokens):
        return 6 * self.num_parameters() * tokens


model = Counted.from_pretrained("meta-llama/Llama-3.2-1B")
args = TrainingArguments("out", per_device_train_batch_size=2, bf16=True)
Trainer(model=model, args=args, train_dataset=rows).train()
