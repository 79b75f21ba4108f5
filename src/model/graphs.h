/* CUDA graphs of parts of a layer (Megatron-LM's --cuda-graph-impl and
 * --cuda-graph-scope, megatron/core/transformer/transformer_config.py): which operators
 * are captured, and what the host spends on them (MODEL.md, 8.25). */
#ifndef MODEL_GRAPHS_H
#define MODEL_GRAPHS_H

#include "model/ops.h"

enum op_graph {
    OP_GRAPH_ATTENTION,  /* with its norm and the sum after it */
    OP_GRAPH_MLP,        /* likewise, of dense layers */
    OP_GRAPH_MOE,        /* likewise, of layers of experts */
    OP_GRAPH_ROUTER,     /* with its norm and shared experts */
    OP_GRAPH_PREPROCESS, /* counts of tokens, which the list has with the router */
    OP_GRAPH_STATE,      /* as attention, of layers that keep a state */
    OP_GRAPH_LAYER,
    OP_GRAPH_ITERATION, /* forward and backward, the optimizer apart */
    OP_GRAPHS
};
extern const struct name_value op_graph_names[];

/* Whether an operator of a block is captured by one of the graphs (bits 1 << graph). */
bool op_graph_captures(const struct op_block *b, bool backward, int32_t at,
                       uint32_t graphs);

/* Seconds of the host for a captured operator: the launch of the graph that begins with
 * it, by a call that takes call_s; else 0. A graph is what is captured in a row. */
double op_graph_host_s(const struct op_block *b, bool backward, int32_t at,
                       uint32_t graphs, double call_s);

/* Bytes of the graphs' own pool: the most that dies within one of a block's operators
 * (PyTorch, "Graph memory management": a graph's pool serves no other allocation). */
int64_t op_graph_pool_B(const struct op_block *b, uint32_t graphs);

#endif
