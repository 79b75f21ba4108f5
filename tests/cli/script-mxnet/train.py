from mxnet import autograd, gluon

net = gluon.nn.Dense(2)
trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-4})
for batch in batches:
    with autograd.record():
        loss = net(batch)
    loss.backward()
    trainer.step(32)
