/* Kernels that see each element by itself. */
#include "vec8.cuh"

static __global__ void copy8(dtype_t t, void *y, const void *x, int64_t eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 a = vec8_load(x, i, t);
    vec8_store(y, i, &a, t);
}

void kernel_copy(cudaStream_t stream, dtype_t dtype, void *y, const void *x, int64_t n)
{
    copy8<<<blocks_of(n), 256, 0, stream>>>(dtype, y, x, n / 8);
}

static __global__ void add8(dtype_t t, void *y, const void *a, const void *b,
                            int64_t eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 p = vec8_load(a, i, t), q = vec8_load(b, i, t);
#pragma unroll
    for (int k = 0; k < 8; k++)
        p.v[k] += q.v[k];
    vec8_store(y, i, &p, t);
}

void kernel_add(cudaStream_t stream, dtype_t dtype, void *y, const void *a,
                const void *b, int64_t n)
{
    add8<<<blocks_of(n), 256, 0, stream>>>(dtype, y, a, b, n / 8);
}

static __global__ void multiply8(dtype_t t, void *y, const void *a, const void *b,
                                 int64_t eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 p = vec8_load(a, i, t), q = vec8_load(b, i, t);
#pragma unroll
    for (int k = 0; k < 8; k++)
        p.v[k] *= q.v[k];
    vec8_store(y, i, &p, t);
}

void kernel_multiply(cudaStream_t stream, dtype_t dtype, void *y, const void *a,
                     const void *b, int64_t n)
{
    multiply8<<<blocks_of(n), 256, 0, stream>>>(dtype, y, a, b, n / 8);
}

static __global__ void multiply_bwd8(dtype_t t, void *da, void *db, const void *dy,
                                     const void *a, const void *b, int64_t eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 d = vec8_load(dy, i, t), p = vec8_load(a, i, t), q = vec8_load(b, i, t);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float left = d.v[k] * q.v[k];
        q.v[k] = d.v[k] * p.v[k];
        p.v[k] = left;
    }
    vec8_store(da, i, &p, t);
    vec8_store(db, i, &q, t);
}

void kernel_multiply_bwd(cudaStream_t stream, dtype_t dtype, void *da, void *db,
                         const void *dy, const void *a, const void *b, int64_t n)
{
    multiply_bwd8<<<blocks_of(n), 256, 0, stream>>>(dtype, da, db, dy, a, b, n / 8);
}

/* --- activations: GELU by tanh (Hendrycks and Gimpel 2016), SiLU ------------------ */

static __device__ __forceinline__ float activate(enum kernel_activation which, float x,
                                                 float *slope)
{
    if (which == KERNEL_SILU) {
        float s = 1 / (1 + __expf(-x));
        *slope = s * (1 + x * (1 - s));
        return x * s;
    }
    const float a = 0.7978845608f, b = 0.044715f;
    float u = tanhf(a * (x + b * x * x * x));
    *slope = 0.5f * (1 + u) + 0.5f * x * (1 - u * u) * a * (1 + 3 * b * x * x);
    return 0.5f * x * (1 + u);
}

static __global__ void activation8(dtype_t t, enum kernel_activation which, void *y,
                                   const void *x, int64_t eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 a = vec8_load(x, i, t);
    float slope;
#pragma unroll
    for (int k = 0; k < 8; k++)
        a.v[k] = activate(which, a.v[k], &slope);
    vec8_store(y, i, &a, t);
}

void kernel_activation(cudaStream_t stream, dtype_t dtype, enum kernel_activation which,
                       void *y, const void *x, int64_t n)
{
    activation8<<<blocks_of(n), 256, 0, stream>>>(dtype, which, y, x, n / 8);
}

static __global__ void activation_bwd8(dtype_t t, enum kernel_activation which,
                                       void *dx, const void *dy, const void *x,
                                       int64_t eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 a = vec8_load(x, i, t), d = vec8_load(dy, i, t);
    float slope;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        activate(which, a.v[k], &slope);
        d.v[k] *= slope;
    }
    vec8_store(dx, i, &d, t);
}

