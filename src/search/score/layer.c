/* Layers of scores: times and bytes of one, from its operator list. */
#include "cost/kernel.h"
#include "model/graphs.h"
#include "model/recipe.h"
#include "model/regions.h"
#include "search/score/parts.h"

#include <math.h>

static double dispatch_s(const struct framework *fw, const struct op *op)
{
    return (op->backward ? fw->host.dispatch_backward_s : fw->host.dispatch_forward_s) *
           op->dispatches;
}

static double op_s(const struct scenario *s, const struct gpu *gpu, const struct op *op)
{
    bool half = dtype_bytes(op_compute_dtype(s->training.precision)) <= 2;
    return kernel_framework_s(gpu, s->training.framework, half, op, kernel_alone);
}

double score_settle_s(double deviation_s, double host_s, double gpu_s)
{
    return fmax(host_s, gpu_s) + framework_host_lost_s(deviation_s, host_s, gpu_s);
}

/* What the host takes for a block over the sum of its calls (MODEL.md, R11.10). */
static double host_factor(const struct scenario *s, const struct op_block *b)
{
    bool pairs = s->parallel.dispatch.overlap == EXPERT_OVERLAP_MICROBATCHES;
    return b->routes ? framework_experts_host(s->training.framework, pairs) : 1;
}

static double pass_s(const struct scenario *s, const struct gpu *gpu,
                     const struct op_block *b, bool backward, double *host_s,
                     double *gpu_s)
{
    const struct framework *fw = s->training.framework;
    const struct op *ops = backward ? b->backward : b->forward;
    int32_t n = backward ? b->n_backward : b->n_forward;
    double call_s =
        backward ? fw->host.dispatch_backward_s : fw->host.dispatch_forward_s;
    uint32_t graphs = s->training.graphs;
    double factor = host_factor(s, b);
    *host_s = *gpu_s = 0;
    for (int32_t i = 0; i < n; i++) {
        *host_s += op_graph_captures(b, backward, i, graphs)
                       ? op_graph_host_s(b, backward, i, graphs, call_s)
                       : factor * dispatch_s(fw, &ops[i]);
        *gpu_s += op_s(s, gpu, &ops[i]);
    }
    return score_settle_s(fw->host.launch_jitter * *host_s, *host_s, *gpu_s);
}

/* What each module drops and runs again, and what "operators" keeps. */
static void add_regions(struct score_layer *l, const struct scenario *s,
                        const struct gpu *gpu, const struct op_block *b, double share)
{
    for (int32_t i = 0; i < b->n_forward; i++) {
        const struct op *op = &b->forward[i];
        double time_s = op->regions ? op_s(s, gpu, op) : 0;
        for (int r = 0; r < OP_REGIONS; r++)
            l->region_s[r] += op_region_of(b, i, 1U << r) >= 0 ? share * time_s : 0;
        for (int32_t j = 0; j < op->n_outs; j++) {
            double size = op->outs[j].kept_until >= 0 ? (double)op->outs[j].size_B : 0;
            l->saved_B += op_block_saves(b, i) ? share * size : 0;
            for (int r = 0; r < OP_REGIONS; r++)
                l->region_B[r] += op_region_drops(b, i, j, 1U << r) ? share * size : 0;
        }
    }
}

static void add_layer(struct score_layer *l, const struct scenario *s,
                      const struct gpu *gpu, const struct op_block *b, double share)
{
    double kept_B = 0, weights_s = 0, work_B = 0;
    for (int32_t i = 0; i < b->n_forward; i++)
        for (int32_t j = 0; j < b->forward[i].n_outs; j++) {
            const struct op_out *out = &b->forward[i].outs[j];
            kept_B += out->kept_until >= 0 ? (double)out->size_B : 0;
        }
    add_regions(l, s, gpu, b, share);
    for (int32_t i = 0; i < b->n_backward; i++) {
        const struct op *op = &b->backward[i];
        weights_s += op->kind == OP_GEMM && op->grad_n > 0 ? op_s(s, gpu, op) : 0;
        for (int32_t j = 0; j < op->n_outs; j++)
            work_B = fmax(work_B, (double)op->outs[j].size_B);
    }
    double host_s[2], gpu_s[2];
    pass_s(s, gpu, b, false, &host_s[0], &gpu_s[0]);
    pass_s(s, gpu, b, true, &host_s[1], &gpu_s[1]);
    for (int i = 0; i < 2; i++) {
        l->host_s[i] += share * host_s[i];
        l->gpu_s[i] += share * gpu_s[i];
    }
    l->host_factor += share * host_factor(s, b);
    l->weight_s += share * weights_s;
    l->kept_B += share * kept_B;
    l->work_B = fmax(l->work_B, 2 * work_B);
    l->tensors += share * b->n_params;
    double kept = dtype_bytes(op_parameter_dtype(s->training.precision));
    l->frozen_B += share * op_block_frozen_B(b, kept);
    for (int32_t i = 0; i < b->n_params; i++) {
        bool cast = b->params[i].stored_B <= 0 || b->params[i].stored_B >= kept;
        l->autocast_B +=
            b->params[i].matrix && cast ? share * 2 * (double)b->params[i].elements : 0;
        if (b->params[i].frozen)
            continue;
        l->parameters += share * (double)b->params[i].elements;
        if (b->params[i].expert && s->parallel.expert > 1)
            l->experts += share * (double)b->params[i].elements;
        if (b->params[i].quantized)
            l->quantized += share * (double)b->params[i].elements;
        if (b->params[i].elements <= s->parallel.shard.persistence_elements)
            l->persistent += share * (double)b->params[i].elements;
    }
}

