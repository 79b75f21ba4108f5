/* Models whose layers are of several kinds: state-space mixers among attention, layers
 * that are a mixer or an MLP alone, experts in some. A model of one kind (`model.kind`)
 * is what the operator list is built of. */
#ifndef MODEL_PATTERN_H
#define MODEL_PATTERN_H

#include "model/model.h"

/* The model as its layers of a kind are: mixer and MLP of these alone. */
struct model model_of_kind(const struct model *m, struct model_kind kind);

/* Kind of layer i. Without a pattern: the model's own, or its dense first layers'. */
struct model_kind model_kind_of(const struct model *m, int64_t i);

/* Layers from i on that are of layer i's kind. */
int64_t model_kind_run(const struct model *m, int64_t i);

bool model_kind_same(struct model_kind a, struct model_kind b);

/* What a layer of the kind is called in operator lists: "state_layer". Experts or none
 * in its MLP are what the model has. */
const char *model_kind_name(const struct model *m, struct model_kind kind);

/* Layers with attention; with a state; with experts. */
int64_t model_attention_layers(const struct model *m);
int64_t model_state_layers(const struct model *m);
int64_t model_expert_layers(const struct model *m);

/* A pattern in Megatron-LM's letters (megatron/core/ssm/mamba_hybrid_layer_allocation.py,
 * Symbols): M state, * attention, - MLP, E experts. Gives the number of layers, or -1
 * where a letter is none of these. `kinds` has room for every letter. */
int64_t model_pattern_parse(const char *text, struct model_kind *kinds);

/* The letter of a kind; 0 where a layer is more than one of these. */
char model_pattern_letter(struct model_kind kind);

/* Columns of a state mixer: what it mixes; its keys, of all groups; what its convolution
 * sees; what its first product makes. */
int64_t model_state_width(const struct model_state *s);
int64_t model_state_keys(const struct model_state *s);
int64_t model_state_conv(const struct model_state *s);
int64_t model_state_in(const struct model_state *s);

/* Of what the first product makes, the columns on one of t ranks: KDA's low ranks are on
 * each. */
int64_t model_state_in_on(const struct model_state *s, int64_t t);

#endif
