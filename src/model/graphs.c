#include "model/graphs.h"

#include "base/names.h"

#include <string.h>

/* clang-format off */
const struct name_value op_graph_names[] = {
    { "attn", OP_GRAPH_ATTENTION }, { "mlp", OP_GRAPH_MLP }, { "moe", OP_GRAPH_MOE },
    { "moe_router", OP_GRAPH_ROUTER }, { "moe_preprocess", OP_GRAPH_PREPROCESS },
    { "mamba", OP_GRAPH_STATE }, { "layer", OP_GRAPH_LAYER }, { "full_iteration", OP_GRAPH_ITERATION }, { NULL, 0 },
};
/* clang-format on */

/* A launch of a straight line of kernels: 2.5 us and 1 ns a kernel (NVIDIA's technical
 * blog, "Constant Time Launch for Straight-Line CUDA Graphs", CUDA 12.6 on x86). */
static const double launch_s = 2.5e-6, node_s = 1e-9;

/* Norm, router, and the experts that all tokens go through. */
static bool is_routers(const struct op *op)
{
    static const char *const names[] = {
        "norm2",       "norm2_bwd", "router",    "router_dgrad",   "router_wgrad",
        "router_bias", "route",     "route_bwd", "router_sum_bwd", NULL
    };
    return names_listed(names, op->name) ||
           (strncmp(op->name, "shared_", 7) == 0 && !strstr(op->name, "_sum"));
}

bool op_graph_captures(const struct op_block *b, bool backward, int32_t at,
                       uint32_t graphs)
{
    const struct op *op = backward ? &b->backward[at] : &b->forward[at];
    if (graphs >> OP_GRAPH_ITERATION & 1)
        return true;
    if (!graphs || !op_block_is_layer(b))
        return false;
    if (graphs >> OP_GRAPH_LAYER & 1)
        return true;
    if (op->module == OP_ATTENTION)
        return graphs >>
                   (op_block_has(b, "state_in") ? OP_GRAPH_STATE : OP_GRAPH_ATTENTION) &
               1;
    if (!b->routes)
        return graphs >> OP_GRAPH_MLP & 1;
    return graphs >> OP_GRAPH_MOE & 1 ||
           (graphs >> OP_GRAPH_ROUTER & 1 && is_routers(op));
}

double op_graph_host_s(const struct op_block *b, bool backward, int32_t at,
                       uint32_t graphs, double call_s)
{
    const struct op *ops = backward ? b->backward : b->forward;
    int32_t n = backward ? b->n_backward : b->n_forward, kernels = 0;
    if (graphs >> OP_GRAPH_ITERATION & 1 ||
        (at > 0 && op_graph_captures(b, backward, at - 1, graphs)))
        return 0;
    for (int32_t i = at; i < n && op_graph_captures(b, backward, i, graphs); i++)
        kernels += ops[i].launches;
    return call_s + launch_s + node_s * kernels;
}

static int64_t dying_B(const struct op *op)
{
    int64_t sum = 0;
    for (int32_t j = 0; j < op->n_outs; j++)
        sum += op->outs[j].kept_until < 0 ? op->outs[j].size_B : 0;
    return sum;
}

int64_t op_graph_pool_B(const struct op_block *b, uint32_t graphs)
{
    int64_t most_B = 0;
    if (graphs >> OP_GRAPH_ITERATION & 1)
        return 0; /* all that a pass makes is in it */
    for (int side = 0; side < 2; side++)
        for (int32_t i = 0; i < (side ? b->n_backward : b->n_forward); i++) {
            const struct op *op = side ? &b->backward[i] : &b->forward[i];
            if (op_graph_captures(b, side, i, graphs) && dying_B(op) > most_B)
                most_B = dying_B(op);
        }
    return most_B;
}
