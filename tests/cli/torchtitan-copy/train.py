import torch
from torchtitan.config_manager import JobConfig
from torchtitan.models import models_config
from torchtitan.optimizer import build_optimizers


def main(job):
    model = build(models_config[job.model.name][job.model.flavor])
    optimizers = build_optimizers([model], job)
    for batch in make_loader(job.training.batch_size, job.training.seq_len):
        loss = torch.nn.functional.cross_entropy(model(batch), batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), job.training.max_norm)
        optimizers.step()


if __name__ == "__main__":
    config = JobConfig()
    config.parse_args()
    main(config)
