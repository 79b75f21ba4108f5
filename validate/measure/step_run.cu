#include "step_run.h"

#include "buffer.h"
#include "kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stdlib.h>

static const float weight_spread = 0.035f; /* uniform: a deviation of 0.02 */

static void *tensor(const struct step_run *r, int t)
{
    return r->activations + r->plan->tensors[t].at_B;
}

static void *weight(const struct step_run *r, int64_t at)
{
    return at < 0 ? NULL : r->weights + 2 * at;
}

static void *gradient(const struct step_run *r, int64_t at)
{
    return at < 0 ? NULL : r->gradients + 2 * at;
}

/* --- beginnings ------------------------------------------------------------------- */

static __global__ void begin_weights(void *weights, float *master, int64_t n, int dtype,
                                     float spread, float centre, uint32_t seed)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += (int64_t)gridDim.x * blockDim.x) {
        uint32_t x = (uint32_t)i * 0x9e3779b9u ^ seed;
        x ^= x >> 16;
        x *= 0x7feb352du;
        x ^= x >> 15;
        x *= 0x846ca68bu;
        x ^= x >> 16;
        float v = centre + spread * (float)(int32_t)x * (1.0f / 2147483648.0f);
        master[i] = v;
        if (dtype == DTYPE_FP16)
            ((__half *)weights)[i] = __float2half_rn(v);
        else
            ((__nv_bfloat16 *)weights)[i] = __float2bfloat16_rn(v);
    }
}

static int set_index(struct measure *m, struct step_run *r, int which, uint32_t seed)
{
    const struct step_plan *p = r->plan;
    int64_t rows = p->batch * p->sequence;
    TRY_CUDA(m, cudaMalloc((void **)&r->index[which], (size_t)rows * sizeof(int)));
    int *host = (int *)malloc((size_t)rows * sizeof(*host));
    if (!host)
        return measure_fail(m, "out of memory");
    for (int64_t i = 0; i < rows; i++) {
        seed = seed * 1664525u + 1013904223u;
        int64_t v = which == 1   ? i / p->batch
                    : which == 2 ? i / p->batch * 2 / p->sequence
                                 : (int64_t)(seed >> 8) % p->model.words;
        host[i] = (int)v;
    }
    int rc = buffer_write(m, r->index[which], host, (size_t)rows * sizeof(*host));
    free(host);
    return rc;
}

static int allocate(struct measure *m, struct step_run *r)
{
    const struct step_plan *p = r->plan;
    size_t n = (size_t)p->n_weights;
    size_t partial = (size_t)(2 * KERNEL_PARTS * p->most_columns) * sizeof(float);
    TRY_CUDA(m, cudaMalloc((void **)&r->activations, (size_t)p->activations_B));
    TRY_CUDA(m, cudaMalloc((void **)&r->weights, 2 * n));
    TRY_CUDA(m, cudaMalloc((void **)&r->gradients, 2 * n));
    TRY_CUDA(m, cudaMalloc((void **)&r->master, 4 * n));
    TRY_CUDA(m, cudaMalloc((void **)&r->m, 4 * n));
    TRY_CUDA(m, cudaMalloc((void **)&r->v, 4 * n));
    TRY_CUDA(m, cudaMalloc((void **)&r->partial, partial));
    TRY_CUDA(m, cudaMemsetAsync(r->gradients, 0, 2 * n, m->stream));
    TRY_CUDA(m, cudaMemsetAsync(r->m, 0, 4 * n, m->stream));
    TRY_CUDA(m, cudaMemsetAsync(r->v, 0, 4 * n, m->stream));
    return 0;
}

int step_run_make(struct measure *m, struct step_run *r, const struct step_plan *p,
                  uint32_t seed)
{
    *r = {};
    r->plan = p;
    TRY(allocate(m, r));
    begin_weights<<<1024, 256, 0, m->stream>>>(r->weights, r->master, p->n_weights,
                                               p->dtype, weight_spread, 0, 1);
    for (int64_t i = 0; i < p->n_ones; i++) {
        int64_t at = p->ones[2 * i];
        begin_weights<<<64, 256, 0, m->stream>>>(weight(r, at), r->master + at,
                                                 p->ones[2 * i + 1], p->dtype, 0, 1, 1);
    }
    TRY_CUDA(m, cudaGetLastError());
    for (int i = 0; i < 4; i++)
        TRY(set_index(m, r, i, seed + (uint32_t)i));
    return 0;
}

void step_run_free(struct step_run *r)
{
    void *all[] = { r->activations, r->weights, r->gradients, r->master,
                    r->m,           r->v,       r->partial };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        cudaFree(all[i]);
    for (int i = 0; i < 4; i++)
        cudaFree(r->index[i]);
}

/* --- operators -------------------------------------------------------------------- */

