/* Sums over blocks of operators, and what a block is: see ops.h. */
#include "model/ops.h"

#include <string.h>

int64_t op_block_parameters(const struct op_block *block)
{
    int64_t n = 0;
    for (int32_t i = 0; i < block->n_params; i++)
        n += block->params[i].elements;
    return n;
}

int64_t op_list_parameters(const struct op_list *list)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < list->n_blocks; i++)
        for (int32_t j = 0; j < list->blocks[i].n_params; j++)
            sum += list->blocks[i].repeat * list->blocks[i].params[j].elements;
    return sum;
}

int64_t op_block_trained(const struct op_block *block)
{
    int64_t n = 0;
    for (int32_t i = 0; i < block->n_params; i++)
        n += block->params[i].frozen ? 0 : block->params[i].elements;
    return n;
}

int64_t op_list_trained(const struct op_list *list)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < list->n_blocks; i++)
        sum += list->blocks[i].repeat * op_block_trained(&list->blocks[i]);
    return sum;
}

double op_param_stored_B(const struct op_param *p, double kept_B)
{
    return p->stored_B > 0 ? p->stored_B : kept_B;
}

double op_block_frozen_B(const struct op_block *block, double kept_B)
{
    double sum = 0;
    for (int32_t i = 0; i < block->n_params; i++)
        if (block->params[i].frozen)
            sum += (double)block->params[i].elements *
                   op_param_stored_B(&block->params[i], kept_B);
    return sum;
}

bool op_block_is_layer(const struct op_block *block)
{
    size_t n = strlen(block->name);
    return n >= 5 && strcmp(block->name + n - 5, "layer") == 0;
}

bool op_block_is_mtp(const struct op_block *block)
{
    return strncmp(block->name, "mtp_", 4) == 0;
}

int64_t op_block_kept_B(const struct op_block *block)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < block->n_forward; i++)
        for (int32_t j = 0; j < block->forward[i].n_outs; j++)
            if (block->forward[i].outs[j].kept_until >= 0)
                sum += block->forward[i].outs[j].size_B;
    return sum;
}

/* With one matrix: attention's and the experts' are batches. */
static bool is_product(const struct op *op)
{
    return op->kind == OP_GEMM && op->batch <= 1;
}

bool op_block_saves(const struct op_block *block, int32_t forward)
{
    const struct op *op = &block->forward[forward];
    int32_t products = 0;
    if (!is_product(op))
        return op->kind == OP_FLASH;
    for (int32_t i = 0; i <= forward; i++)
        products += is_product(&block->forward[i]);
    return products % 2 == 1;
}
