/* What a kernel of a GPU does, by its name. */
#ifndef KINETO_KERNELS_H
#define KINETO_KERNELS_H

#include "base/names.h"

enum kernel_class {
    KERNEL_PRODUCT,   /* of matrices */
    KERNEL_CONVOLVE,  /* convolutions */
    KERNEL_ATTENTION, /* fused */
    KERNEL_SOFTMAX,   /* on its own: of attention that is not fused */
    KERNEL_OPTIMIZER,
    KERNEL_OTHER, /* memory-bound, mostly */
    KERNEL_COPY,  /* copies and fills of the driver */
    KERNEL_COMM,  /* collectives and transfers between GPUs */
    KERNEL_CLASSES
};
extern const struct name_value kernel_class_names[];

/* What a product computes in, where its name says. */
enum kernel_format {
    KERNEL_ANY,
    KERNEL_FP32,
    KERNEL_TF32,
    KERNEL_HALF,
    KERNEL_FP8,
    KERNEL_FORMATS
};

enum kernel_comm {
    COMM_ALL_REDUCE,
    COMM_ALL_GATHER,
    COMM_REDUCE_SCATTER,
    COMM_ALL_TO_ALL,
    COMM_SEND_RECV, /* of pipelines, and all-to-all where the trace does not say */
    COMM_BROADCAST,
    COMM_REDUCE,
    COMM_EXPERTS, /* dispatch and combine of experts' tokens by their own kernels */
    COMM_OTHER,
    COMM_KINDS
};
extern const struct name_value kernel_comm_names[];

enum kernel_class kernel_class_of(const char *name);
enum kernel_format kernel_format_of(const char *name);

/* Of a kernel's name; or of "Collective name" of Kineto's arguments. */
enum kernel_comm kernel_comm_of(const char *name);
enum kernel_comm kernel_comm_named(const char *collective);

/* Bytes of an element by PyTorch's name of its type; 0: unknown. */
double kernel_element_B(const char *dtype);

#endif