/* The products of linear layers: y = x W^T, dx = dy W, dW = dy^T x. */
static int run_product(struct measure *m, struct step_run *r, const struct step_op *op)
{
    struct product p = {};
    p.layout = op->kind == STEP_LINEAR  ? PRODUCT_TN
               : op->kind == STEP_DGRAD ? PRODUCT_NN
                                        : PRODUCT_NT;
    p.dtype = r->plan->dtype;
    p.m = op->rows;
    p.n = op->columns;
    p.k = op->depth;
    p.batch = 1;
    if (op->kind == STEP_WGRAD)
        return product_launch(m, &p, tensor(r, op->t[1]), tensor(r, op->t[0]),
                              gradient(r, op->weight[0]));
    return product_launch(m, &p, tensor(r, op->t[0]), weight(r, op->weight[0]),
                          tensor(r, op->t[1]));
}

static int run_batched(struct measure *m, struct step_run *r, const struct step_op *op)
{
    return product_launch(
        m, &op->product, (char *)tensor(r, op->t[0]) + 2 * op->offset[0],
        (char *)tensor(r, op->t[1]) + 2 * op->offset[1], tensor(r, op->t[2]));
}

static int run_scatter(struct measure *m, struct step_run *r, const struct step_op *op)
{
    void *into = op->t[1] >= 0 ? tensor(r, op->t[1]) : gradient(r, op->weight[0]);
    TRY_CUDA(
        m, cudaMemsetAsync(into, 0, (size_t)(2 * op->depth * op->columns), m->stream));
    kernel_scatter(m->stream, r->plan->dtype, into, tensor(r, op->t[0]),
                   r->index[op->which], op->rows, op->columns);
    return 0;
}

/* Those that move heads about. */
static void run_layout(struct measure *m, struct step_run *r, const struct step_op *op)
{
    const struct step_plan *p = r->plan;
    int64_t s = p->sequence, b = p->batch, heads = p->model.heads,
            d = p->model.head_dim;
    if (op->kind == STEP_MERGE)
        kernel_merge_heads(m->stream, p->dtype, tensor(r, op->t[1]),
                           tensor(r, op->t[0]), s, b, heads, d);
    else if (op->kind == STEP_SPLIT)
        kernel_split_heads(m->stream, p->dtype, tensor(r, op->t[1]),
                           tensor(r, op->t[0]), s, b, heads, d);
    else if (op->kind == STEP_MERGE_QKV)
        kernel_merge_qkv(m->stream, p->dtype, tensor(r, op->t[3]), tensor(r, op->t[0]),
                         tensor(r, op->t[1]), tensor(r, op->t[2]), s, b, heads, d);
    else
        kernel_rope(m->stream, p->dtype, tensor(r, op->t[0]), op->kind == STEP_ROPE_BWD,
                    s, b, heads, d);
}

/* Those over rows. */
static void run_rows(struct measure *m, struct step_run *r, const struct step_op *op)
{
    const struct step_plan *p = r->plan;
    enum measure_dtype t = p->dtype;
    int64_t rows = op->rows, columns = op->columns;
    void *x = tensor(r, op->t[0]);
    float scale = 1 / sqrtf((float)p->model.head_dim);
    if (op->kind == STEP_NORM)
        kernel_norm(m->stream, t, tensor(r, op->t[1]), (float *)tensor(r, op->t[2]), x,
                    weight(r, op->weight[0]), weight(r, op->weight[1]), rows, columns);
    else if (op->kind == STEP_NORM_BWD)
        kernel_norm_bwd(m->stream, t, tensor(r, op->t[3]), gradient(r, op->weight[0]),
                        gradient(r, op->weight[1]), x, tensor(r, op->t[1]),
                        (float *)tensor(r, op->t[2]), weight(r, op->weight[0]),
                        r->partial, rows, columns);
    else if (op->kind == STEP_SOFTMAX)
        kernel_softmax(m->stream, t, tensor(r, op->t[1]), x, scale, p->model.causal,
                       rows, columns);
    else if (op->kind == STEP_SOFTMAX_BWD)
        kernel_softmax_bwd(m->stream, t, tensor(r, op->t[2]), x, tensor(r, op->t[1]),
                           scale, rows, columns);
    else if (op->kind == STEP_BIAS_ADD)
        kernel_bias_add(m->stream, t, x, weight(r, op->weight[0]), rows, columns);
    else if (op->kind == STEP_BIAS_GRAD)
        kernel_bias_grad(m->stream, t, gradient(r, op->weight[0]), x, r->partial, rows,
                         columns);
    else if (op->kind == STEP_LOSS)
        kernel_loss(m->stream, t, (float *)tensor(r, op->t[1]),
                    (float *)tensor(r, op->t[2]), x, r->index[3], rows, columns,
                    p->model.words);
    else
        kernel_loss_bwd(m->stream, t, tensor(r, op->t[1]), (float *)tensor(r, op->t[2]),
                        x, r->index[3], rows, columns, p->model.words);
}

