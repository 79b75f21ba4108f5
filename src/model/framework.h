/* How one software stack trains: which kernels are fused, what the host spends on each
 * operator, how gradients are bucketed and reduced, what the optimizer does.
 *
 * Read from models/frameworks/NAME.json: one file per framework and era, never per
 * measured row; each number says in "provenance" what it was fitted to. */
#ifndef MODEL_FRAMEWORK_H
#define MODEL_FRAMEWORK_H

#include "config/cfg.h"
#include "hardware/dtype.h"

struct framework {
    const char *name;
    const char *summary;
    /* kernels */
    bool fused_qkv;             /* one product makes q, k and v */
    bool fused_softmax;         /* scale, mask and softmax in one kernel */
    bool fused_softmax_dropout; /* and the dropout behind it */
    bool fused_bias_gelu;       /* bias and activation in one kernel */
    bool fused_dropout_add;     /* bias, dropout and residual sum in one kernel */
    bool fused_norm;            /* one kernel a norm, forward and backward */
    bool keeps_softmax_input;   /* PyTorch <= 1.10 keeps it for backward */
    double stream_factor; /* bytes moved by memory-bound operators over the list's */
    double logit_bytes;   /* loss: bytes moved per logit, forward and backward */
    /* host */
    double dispatch_forward_s, dispatch_backward_s; /* of one operator */
    double dispatch_optimizer_s;                    /* of one optimizer kernel */
    double step_s;       /* once a step: data loader, scheduler, logging */
    double microbatch_s; /* once a microbatch */
    double host_spread;  /* softness of the switch between host- and GPU-bound: the
                                spread of dispatch times over their mean */
    /* gradients and optimizer */
    double accumulate_B; /* bytes moved per parameter when a microbatch adds its own */
    bool reduce_every_microbatch; /* gradients are reduced in every accumulation step */
    double optimizer_B;           /* bytes moved per parameter by one update */
    int64_t optimizer_kernels_per_tensor; /* unfused: kernels per parameter tensor; 0:
                                fused over all tensors */
    int gradient_dtype; /* enum dtype on the wire; -1: that of the parameters */
    bool overlap;       /* reduce buckets during backward */
    int64_t first_bucket_B, bucket_B; /* 0: one bucket */
    double bucket_copy_B; /* bytes moved per gradient byte into and out of buckets */
    double cycle_s;       /* Horovod: fusion cycle; 0: none */
    const char *library;  /* default "library" of parallelism: "ddp", "horovod", ... */
    const char *backend;  /* default "backend": "nccl", "smddp" */
    const char *provenance; /* "group: where its numbers are from", a line a group */
};

/* The framework profile of that name; NULL after reporting at `where`. */
const struct framework *framework_get(struct cfg_loader *loader, const char *name,
                                      struct cfg where);

#endif
