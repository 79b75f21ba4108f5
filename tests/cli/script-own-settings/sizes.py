import ml_collections


def get_small_config():
    config = ml_collections.ConfigDict()
    config.patches = ml_collections.ConfigDict({"size": (16, 16)})
    config.width = 384
    config.body = ml_collections.ConfigDict()
    config.body.mlp_dim = 1536
    config.body.num_heads = 6
    config.body.num_layers = 12
    return config
