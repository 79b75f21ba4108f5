# A fork's own program: a decoder, trained on the loss of words.
from megatron import get_args
from megatron.model import RiverModel
from megatron.training import pretrain


def loss_func(loss_mask, output_tensor):
    loss = (output_tensor.float() * loss_mask).sum() / loss_mask.sum()
    return loss, {'lm loss': loss}


if __name__ == "__main__":
    pretrain(datasets, model_provider, forward_step)
