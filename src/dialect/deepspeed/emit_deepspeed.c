/* A scenario as DeepSpeed's configuration: the keys that deepspeed.c and
 * zero_optimization.c read. */
#include "dialect/emit/emit_parts.h"

#include <stdlib.h>
#include <string.h>

static void put(json_t *o, const char *key, json_t *value)
{
    json_object_set_new(o, key, value);
}

static void put_whole(json_t *o, const char *key, int64_t n)
{
    put(o, key, json_integer((json_int_t)n));
}

/* The section that turns a precision on; NULL: fp32, or one that DeepSpeed has not. fp8
 * is the model's, over bf16. */
static const char *precision_section(enum op_precision p)
{
    switch (p) {
    case OP_FP16:
        return "fp16";
    case OP_BF16:
    case OP_FP8:
        return "bf16";
    case OP_AMP_FP16:
        return "amp";
    case OP_AMP_BF16:
        return "torch_autocast";
    default:
        return NULL;
    }
}

/* Bytes of a gradient in a bucket, as the reader has it. */
static int64_t gradient_B(const struct training *t)
{
    const char *section = precision_section(t->precision);
    if (t->gradient_dtype >= 0)
        return (int64_t)dtype_bytes((enum dtype)t->gradient_dtype);
    return section && strstr(section, "16") ? 2 : 4;
}

static void put_stage3(json_t *z, const struct parallelism *p)
{
    put_whole(z, "reduce_bucket_size", p->shard.bucket_elements);
    put_whole(z, "stage3_param_persistence_threshold", p->shard.persistence_elements);
    if (p->shard.live_elements > 0)
        put_whole(z, "stage3_max_live_parameters", p->shard.live_elements);
    put_whole(z, "stage3_max_reuse_distance", p->shard.reuse_elements);
    if (p->shard.degree != p->data * p->context) {
        put_whole(z, "mics_shard_size", p->shard.degree);
        put(z, "mics_hierarchical_params_gather", json_boolean(p->shard.hierarchical));
    }
}

static json_t *zero_tree(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    json_t *z = json_object();
    put_whole(z, "stage", (int64_t)p->shard.strategy);
    if (p->shard.strategy == SHARDING_NONE)
        return z;
    put(z, "overlap_comm", json_boolean(p->reduce.overlap));
    if (p->shard.strategy == SHARDING_FULL)
        put_stage3(z, p);
    else if (p->reduce.bucket_B > 0)
        put_whole(z, "reduce_bucket_size",
                  p->reduce.bucket_B / gradient_B(&s->training));
    if (p->shard.offload != OFFLOAD_NONE)
        put(z, "offload_optimizer", json_pack("{s:s}", "device", "cpu"));
    if (p->shard.offload == OFFLOAD_PARAMETERS)
        put(z, "offload_param", json_pack("{s:s}", "device", "cpu"));
    return z;
}

static void put_precision(json_t *o, const struct training *t)
{
    const char *section = precision_section(t->precision);
    if (section)
        put(o, section, json_pack("{s:b}", "enabled", 1));
    if (t->gradient_dtype >= 0)
        put(o, "communication_data_type",
            json_string(names_of(dtype_names, t->gradient_dtype)));
}

static void put_optimizer(json_t *o, const struct training *t)
{
    static const struct name_value types[] = {
        { "AdamW", OPTIMIZER_ADAM },
        { "Lamb", OPTIMIZER_LAMB },
        { "SGD", OPTIMIZER_SGD },
        { "Adafactor", OPTIMIZER_ADAFACTOR },
        { NULL, 0 },
    };
    const char *type = names_of(types, (int)t->optimizer);
    if (type)
        put(o, "optimizer", json_pack("{s:s}", "type", type));
    if (t->gradient_clipping > 0)
        put(o, "gradient_clipping", json_real(t->gradient_clipping));
}

json_t *emit_deepspeed_tree(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    const struct training *t = &s->training;
    json_t *o = json_object();
    put_whole(o, "train_batch_size", t->global_batch_size);
    put_whole(o, "train_micro_batch_size_per_gpu", t->micro_batch_size);
    put_whole(o, "gradient_accumulation_steps", t->accumulation * t->microbatches);
    put(o, "zero_optimization", zero_tree(s));
    put_precision(o, t);
    put_optimizer(o, t);
    if (p->pipeline > 1)
        put(o, "pipeline", json_pack("{s:I}", "stages", (json_int_t)p->pipeline));
    if (p->tensor > 1)
        put(o, "tensor_parallel",
            json_pack("{s:I}", "autotp_size", (json_int_t)p->tensor));
    if (p->offload_activations)
        put(o, "activation_checkpointing", json_pack("{s:b}", "cpu_checkpointing", 1));
    return o;
}

int emit_deepspeed(struct strbuf *out, const struct emit_source *e, struct err *err)
{
    const struct scenario *s = e->s;
    if (s->parallel.reduce.library != LIBRARY_DEEPSPEED || s->parallel.smp)
        return err_set(err,
                       "DeepSpeed's configuration is for the library deepspeed, "
                       "not for %s (--emit sagemaker or scenario may do)",
                       s->parallel.smp
                           ? "SMP"
                           : names_of(library_names, (int)s->parallel.reduce.library));
    json_t *o = emit_deepspeed_tree(s);
    char *text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    strbuf_printf(out, "%s\n", text);
    free(text);
    json_decref(o);
    return 0;
}
