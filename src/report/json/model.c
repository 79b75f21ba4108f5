#include "config/contract.h"
#include "model/pattern.h"
#include "report/model_report.h"

/* What members are made of. */
struct understood {
    struct model m;
    struct model_summary s;
    int64_t window, attention_layers, state_layers;
    const char *const *assumed;
    const struct diags *diags;
};

/* clang-format off */
#define SIZE(key, member, text) CONTRACT_AT(key, INT64, understood, member, text)
static const struct contract_member size_rows[] = {
    SIZE("layers", m.layers, "Layers, of an encoder-decoder those of the encoder."),
    SIZE("decoder_layers", m.decoder_layers, "Of an encoder-decoder; 0: one stack."),
    SIZE("hidden", m.hidden, "Width of the residual stream."),
    SIZE("heads", m.attention.heads, "Heads of attention."),
    SIZE("kv_heads", m.attention.kv_heads, "Heads of keys and values."),
    SIZE("head_dim", m.attention.head_dim, "Columns of a head."),
    SIZE("latent_columns", m.attention.latent_kv, "Columns of which latent attention makes keys and values; 0: none."),
    SIZE("window", window, "Keys that layers with a sliding window see; 0: none."),
    SIZE("mlp_width", m.mlp.width, "Width of an MLP, or of an expert."),
    SIZE("experts", m.mlp.experts, "Experts of a layer; 0: none."),
    SIZE("experts_per_token", m.mlp.experts_per_token, "Experts that a token is routed to."),
    SIZE("shared_expert_width", m.mlp.shared_width, "Width of experts that all tokens go through; 0: none."),
    SIZE("dense_layers", m.mlp.dense_layers, "Layers without experts, where others have some."),
    SIZE("dense_mlp_width", m.mlp.dense_width, "Width of their MLPs."),
    SIZE("attention_layers", attention_layers, "Layers with attention, where layers are of several kinds; 0: all are alike."),
    SIZE("state_layers", state_layers, "Layers that keep a state (Mamba), likewise."),
    SIZE("state_heads", m.state.heads, "Their heads; 0: none."),
    SIZE("state_size", m.state.size, "Numbers of state a column of a head."),
    SIZE("expert_latent_columns", m.mlp.latent, "Columns that experts read and write; 0: the hidden size."),
    SIZE("vocabulary", m.ends.vocab, "Entries of the vocabulary."),
    SIZE("positions", m.ends.positions, "Learned positions; 0: none."),
    CONTRACT_END,
};
static const struct contract_object sizes = { "sizes", size_rows };

static const struct contract_member block_rows[] = {
    CONTRACT_AT("name", TEXT, summary_block, name, "The kind of layers, or the end of the model."),
    CONTRACT_AT("repeat", INT64, summary_block, repeat, "How many there are."),
    CONTRACT_AT("parameters", INT64, summary_block, parameters, "Of one."),
    CONTRACT_AT("forward_flops_per_token", REAL, summary_block, forward_flops, "FLOPs of one."),
    CONTRACT_AT("activation_bytes_per_token", REALS, summary_block, kept_B, "Kept for backward, by precision.", .names = op_precision_names),
    CONTRACT_END,
};
static const struct contract_object block = { "block", block_rows };
/* clang-format on */

static json_t *blocks(const void *of)
{
    const struct model_summary *s = &((const struct understood *)of)->s;
    return contract_list(&block, s->blocks, s->n_blocks, sizeof(*s->blocks));
}

static json_t *assumed(const void *of)
{
    json_t *list = json_array();
    for (const char *const *a = ((const struct understood *)of)->assumed; *a; a++)
        json_array_append_new(list, json_string(*a));
    return list;
}

static json_t *warnings(const void *of)
{
    return diags_json(((const struct understood *)of)->diags);
}

/* clang-format off */
static const struct contract_member rows[] = {
    CONTRACT_AT("model", TEXT, understood, m.label, "The model's name."),
    CONTRACT_AT("family", TEXT, understood, m.family, "Its model_type."),
    CONTRACT_AT("parameters", INT64, understood, s.parameters, "All parameters; tied matrices once."),
    CONTRACT_AT("active_parameters", INT64, understood, s.active, "Those that one token uses: of experts its own."),
    CONTRACT_AT("parameters_with_head", INT64, understood, s.with_head, "With the head that is trained, where parameters leaves it out (encoders): the masked words', or one of two classes."),
    CONTRACT_AT("parameters_by_part", INT64S, understood, s.parts, "They sum to parameters. mlp holds shared experts, experts the routers, head what is not the embedding's matrix.", .names = summary_part_names),
    CONTRACT_AT("sizes", OBJECT, understood, m, "Sizes of the layers; 0: the model has none.", .of = &sizes),
    CONTRACT_AT("sequence_length", INT64, understood, s.sequence, "Tokens of the sequences that the following figures are of."),
    CONTRACT_AT("forward_flops_per_token", REAL, understood, s.forward_flops, "FLOPs of a forward pass; causal attention counts half of the scores."),
    CONTRACT_AT("training_flops_per_token", REAL, understood, s.training_flops, "Forward and backward, nothing recomputed."),
    CONTRACT_AT("kv_cache_bytes_per_token", REAL, understood, s.kv_B, "Keys and values of all layers in 16 bits; 0: no decoder."),
    CONTRACT_MADE("blocks", LIST, blocks, "Kinds of layers and the ends, in order.", .of = &block),
    CONTRACT_MADE("assumed", LIST, assumed, "What was not given.", .items = CONTRACT_TEXT),
    CONTRACT_MADE("warnings", LIST, warnings, "What was warned of: what the file says that is not modelled, times by laws that nothing measured.", .of = &diag_contract),
    CONTRACT_END,
};
static const struct contract_object result = { "result", rows };
/* clang-format on */
const struct contract report_model_contract = { "urn:smsim:model-summary:1",
                                                "The result of smsim model --json",
                                                { &result } };

json_t *report_model_json(const struct model *m, const struct model_summary *s,
                          const char *const *words, const struct diags *diags)
{
    const struct understood x = {
        .m = *m,
        .s = *s,
        .window = m->attention.windowed_share > 0 ? m->attention.window : 0,
        .attention_layers = m->pattern ? model_attention_layers(m) : 0,
        .state_layers = m->pattern ? model_state_layers(m) : 0,
        .assumed = words,
        .diags = diags,
    };
    return contract_result(&report_model_contract, &x);
}
