#include "report/model_report.h"

#include "config/contract.h"

static json_t *whole(int64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *parts_json(const struct model_summary *s)
{
    json_t *o = json_object();
    for (int i = 0; i < SUMMARY_PARTS; i++)
        json_object_set_new(o, names_of(summary_part_names, i), whole(s->parts[i]));
    return o;
}

static json_t *sizes_json(const struct model *m)
{
    const struct model_attention *a = &m->attention;
    const struct {
        const char *name;
        int64_t v;
    } rows[] = {
        { "layers", m->layers },
        { "decoder_layers", m->decoder_layers },
        { "hidden", m->hidden },
        { "heads", a->heads },
        { "kv_heads", a->kv_heads },
        { "head_dim", a->head_dim },
        { "latent_columns", a->latent_kv },
        { "window", a->windowed_share > 0 ? a->window : 0 },
        { "mlp_width", m->mlp.width },
        { "experts", m->mlp.experts },
        { "experts_per_token", m->mlp.experts_per_token },
        { "shared_expert_width", m->mlp.shared_width },
        { "dense_layers", m->mlp.dense_layers },
        { "dense_mlp_width", m->mlp.dense_width },
        { "vocabulary", m->ends.vocab },
        { "positions", m->ends.positions },
    };
    json_t *o = json_object();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        json_object_set_new(o, rows[i].name, whole(rows[i].v));
    return o;
}

static json_t *blocks_json(const struct model_summary *s)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < s->n_blocks; i++) {
        const struct summary_block *b = &s->blocks[i];
        json_t *o = json_object(), *kept = json_object();
        for (int p = 0; p < OP_PRECISION_N; p++)
            json_object_set_new(kept, names_of(op_precision_names, p),
                                json_real(b->kept_B[p]));
        json_object_set_new(o, "name", json_string(b->name));
        json_object_set_new(o, "repeat", whole(b->repeat));
        json_object_set_new(o, "parameters", whole(b->parameters));
        json_object_set_new(o, "forward_flops_per_token", json_real(b->forward_flops));
        json_object_set_new(o, "activation_bytes_per_token", kept);
        json_array_append_new(list, o);
    }
    return list;
}

json_t *report_model_json(const struct model *m, const struct model_summary *s,
                          const char *const *assumed)
{
    json_t *o = json_object(), *words = json_array();
    for (; *assumed; assumed++)
        json_array_append_new(words, json_string(*assumed));
    json_object_set_new(o, "schema", json_string(CONTRACT_MODEL_SUMMARY));
    json_object_set_new(o, "model", json_string(m->label));
    json_object_set_new(o, "family", json_string(m->family));
    json_object_set_new(o, "parameters", whole(s->parameters));
    json_object_set_new(o, "active_parameters", whole(s->active));
    json_object_set_new(o, "parameters_by_part", parts_json(s));
    json_object_set_new(o, "sizes", sizes_json(m));
    json_object_set_new(o, "sequence_length", whole(s->sequence));
    json_object_set_new(o, "forward_flops_per_token", json_real(s->forward_flops));
    json_object_set_new(o, "training_flops_per_token", json_real(s->training_flops));
    json_object_set_new(o, "kv_cache_bytes_per_token", json_real(s->kv_B));
    json_object_set_new(o, "blocks", blocks_json(s));
    json_object_set_new(o, "assumed", words);
    return o;
}
