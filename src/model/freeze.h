/* Layers, embeddings and heads that are not trained, without adapters. */
#ifndef MODEL_FREEZE_H
#define MODEL_FREEZE_H

#include "model/lora.h"

#include <stddef.h>

/* Whether whole blocks are not trained: layers, embedding, head, an encoder; or parts of
 * all layers, below which there may be no gradient. */
bool freeze_holds_blocks(const struct lora *l);

/* "layer 3" or "layers 0-23", from 0 on, the last one too; "layers but last 2" or "layers
 * but first 2" of so many as the model has at most. -1: none of these. */
int freeze_read_layers(const char *word, int64_t most, struct layer_run *run);

/* The i-th run of layers as such a word, in the buffer; NULL: no more. */
const char *freeze_layers_word(const struct lora *l, int32_t i, char *buf, size_t size);

#endif
