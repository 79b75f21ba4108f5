PRECISION = "bf16"
INSTANCE = "ml.p4de.24xlarge"
COUNT = 2


def role_of(name):
    return "arn:aws:iam::123456789012:role/" + name
