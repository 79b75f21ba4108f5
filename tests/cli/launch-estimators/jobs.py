# Two jobs that train and one that merges after them: the last that trains is taken.
from sagemaker.huggingface import HuggingFace

common = dict(instance_type="ml.p4d.24xlarge", role=role, py_version="py310",
              distribution={"torch_distributed": {"enabled": True}})
small = HuggingFace(entry_point="run_clm.py", instance_count=1, **common,
                    hyperparameters={"model_name_or_path": "meta-llama/Llama-2-7b-hf", "bf16": True,
                                     "per_device_train_batch_size": 1, "block_size": 2048})
large = HuggingFace(entry_point="run_clm.py", instance_count=4, **common,
                    hyperparameters={"model_name_or_path": "meta-llama/Llama-2-13b-hf", "bf16": True,
                                     "fsdp": "full_shard auto_wrap", "gradient_checkpointing": True,
                                     "per_device_train_batch_size": 2, "block_size": 4096})
merge = HuggingFace(entry_point="merge_peft_adapter.py", instance_count=1, **common, hyperparameters={})