/* Those that see each element by itself. */
static void run_elements(struct measure *m, struct step_run *r,
                         const struct step_op *op)
{
    const struct step_plan *p = r->plan;
    enum measure_dtype t = p->dtype;
    int64_t n = op->rows * op->columns;
    void *x = op->t[0] >= 0 ? tensor(r, op->t[0]) : NULL;
    void *y = op->t[1] >= 0 ? tensor(r, op->t[1]) : NULL;
    void *z = op->t[2] >= 0 ? tensor(r, op->t[2]) : NULL;
    bool scores = op->columns == p->sequence && op->rows > p->batch * p->sequence;
    float share = scores ? p->model.attention_dropout : p->model.hidden_dropout;
    uint32_t seed = (uint32_t)(op - p->ops) * 2654435761u + (uint32_t)r->step;
    enum kernel_activation which = p->model.gated ? KERNEL_SILU : KERNEL_GELU;
    if (op->kind == STEP_DROPOUT)
        kernel_dropout(m->stream, t, y, (uint8_t *)z, x, share, seed, n);
    else if (op->kind == STEP_DROPOUT_BWD)
        kernel_dropout_bwd(m->stream, t, y, x, (uint8_t *)z, share, n);
    else if (op->kind == STEP_ADD)
        kernel_add(m->stream, t, z, x, y, n);
    else if (op->kind == STEP_ACTIVATION)
        kernel_activation(m->stream, t, which, y, x, n);
    else if (op->kind == STEP_ACTIVATION_BWD)
        kernel_activation_bwd(m->stream, t, which, z, x, y, n);
    else if (op->kind == STEP_MULTIPLY)
        kernel_multiply(m->stream, t, z, x, y, n);
    else if (op->kind == STEP_MULTIPLY_BWD)
        kernel_multiply_bwd(m->stream, t, tensor(r, op->t[3]), tensor(r, op->t[4]), x,
                            y, z, n);
    else if (op->kind == STEP_GATHER)
        kernel_gather(m->stream, t, x, weight(r, op->weight[0]), r->index[op->which],
                      op->rows, op->columns);
    else
        kernel_add(m->stream, t, gradient(r, op->weight[0]), gradient(r, op->weight[0]),
                   x, n);
}

int step_run_op(struct measure *m, struct step_run *r, const struct step_op *op)
{
    switch (op->kind) {
    case STEP_LINEAR:
    case STEP_DGRAD:
    case STEP_WGRAD:
        return run_product(m, r, op);
    case STEP_BATCHED:
        return run_batched(m, r, op);
    case STEP_SCATTER:
        return run_scatter(m, r, op);
    case STEP_MERGE:
    case STEP_SPLIT:
    case STEP_MERGE_QKV:
    case STEP_ROPE:
    case STEP_ROPE_BWD:
        run_layout(m, r, op);
        break;
    case STEP_NORM:
    case STEP_NORM_BWD:
    case STEP_SOFTMAX:
    case STEP_SOFTMAX_BWD:
    case STEP_BIAS_ADD:
    case STEP_BIAS_GRAD:
    case STEP_LOSS:
    case STEP_LOSS_BWD:
        run_rows(m, r, op);
        break;
    default:
        run_elements(m, r, op);
    }
    TRY_CUDA(m, cudaGetLastError());
    return 0;
}

int step_run_update(struct measure *m, struct step_run *r)
{
    struct kernel_adam how = { 1e-4f, 0.9f, 0.999f, 1e-8f, 0.01f, ++r->step };
    kernel_adam(m->stream, r->plan->dtype, r->weights, r->master, r->m, r->v,
                r->gradients, how, r->plan->n_weights);
    TRY_CUDA(m, cudaGetLastError());
    return 0;
}

int step_run_loss(struct measure *m, struct step_run *r, double *loss)
{
    const struct step_plan *p = r->plan;
    const struct step_op *op = p->ops;
    size_t rows = (size_t)(p->batch * p->sequence);
    while (op->kind != STEP_LOSS)
        op++;
    float *host = (float *)malloc(rows * sizeof(*host));
    if (!host)
        return measure_fail(m, "out of memory");
    cudaError_t status =
        cudaMemcpyAsync(host, tensor(r, op->t[1]), rows * sizeof(*host),
                        cudaMemcpyDeviceToHost, m->stream);
    if (status == cudaSuccess)
        status = cudaStreamSynchronize(m->stream);
    *loss = 0;
    for (size_t i = 0; i < rows && status == cudaSuccess; i++)
        *loss += (double)host[i] / (double)rows;
    free(host);
    TRY_CUDA(m, status);
    return 0;
}
