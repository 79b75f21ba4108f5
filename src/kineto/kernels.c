#include "kineto/kernels.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const struct name_value kernel_class_names[] = {
    { "products", KERNEL_PRODUCT },
    { "convolutions", KERNEL_CONVOLVE },
    { "attention", KERNEL_ATTENTION },
    { "softmax", KERNEL_SOFTMAX },
    { "optimizer", KERNEL_OPTIMIZER },
    { "other", KERNEL_OTHER },
    { "copies", KERNEL_COPY },
    { "communication", KERNEL_COMM },
    { NULL, 0 },
};

const struct name_value kernel_comm_names[] = {
    { "all_reduce", COMM_ALL_REDUCE },
    { "all_gather", COMM_ALL_GATHER },
    { "reduce_scatter", COMM_REDUCE_SCATTER },
    { "all_to_all", COMM_ALL_TO_ALL },
    { "send_recv", COMM_SEND_RECV },
    { "broadcast", COMM_BROADCAST },
    { "reduce", COMM_REDUCE },
    { "experts", COMM_EXPERTS },
    { "other", COMM_OTHER },
    { NULL, 0 },
};

/* Whether a word is in a name; `word` is of lower case. */
static bool has(const char *name, const char *word)
{
    size_t n = strlen(word);
    for (; *name; name++) {
        size_t i = 0;
        while (i < n && tolower((unsigned char)name[i]) == word[i])
            i++;
        if (i == n)
            return true;
    }
    return false;
}

/* The first row whose word a name has. Words are of names that public traces show:
 * cuBLAS (nvjet, xmma, gemm), CUTLASS, cuDNN, rocBLAS (Cijk), FlashAttention, cuDNN's
 * and Transformer Engine's attention, apex and PyTorch's optimizers, NCCL, DeepEP,
 * Transformer Engine's userbuffers, PyTorch's symmetric memory. */
struct word {
    const char *text;
    int is;
};

static const struct word classes[] = {
    { "memcpy", KERNEL_COPY },
    { "memset", KERNEL_COPY },
    { "nccl", KERNEL_COMM },
    { "userbuffers", KERNEL_COMM },
    { "nvshmem", KERNEL_COMM },
    { "ep::internode", KERNEL_COMM },
    { "ep::intranode", KERNEL_COMM },
    { "one_shot_all_reduce", KERNEL_COMM },
    { "two_shot_all_reduce", KERNEL_COMM },
    { "multimem_all_reduce", KERNEL_COMM },
    { "cross_device_reduce", KERNEL_COMM },
    { "flash", KERNEL_ATTENTION },
    { "fmha", KERNEL_ATTENTION },
    { "attn", KERNEL_ATTENTION },
    { "sdpa", KERNEL_ATTENTION },
    { "attention", KERNEL_ATTENTION },
    { "multi_tensor", KERNEL_OPTIMIZER },
    { "multitensor", KERNEL_OPTIMIZER },
    { "adam", KERNEL_OPTIMIZER },
    { "adagrad", KERNEL_OPTIMIZER },
    { "_lamb", KERNEL_OPTIMIZER },
    { "fprop", KERNEL_CONVOLVE },
    { "dgrad", KERNEL_CONVOLVE },
    { "wgrad", KERNEL_CONVOLVE },
    { "convolve", KERNEL_CONVOLVE },
    { "convolution", KERNEL_CONVOLVE },
    { "transpose", KERNEL_OTHER },
    { "splitkreduce", KERNEL_PRODUCT },
    { "gemm", KERNEL_PRODUCT },
    { "nvjet", KERNEL_PRODUCT },
    { "cijk_", KERNEL_PRODUCT },
    { "xmma", KERNEL_PRODUCT },
    { "cublas", KERNEL_PRODUCT },
    { "gemv", KERNEL_PRODUCT },
    { "_grouped_mm", KERNEL_PRODUCT },
    { "matmul", KERNEL_PRODUCT },
    { "logsoftmax", KERNEL_OTHER },
    { "log_softmax", KERNEL_OTHER },
    { "cross_entropy", KERNEL_OTHER },
    { "softmax", KERNEL_SOFTMAX },
    { NULL, KERNEL_OTHER },
};

static const struct word formats[] = {
    { "e4m3", KERNEL_FP8 },   { "e5m2", KERNEL_FP8 },        { "fp8", KERNEL_FP8 },
    { "bf16", KERNEL_HALF },  { "bfloat16", KERNEL_HALF },   { "f16", KERNEL_HALF },
    { "hgemm", KERNEL_HALF }, { "h884", KERNEL_HALF },       { "h1688", KERNEL_HALF },
    { "h168", KERNEL_HALF },  { "s16816gemm", KERNEL_HALF }, { "s884", KERNEL_HALF },
    { "tf32", KERNEL_TF32 },  { "s1688gemm", KERNEL_TF32 },  { "sgemm", KERNEL_FP32 },
    { NULL, KERNEL_ANY },
};

/* "LL", "Simple" and types follow the operation's name in those of NCCL. */
static const struct word comms[] = {
    { "allreduce", COMM_ALL_REDUCE },
    { "all_reduce", COMM_ALL_REDUCE },
    { "cross_device_reduce", COMM_ALL_REDUCE },
    { "reducescatter", COMM_REDUCE_SCATTER },
    { "reduce_scatter", COMM_REDUCE_SCATTER },
    { "allgather", COMM_ALL_GATHER },
    { "all_gather", COMM_ALL_GATHER },
    { "alltoall", COMM_ALL_TO_ALL },
    { "all_to_all", COMM_ALL_TO_ALL },
    { "sendrecv", COMM_SEND_RECV },
    { "send", COMM_SEND_RECV },
    { "recv", COMM_SEND_RECV },
    { "broadcast", COMM_BROADCAST },
    { "ep::internode", COMM_EXPERTS },
    { "ep::intranode", COMM_EXPERTS },
    { "reduce", COMM_REDUCE },
    { NULL, COMM_OTHER },
};

static int find(const struct word *words, const char *name)
{
    while (words->text && !has(name, words->text))
        words++;
    return words->is;
}

enum kernel_class kernel_class_of(const char *name)
{
    return (enum kernel_class)find(classes, name);
}

enum kernel_format kernel_format_of(const char *name)
{
    return (enum kernel_format)find(formats, name);
}

enum kernel_comm kernel_comm_of(const char *name)
{
    return (enum kernel_comm)find(comms, name);
}

enum kernel_comm kernel_comm_named(const char *collective)
{
    return (enum kernel_comm)find(comms, collective);
}

double kernel_element_B(const char *dtype)
{
    static const struct {
        const char *name;
        double bytes;
    } types[] = {
        { "bfloat16", 2 }, { "half", 2 }, { "float8", 1 }, { "float", 4 },
        { "double", 8 },   { "byte", 1 }, { "char", 1 },   { "short", 2 },
        { "int8", 1 },     { "int", 4 },  { "long", 8 },   { "bool", 1 },
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (has(dtype, types[i].name))
            return types[i].bytes;
    return 0;
}
