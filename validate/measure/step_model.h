/* The transformer whose training step is run: sizes and choices from a config.json of
 * Hugging Face (bert, roberta, gpt2, llama). */
#ifndef SMSIM_MEASURE_STEP_MODEL_H
#define SMSIM_MEASURE_STEP_MODEL_H

#include "measure.h"

struct step_model {
    const char *family; /* model_type */
    int64_t layers, hidden, heads, head_dim, ffn;
    int64_t words, vocab; /* vocab: padded to a multiple of 8 */
    int64_t positions, types;
    bool causal, post_norm, rms, gated, rotary, bias, tied, embedding_norm;
    bool masked_head; /* dense, activation and norm before the logits */
    float hidden_dropout, attention_dropout;
};

int step_model_read(struct measure *m, struct step_model *model, const char *file);

/* The field "config" of a row: what was read, as a config.json has it, so that whoever
 * reads the row needs no other file. */
void step_model_row(struct measure *m, const struct step_model *model);

#endif