void kernel_activation_bwd(cudaStream_t stream, dtype_t dtype,
                           enum kernel_activation which, void *dx, const void *dy,
                           const void *x, int64_t n)
{
    activation_bwd8<<<blocks_of(n), 256, 0, stream>>>(dtype, which, dx, dy, x, n / 8);
}

/* --- dropout ---------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static __global__ void dropout8(dtype_t t, void *y, uint8_t *mask, const void *x,
                                float p, uint32_t seed, int64_t eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 a = vec8_load(x, i, t);
    uint32_t least = (uint32_t)(p * 65536.0f), kept[2] = { 0, 0 };
    float scale = 1 / (1 - p);
#pragma unroll
    for (int k = 0; k < 8; k += 2) {
        uint32_t two = hash(seed ^ hash((uint32_t)i * 4u + (uint32_t)k / 2u));
#pragma unroll
        for (int j = 0; j < 2; j++) {
            uint32_t keep = (two >> 16 * j & 0xffffu) >= least;
            a.v[k + j] = keep ? a.v[k + j] * scale : 0;
            kept[(k + j) / 4] |= keep << 8 * ((k + j) % 4);
        }
    }
    ((uint2 *)mask)[i] = make_uint2(kept[0], kept[1]);
    vec8_store(y, i, &a, t);
}

void kernel_dropout(cudaStream_t stream, dtype_t dtype, void *y, uint8_t *mask,
                    const void *x, float p, uint32_t seed, int64_t n)
{
    dropout8<<<blocks_of(n), 256, 0, stream>>>(dtype, y, mask, x, p, seed, n / 8);
}

static __global__ void dropout_bwd8(dtype_t t, void *dx, const void *dy,
                                    const uint8_t *mask, float p, int64_t eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 d = vec8_load(dy, i, t);
    uint2 kept = ((const uint2 *)mask)[i];
    float scale = 1 / (1 - p);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        uint32_t word = k < 4 ? kept.x : kept.y;
        d.v[k] = word >> 8 * (k % 4) & 1u ? d.v[k] * scale : 0;
    }
    vec8_store(dx, i, &d, t);
}

void kernel_dropout_bwd(cudaStream_t stream, dtype_t dtype, void *dx, const void *dy,
                        const uint8_t *mask, float p, int64_t n)
{
    dropout_bwd8<<<blocks_of(n), 256, 0, stream>>>(dtype, dx, dy, mask, p, n / 8);
}

/* --- Adam (Kingma and Ba 2015, decoupled decay) ----------------------------------- */

struct corrections {
    float first, second; /* 1 / (1 - beta^step) */
};

static __global__ void adam8(dtype_t t, void *weights, float *master, float *m,
                             float *v, const void *gradients, struct kernel_adam how,
                             struct corrections c, int64_t eights)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= eights)
        return;
    struct vec8 g = vec8_load(gradients, i, t), w = vec8_load(master, i, DTYPE_FP32);
    struct vec8 a = vec8_load(m, i, DTYPE_FP32), b = vec8_load(v, i, DTYPE_FP32);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        a.v[k] = how.beta1 * a.v[k] + (1 - how.beta1) * g.v[k];
        b.v[k] = how.beta2 * b.v[k] + (1 - how.beta2) * g.v[k] * g.v[k];
        float step = a.v[k] * c.first / (sqrtf(b.v[k] * c.second) + how.epsilon);
        w.v[k] -= how.rate * (step + how.decay * w.v[k]);
    }
    vec8_store(m, i, &a, DTYPE_FP32);
    vec8_store(v, i, &b, DTYPE_FP32);
    vec8_store(master, i, &w, DTYPE_FP32);
    vec8_store(weights, i, &w, t);
}

void kernel_adam(cudaStream_t stream, dtype_t dtype, void *weights, float *master,
                 float *m, float *v, const void *gradients, struct kernel_adam how,
                 int64_t n)
{
    struct corrections c = { 1 / (1 - powf(how.beta1, (float)how.step)),
                             1 / (1 - powf(how.beta2, (float)how.step)) };
    adam8<<<blocks_of(n), 256, 0, stream>>>(dtype, weights, master, m, v, gradients,
                                            how, c, n / 8);
}
