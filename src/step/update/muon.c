#include "step/update/muon.h"

#include "scenario/libraries.h"
#include "step/comms.h"
#include "step/issue.h"
#include "step/pass/block_comms.h"
#include "step/replicas.h"
#include "step/stage.h"

#include <math.h>
#include <string.h>

enum { FP32_B = 4 };

/* Matrices ------------------------------------------------------------------------- */

/* One matrix of parameters, as a rank of a tensor group works on it. */
struct matrix {
    int64_t rows, columns; /* of the Gram matrix's side, and the other */
    double n;              /* of them in the rank's share of a block's repeats */
    int64_t gathered;      /* elements that the group gathers of it; 0: none */
    int64_t summed;        /* of Gram matrices that it sums, each iteration; 0: none */
};

enum { MUON_PARTS = 3 }; /* of a matrix that was joined for one product, at most */

/* How a tensor group splits a weight of so many inputs and outputs. */
enum split { WHOLE, OUTPUTS, INPUTS };

static enum split split_of(const struct op_param *p)
{
    static const char *const whole[] = { "router.", "query_down.", "kv_down.",
                                         "shared_scale." },
                             *const inputs[] = { "out.", "down.", "shared_down." };
    for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
        if (strncmp(p->name, whole[i], strlen(whole[i])) == 0)
            return WHOLE;
    for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++)
        if (strncmp(p->name, inputs[i], strlen(inputs[i])) == 0)
            return INPUTS;
    return OUTPUTS;
}

static bool is(const struct op_param *p, const char *name)
{
    return strcmp(p->name, name) == 0;
}

/* The product that makes its gradient has its inputs and outputs; NULL: none. */
static const struct op *gradient_of(const struct op_block *block,
                                    const struct op_param *p)
{
    char name[96];
    const char *dot = strrchr(p->name, '.');
    snprintf(name, sizeof(name), "%.*s_wgrad", dot ? (int)(dot - p->name) : 0, p->name);
    int32_t at = block_comms_find(block->backward, block->n_backward, name);
    return at < 0 ? NULL : &block->backward[at];
}

static int64_t tensor_of(const struct stage *stage, const struct op_param *p)
{
    const struct parallelism *par = &stage->s->parallel;
    return p->expert ? parallelism_expert_tensor(par) : par->tensor;
}

/* A matrix of `inputs` x `outputs` on this rank. */
static struct matrix matrix_of(const struct stage *stage, const struct op_param *p,
                               int64_t inputs, int64_t outputs, double n)
{
    enum split split = split_of(p);
    int64_t t = split == WHOLE ? 1 : tensor_of(stage, p);
    enum muon_tensor mode = stage->s->training.muon_tensor;
    int64_t side = split == OUTPUTS ? inputs : outputs; /* that is not split */
    struct matrix m = { .n = n };
    if (t > 1 && mode == MUON_DISTRIBUTED) {
        m.rows = side;
        m.columns = split == OUTPUTS ? outputs : inputs;
        m.summed = side * side;
        return m;
    }
    if (t > 1 && mode == MUON_DUPLICATED) {
        inputs *= split == INPUTS ? t : 1;
        outputs *= split == OUTPUTS ? t : 1;
        m.gathered = inputs * outputs;
    }
    m.rows = inputs < outputs ? inputs : outputs;
    m.columns = inputs < outputs ? outputs : inputs;
    return m;
}

/* The matrices of parameter `k` of a block, all repeats: how many; 0: Adam updates it.
 * Queries, keys and values are orthogonalised apart (muon_split_qkv); the two matrices
 * of a gated MLP are one in models of a library's own code. */
static int32_t matrices_of(const struct stage *stage, const struct op_block *block,
                           int32_t k, struct matrix out[MUON_PARTS])
{
    const struct op_param *p = &block->params[k];
    const struct op *g = p->hidden && !p->frozen ? gradient_of(block, p) : NULL;
    const struct model_attention *a = &stage->s->model.attention;
    bool joined =
        library_of(&stage->s->parallel)->own_models && stage->s->model.mlp.gated;
    if (!g || (joined && (is(p, "up.weight") || is(p, "shared_up.weight"))))
        return 0;
    double n = (double)(block->repeat * (g->batch > 1 ? g->batch : 1));
    bool both = joined && (is(p, "gate.weight") || is(p, "shared_gate.weight"));
    if (is(p, "qkv.weight")) {
        int64_t kv = op_keys_width(&stage->s->model, &stage->settings),
                all = a->q_width + 2 * kv;
        out[0] = matrix_of(stage, p, g->m, g->n * a->q_width / all, n);
        out[1] = out[2] = matrix_of(stage, p, g->m, g->n * kv / all, n);
        return MUON_PARTS;
    }
    out[0] = matrix_of(stage, p, g->m, both ? 2 * g->n : g->n, n);
    return 1;
}

