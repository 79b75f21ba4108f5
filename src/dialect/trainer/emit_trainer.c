/* A scenario as arguments of the Hugging Face Trainer, by the names that the table of
 * hyperparameters reads: as a shell script, or within an estimator. */
#include "dialect/emit/emit_parts.h"
#include "dialect/trainer/trainer.h"
#include "scenario/attention.h"

#include <stdlib.h>
#include <string.h>

/* What reads that argument says which field it is. */
static json_t *value_of(const struct scenario *s, const char *argument)
{
    for (const struct dialect_option *row = trainer_rows; row->name; row++)
        if (strcmp(row->name, argument) == 0)
            return emit_value(s, row->pointer);
    return NULL;
}

/* Fields that are whole numbers in both; what is null is left out. */
static void put_numbers(json_t *h, const struct scenario *s)
{
    static const char *const names[] = { "max_seq_length",
                                         "per_device_train_batch_size",
                                         "gradient_accumulation_steps",
                                         "max_steps",
                                         "num_train_epochs",
                                         "max_train_samples",
                                         NULL };
    for (const char *const *name = names; *name; name++) {
        json_t *v = value_of(s, *name);
        if (json_is_integer(v))
            json_object_set_new(h, *name, v);
        else
            json_decref(v);
    }
}

/* "full_shard auto_wrap" and the like; NULL: the Trainer has no word for it. Hybrid is
 * over the GPUs of an instance. */
static const char *fsdp_words(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    bool hybrid = p->shard.degree != p->data * p->context,
         offload = p->shard.offload != OFFLOAD_NONE;
    if (p->shard.strategy != SHARDING_FULL || p->pipeline > 1 || p->tensor > 1 ||
        (hybrid && p->shard.degree != s->cluster.groups[0].instance->n_gpus))
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

/* DDP's buckets, in MiB (transformers/training_args.py). */
static void put_bucket(json_t *h, const struct scenario *s)
{
    enum { MIB = 1 << 20 };
    const struct parallelism *p = &s->parallel;
    bool ddp = p->reduce.library == LIBRARY_DDP && p->reduce.backend == BACKEND_NCCL &&
               !p->smp;
    if (ddp && p->reduce.bucket_B > 0 && p->reduce.bucket_B % MIB == 0)
        json_object_set_new(h, "ddp_bucket_cap_mb",
                            json_integer((json_int_t)(p->reduce.bucket_B / MIB)));
}

/* What shards, in the Trainer's arguments. */
static int put_sharding(json_t *h, const struct scenario *s, struct err *err)
{
    enum library library = s->parallel.reduce.library;
    const char *fsdp = fsdp_words(s);
    if (library == LIBRARY_DEEPSPEED)
        json_object_set_new(h, "deepspeed", emit_deepspeed_tree(s));
    if (library != LIBRARY_FSDP || s->parallel.smp)
        return 0;
    if (!fsdp)
        return err_set(
            err, "the Trainer's fsdp shards over all GPUs or those of an instance, "
                 "without pipelines or tensor groups (--emit scenario has them)");
    json_object_set_new(h, "fsdp", json_string(fsdp));
    return 0;
}

/* Of several words the one that names a kernel for certain. */
static const char *attention_word(enum op_attention kernel)
{
    static const char *const words[] = {
        [OP_ATTENTION_UNFUSED] = "eager",
        [OP_ATTENTION_FUSED_SOFTMAX] = "fused-softmax",
        [OP_ATTENTION_EFFICIENT] = "memory-efficient",
        [OP_ATTENTION_FLASH] = "flash_attention_2",
    };
    return words[kernel];
}

static void put_training(json_t *h, const struct scenario *s)
{
    static const struct name_value optimizers[] = {
        { "adamw_torch", OPTIMIZER_ADAM },    { "adamw_bnb_8bit", OPTIMIZER_ADAM8BIT },
        { "adafactor", OPTIMIZER_ADAFACTOR }, { "sgd", OPTIMIZER_SGD },
        { "lamb", OPTIMIZER_LAMB },           { NULL, 0 },
    };
    const struct training *t = &s->training;
    const char *optimizer = names_of(optimizers, (int)t->optimizer);
    enum dtype type = op_compute_dtype(t->precision);
    bool dictionary = s->parallel.smp == 1 && !op_is_autocast(t->precision);
    if (!dictionary && (type == DTYPE_FP16 || type == DTYPE_BF16))
        json_object_set_new(h, type == DTYPE_FP16 ? "fp16" : "bf16", json_true());
    if (t->checkpointing == CHECKPOINT_FULL && t->checkpoint_every == 1)
        json_object_set_new(h, "gradient_checkpointing", json_true());
    if (optimizer)
        json_object_set_new(h, "optim", json_string(optimizer));
    if (t->gradient_clipping > 0 && s->parallel.smp != 1)
        json_object_set_new(h, "max_grad_norm", json_real(t->gradient_clipping));
    json_object_set_new(h, "attn_implementation",
                        json_string(attention_word(t->attention)));
}

int emit_trainer_arguments(json_t **out, const struct emit_source *e, struct err *err)
{
    const struct scenario *s = e->s;
    json_t *h = json_object();
    int64_t workers = 0;
    struct cfg given = cfg_get(cfg_get(e->root, "input"), "workers");
    json_object_set_new(h, "model_name_or_path", json_string(s->model.label));
    put_numbers(h, s);
    put_training(h, s);
    put_bucket(h, s);
    if (cfg_present(given) && cfg_int(given, &workers, 0, INT64_MAX) == 0)
        json_object_set_new(h, "dataloader_num_workers",
                            json_integer((json_int_t)workers));
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
    if (s->parallel.reduce.library != LIBRARY_FSDP || s->parallel.smp)
        return err_set(err,
                       "fsdp is FSDP under the Trainer, and the library is %s "
                       "(--emit scenario has any)",
                       s->parallel.smp
                           ? "SMP"
                           : names_of(library_names, (int)s->parallel.reduce.library));
    emit_exports(out, s);
    if (emit_torchrun(out, s, "train.py", err) || emit_trainer_arguments(&h, e, err))
        return -1;
    json_object_foreach(h, name, value) add_argument(out, name, value);
    strbuf_addch(out, '\n');
    json_decref(h);
    return 0;
}
