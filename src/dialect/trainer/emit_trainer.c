/* A scenario as arguments of the Hugging Face Trainer, by the names that the table of
 * hyperparameters reads: as a shell script, or within an estimator. */
#include "dialect/emit/emit_parts.h"
#include "dialect/trainer/trainer.h"
#include "model/hub.h"
#include "scenario/attention.h"
#include "scenario/libraries.h"

#include <stdlib.h>
#include <string.h>

/* "full_shard auto_wrap" and the like; NULL: the Trainer has no word for it. Hybrid is
 * over the GPUs of an instance. */
static const char *fsdp_words(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    bool hybrid = p->shard.degree != p->data * p->context,
         offload = p->shard.offload != OFFLOAD_NONE;
    if (p->shard.strategy != SHARDING_FULL || p->pipeline > 1 || p->tensor > 1 ||
        (hybrid &&
         p->shard.degree != cluster_hosts(&s->cluster.groups[0]).instance->n_gpus))
        return NULL;
    if (hybrid && offload)
        return p->shard.reshard ? "hybrid_shard auto_wrap offload"
                                : "hybrid_shard_zero2 auto_wrap offload";
    if (hybrid)
        return p->shard.reshard ? "hybrid_shard auto_wrap"
                                : "hybrid_shard_zero2 auto_wrap";
    if (offload)
        return p->shard.reshard ? "full_shard auto_wrap offload"
                                : "shard_grad_op auto_wrap offload";
    return p->shard.reshard ? "full_shard auto_wrap" : "shard_grad_op auto_wrap";
}

/* What shards, in the Trainer's arguments. */
static int put_sharding(json_t *h, const struct scenario *s, struct err *err)
{
    const struct library_row *library = library_of(&s->parallel);
    const char *fsdp = fsdp_words(s);
    if (library == &library_deepspeed)
        json_object_set_new(h, "deepspeed", emit_deepspeed_tree(s));
    if (library != &library_fsdp)
        return 0;
    if (!fsdp)
        return err_set(
            err, "the Trainer's fsdp shards over all GPUs or those of an instance, "
                 "without pipelines or tensor groups (--emit scenario has them)");
    json_object_set_new(h, "fsdp", json_string(fsdp));
    return 0;
}

/* What no field says alone --------------------------------------------------------- */

json_t *trainer_give_model(const struct scenario *s)
{
    const char *id = s->model.name; /* with its organisation, where it has one */
    return json_string(hub_is_id(id) ? id : s->model.label);
}

static json_t *converts_to(const struct scenario *s, enum dtype wanted)
{
    bool fp8 = s->training.precision == OP_FP8; /* the model's own, over bf16 */
    enum dtype type = fp8 ? DTYPE_BF16 : op_compute_dtype(s->training.precision);
    bool dictionary = library_of(&s->parallel)->smp.precision &&
                      !op_is_autocast(s->training.precision);
    return !dictionary && type == wanted ? json_true() : NULL;
}

json_t *trainer_give_fp16(const struct scenario *s)
{
    return converts_to(s, DTYPE_FP16);
}

json_t *trainer_give_bf16(const struct scenario *s)
{
    return converts_to(s, DTYPE_BF16);
}

/* 0 is written, too: the Trainer clips without it, but for DeepSpeed's own file. */
json_t *trainer_give_norm(const struct scenario *s)
{
    double norm = s->training.gradient_clipping;
    bool own = library_of(&s->parallel)->smp.sharding &&
               s->parallel.shard.strategy == SHARDING_FULL;
    bool implied = norm <= 0 && library_of(&s->parallel) == &library_deepspeed;
    return own || implied ? NULL : json_real(norm);
}

/* DDP's buckets, in MiB (transformers/training_args.py). */
json_t *trainer_give_bucket(const struct scenario *s)
{
    enum { MIB = 1 << 20 };
    const struct parallelism *p = &s->parallel;
    bool ddp = library_of(p) == &library_ddp;
    bool whole = p->reduce.bucket_B > 0 && p->reduce.bucket_B % MIB == 0;
    return ddp && whole ? json_integer((json_int_t)(p->reduce.bucket_B / MIB)) : NULL;
}

json_t *trainer_give_workers(const struct scenario *s)
{
    int64_t n = 0;
    struct cfg given = cfg_get(s->sections.input, "workers");
    bool known = cfg_present(given) && cfg_int(given, &n, 0, INT64_MAX) == 0;
    return known ? json_integer((json_int_t)n) : NULL;
}

/* All arguments -------------------------------------------------------------------- */

static void put_argument(void *arg, const char *path, const char *name, json_t *value)
{
    (void)path;
    json_object_set_new(arg, name, value);
}

int emit_trainer_arguments(json_t **out, const struct emit_source *e, struct err *err)
{
    const struct scenario *s = e->s;
    json_t *h = json_object();
    emit_options(trainer_tables, s, put_argument, h);
    if (put_sharding(h, s, err)) {
        json_decref(h);
        return -1;
    }
    *out = h;
    return 0;
}

/* A line of the command. */
static void add_argument(struct strbuf *out, const char *name, const json_t *value)
{
    char *text = json_is_string(value)
                     ? NULL
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
                                             JSON_REAL_PRECISION(15));
    strbuf_printf(out, " \\\n    --%s ", name);
    emit_word(out, json_is_true(value) ? "True"
                   : text              ? text
                                       : json_string_value(value));
    free(text);
}

int emit_trainer(struct strbuf *out, const struct emit_source *e, struct err *err)
{
    const struct scenario *s = e->s;
    const char *name;
    json_t *h, *value;
    if (library_of(&s->parallel) != &library_fsdp)
        return err_set(err,
                       "fsdp is FSDP under the Trainer, and the library is %s "
                       "(--emit scenario has any)",
                       library_of(&s->parallel)->name);
    emit_exports(out, s);
    if (emit_torchrun(out, s, "train.py", err) || emit_trainer_arguments(&h, e, err))
        return -1;
    json_object_foreach(h, name, value) add_argument(out, name, value);
    strbuf_addch(out, '\n');
    json_decref(h);
    return 0;
}