/* Products ------------------------------------------------------------------------- */

/* Megatron-LM sets fp32 products to "medium", which CUDA runs in TF32; others cast the
 * matrix to bf16. */
static enum dtype dtype_of(const struct stage *stage)
{
    bool tf32 = library_of(&stage->s->parallel)->muon_tf32 &&
                stage->gpu->peak_flops[DTYPE_TF32] > 0;
    return tf32 ? DTYPE_TF32 : DTYPE_BF16;
}

/* Products of one matrix, in seconds. */
static double products_s(const struct stage *stage, const struct matrix *m)
{
    const struct gpu *gpu = stage->gpu;
    enum dtype d = dtype_of(stage);
    int64_t r = m->rows, c = m->columns;
    double gram_s = kernel_gemm_s(gpu, d, r, r, c, 1, true, kernel_alone),
           square_s = kernel_gemm_s(gpu, d, r, r, r, 1, true, kernel_alone),
           next_s = kernel_gemm_s(gpu, d, r, c, r, 1, true, kernel_alone);
    return (double)stage->s->training.muon_steps * (gram_s + square_s + next_s);
}

/* The step ------------------------------------------------------------------------- */

/* Collectives of a tensor group, for as many matrices as are the rank's; `owed` is what
 * is left of one. */
static int exchange(struct builder *b, enum coll_op op, int64_t elements, double times,
                    double *owed, struct err *err)
{
    if (elements == 0)
        return 0;
    int32_t comm = comms_add(b, CHANNEL_TENSOR, op, FP32_B * (double)elements, err);
    if (comm < 0)
        return -1;
    for (*owed += times; *owed >= 1; --*owed)
        issue_wait(b, program_collective_on(
                          &b->step->program, STREAM_TENSOR, CATEGORY_OPTIMIZER,
                          block_comms_host_s(b->stage), comm, b->last_kernel));
    return 0;
}

struct sums {
    double time_s, largest_s, kernels, owed;
};

static int add_block(struct builder *b, const struct op_block *block, struct sums *u,
                     struct err *err)
{
    enum { KERNELS = 3 }; /* an iteration */
    for (int32_t k = 0; k < block->n_params; k++) {
        struct matrix m[MUON_PARTS];
        int32_t n = matrices_of(b->stage, block, k, m);
        double shards =
            n > 0 ? replicas_shards(b->stage, replicas_of(b->stage, &block->params[k]))
                  : 1;
        double steps = (double)b->stage->s->training.muon_steps;
        for (int32_t i = 0; i < n; i++) {
            double each_s = products_s(b->stage, &m[i]), mine = m[i].n / shards;
            u->time_s += each_s * mine;
            u->largest_s = fmax(u->largest_s, each_s);
            u->kernels += KERNELS * steps * mine;
            if (exchange(b, COLL_ALL_GATHER, m[i].gathered, mine, &u->owed, err) < 0 ||
                exchange(b, COLL_ALL_REDUCE, m[i].summed, steps * mine, &u->owed, err) <
                    0)
                return -1;
        }
    }
    return 0;
}

int muon_update(struct builder *b, struct err *err)
{
    struct sums u = { 0 };
    if (b->stage->s->training.optimizer != OPTIMIZER_MUON)
        return 0;
    for (int32_t i = 0; i < b->stage->list.n_blocks; i++)
        if (add_block(b, &b->stage->list.blocks[i], &u, err) < 0)
            return -1;
    double time_s = fmax(u.time_s, u.largest_s); /* a matrix has one owner */
    issue_kernel(b, CATEGORY_OPTIMIZER,
                 u.kernels * b->stage->fw->host.dispatch_optimizer_s, time_s, time_s);
    issue_label(b, "orthogonalization");
    return 0;
}