static void add_end(struct score_layer *l, const struct scenario *s,
                    const struct gpu *gpu, const struct op_block *b, int end)
{
    double host_s[2], gpu_s[2];
    l->ends_s[end] += pass_s(s, gpu, b, false, &host_s[0], &gpu_s[0]) +
                      pass_s(s, gpu, b, true, &host_s[1], &gpu_s[1]);
    l->ends_host_s += host_s[0] + host_s[1];
    l->ends_gpu_s += gpu_s[0] + gpu_s[1];
    l->ends_kept_B[end] += (double)op_block_kept_B(b);
    l->ends_parameters[end] += (double)op_block_trained(b);
    l->ends_frozen_B[end] +=
        op_block_frozen_B(b, dtype_bytes(op_parameter_dtype(s->training.precision)));
}

/* Layers that predict further tokens are with the head. */
static bool is_of_stack(const struct op_block *b)
{
    return op_block_is_layer(b) && !op_block_is_mtp(b);
}

/* What a rank sends to its tokens' experts, by all-to-all (step/pass/dispatch.h). */
static double routed_B(const struct scenario *s, const struct op_settings *settings)
{
    const struct model *m = &s->model;
    double width = dtype_bytes(op_compute_dtype(s->training.precision)) <= 2 ? 2 : 4;
    double parts = settings->sequence_parallel ? (double)settings->tensor : 1;
    return (double)op_tokens(settings) / parts * op_experts_each(m, settings) * width *
           (double)model_expert_columns(m) * fmax(1, settings->expert_imbalance);
}

void score_layer_make(struct score_layer *l, const struct scenario *s,
                      const struct gpu *gpu)
{
    struct arena arena;
    struct err err = { 0 };
    struct op_list list;
    struct op_settings settings = scenario_op_settings(s);
    *l = (struct score_layer) { 0 };
    arena_init(&arena);
    if (op_list_make(&list, &arena, &s->model, &settings, &err) == 0) {
        int64_t layers = 0;
        for (int32_t i = 0; i < list.n_blocks; i++)
            layers += is_of_stack(&list.blocks[i]) ? list.blocks[i].repeat : 0;
        for (int32_t i = 0; i < list.n_blocks; i++) {
            const struct op_block *b = &list.blocks[i];
            double share = (double)b->repeat / (double)layers;
            l->differ |= is_of_stack(b) && b->repeat < layers;
            if (is_of_stack(b))
                add_layer(l, s, gpu, b, share);
            if (is_of_stack(b) && b->routes)
                l->routed_B += share * routed_B(s, &settings);
            if (!is_of_stack(b))
                add_end(l, s, gpu, b, i == list.n_blocks - 1 || op_block_is_mtp(b));
        }
        if (model_ties_head(&s->model) && !list.blocks[0].params[0].frozen)
            l->word_parameters = (double)list.blocks[0].params[0].elements;
        double width =
            dtype_bytes(op_compute_dtype(s->training.precision)) <= 2 ? 2 : 4;
        double tokens = (double)op_tokens(&settings);
        l->exchange_B = tokens * (double)s->model.hidden * width;
        l->input_B = l->exchange_B * (op_is_autocast(s->training.precision) ? 2 : 1) /
                     (double)(settings.sequence_parallel ? settings.tensor : 1);
        if (!op_is_autocast(s->training.precision))
            l->autocast_B = 0;
        if (s->training.quantized_parameters)
            l->narrower_B =
                (2 - op_recipe_of(s->training.precision)->gather_B) * l->quantized;
        l->ok = true;
    }
    arena_release(&arena);
}

/* The update --------------------------------------------------------------------- */

double score_update_s(const struct space_point *p, const struct score_sums *u)
{
    const struct framework_optimizer *o = &u->fw->optimizers[u->s->training.optimizer];
    bool divided = p->v[SPACE_SHARDING] != SHARDING_NONE;
    double shared = u->stage_parameters - u->stage_experts;
    double elements = divided ? shared / u->shards + u->stage_experts / u->expert_shards
                              : u->stage_parameters;
    double time_s =
        kernel_stream_s(u->gpu, states_update_B(u->s) * elements, kernel_alone);
    double launches = u->l->tensors * u->stage_layers * (double)o->kernels_per_tensor;
    double dispatch_s = framework_optimizer_dispatch_s(u->fw, o);
    time_s = fmax(time_s, launches * fmax(dispatch_s, u->gpu->kernel_s));
    if (p->v[SPACE_OFFLOAD] != OFFLOAD_NONE) /* gradients down, parameters up, CPU */
        time_s = 2 * u->states.made_B * elements / u->instance->host_pinned_Bps +
                 states_host_update_s(u->s, u->instance, p->v[SPACE_GPUS], elements);
    return time_s + o->fixed_s;
}
