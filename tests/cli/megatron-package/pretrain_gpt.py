from megatron.training import pretrain


def model_provider():
    return None


pretrain(model_provider)
