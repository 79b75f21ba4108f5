import boto3, sagemaker
from sagemaker import image_uris

region = boto3.Session().region_name
container = image_uris.retrieve("xgboost", region, "1.7-1")
xgb = sagemaker.estimator.Estimator(
    container, sagemaker.get_execution_role(), instance_count=1, instance_type="ml.m5.xlarge"
)
xgb.set_hyperparameters(max_depth=5, eta=0.2, objective="binary:logistic", num_round=100)
