# An endpoint, and no training.
from sagemaker.huggingface import HuggingFaceModel

model = HuggingFaceModel(model_data=uri, role=role, transformers_version="4.37.0")
predictor = model.deploy(initial_instance_count=1, instance_type="ml.g5.2xlarge")
