import torch
from mmengine.optim import AmpOptimWrapper, CosineAnnealingLR
from peft import LoraConfig
from torch.optim import AdamW
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from xtuner.dataset import process_hf_dataset
from xtuner.model import SupervisedFinetune

pretrained_model_name_or_path = 'internlm/internlm2-chat-7b'
max_length = 2048
pack_to_max_length = True
batch_size = 2
accumulative_counts = 8
max_epochs = 3
model = dict(
    type=SupervisedFinetune,
    llm=dict(
        type=AutoModelForCausalLM.from_pretrained,
        pretrained_model_name_or_path=pretrained_model_name_or_path,
        torch_dtype=torch.float16,
        quantization_config=dict(type=BitsAndBytesConfig, load_in_4bit=True, bnb_4bit_use_double_quant=True,
                                 bnb_4bit_quant_type='nf4')),
    lora=dict(type=LoraConfig, r=32, lora_alpha=16, lora_dropout=0.1, bias='none', task_type='CAUSAL_LM'))
train_dataset = dict(type=process_hf_dataset, max_length=max_length, pack_to_max_length=pack_to_max_length)
train_dataloader = dict(batch_size=batch_size, num_workers=0, dataset=train_dataset)
optim_wrapper = dict(type=AmpOptimWrapper, optimizer=dict(type=AdamW, lr=2e-4), clip_grad=dict(max_norm=1),
                     accumulative_counts=accumulative_counts, loss_scale='dynamic', dtype='float16')
train_cfg = dict(max_epochs=max_epochs)
