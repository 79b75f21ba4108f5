/* A scenario as DeepSpeed's configuration: each key as its row says. */
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/emit/emit_parts.h"
#include "scenario/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* What no field says alone --------------------------------------------------------- */

static json_t *whole(int64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *enabled(const struct scenario *s, const char *section)
{
    const char *own = precision_section(s->training.precision);
    return own && strcmp(own, section) == 0 ? json_true() : NULL;
}

json_t *deepspeed_give_fp16(const struct scenario *s)
{
    return enabled(s, "fp16");
}

json_t *deepspeed_give_bf16(const struct scenario *s)
{
    return enabled(s, "bf16");
}

json_t *deepspeed_give_amp(const struct scenario *s)
{
    return enabled(s, "amp");
}

json_t *deepspeed_give_autocast(const struct scenario *s)
{
    return enabled(s, "torch_autocast");
}

json_t *deepspeed_give_accumulation(const struct scenario *s)
{
    return whole(s->training.accumulation * s->training.microbatches);
}

json_t *deepspeed_give_clipping(const struct scenario *s)
{
    double norm = s->training.gradient_clipping;
    return norm > 0 ? json_real(norm) : NULL;
}

json_t *deepspeed_give_stage(const struct scenario *s)
{
    return whole((int64_t)s->parallel.shard.strategy);
}

/* Without ZeRO nothing overlaps, and buckets are not its own. */
json_t *deepspeed_give_overlap(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    return p->shard.strategy ? json_boolean(p->reduce.overlap) : NULL;
}

json_t *deepspeed_give_bucket(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    if (p->shard.strategy == SHARDING_FULL)
        return whole(p->shard.bucket_elements);
    return p->shard.strategy && p->reduce.bucket_B > 0
               ? whole(p->reduce.bucket_B / gradient_B(&s->training))
               : NULL;
}

/* Groups of fewer than all ranks are MiCS. */
static bool in_groups(const struct parallelism *p)
{
    return p->shard.strategy == SHARDING_FULL &&
           p->shard.degree != p->data * p->context;
}

json_t *deepspeed_give_mics(const struct scenario *s)
{
    return in_groups(&s->parallel) ? whole(s->parallel.shard.degree) : NULL;
}

json_t *deepspeed_give_hierarchical(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    return in_groups(p) ? json_boolean(p->shard.hierarchical) : NULL;
}

json_t *deepspeed_give_states(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    return p->shard.strategy && p->shard.offload ? json_string("cpu") : NULL;
}

json_t *deepspeed_give_params(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    bool moved = p->shard.strategy && p->shard.offload == OFFLOAD_PARAMETERS;
    return moved ? json_string("cpu") : NULL;
}

/* The file ------------------------------------------------------------------------- */

/* The object at "zero_optimization/offload_param", made where it is not there. */
static json_t *section(json_t *o, const char *path)
{
    char key[64];
    while (*path) {
        size_t n = strcspn(path, "/");
        snprintf(key, sizeof(key), "%.*s", (int)n, path);
        if (!json_object_get(o, key))
            json_object_set_new(o, key, json_object());
        o = json_object_get(o, key);
        path += n + (path[n] == '/');
    }
    return o;
}

static void put_key(void *arg, const char *path, const char *name, json_t *value)
{
    json_object_set_new(section(arg, path), name, value);
}

json_t *emit_deepspeed_tree(const struct scenario *s)
{
    json_t *o = json_object();
    emit_options(deepspeed_tables, s, put_key, o);
    return o;
}

int emit_deepspeed(struct strbuf *out, const struct emit_source *e, struct err *err)
{
    const struct scenario *s = e->s;
    if (library_of(&s->parallel) != &library_deepspeed)
        return err_set(err,
                       "DeepSpeed's configuration is for the library deepspeed, "
                       "not for %s (--emit scenario has any)",
                       library_of(&s->parallel)->name);
    json_t *o = emit_deepspeed_tree(s);
    char *text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    strbuf_printf(out, "%s\n", text);
    free(text);
    json_decref(o);
    return 0;
}
