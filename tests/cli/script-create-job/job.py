from kubeflow.training import TrainingClient


def train(parameters):
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(parameters["MODEL"])
    optimizer = torch.optim.AdamW(model.parameters())
    for x in torch.utils.data.DataLoader(texts(), batch_size=4, shuffle=True):
        model(**x).loss.backward()
        optimizer.step()


TrainingClient().create_job(
    name="gpt2",
    train_func=train,
    parameters={"MODEL": "gpt2"},
    num_workers=2,
    num_procs_per_worker=8,
)
