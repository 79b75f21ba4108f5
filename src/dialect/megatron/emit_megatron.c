/* A scenario as a shell script that starts Megatron-LM (megatron/training/arguments.py),
 * which megatron*.c read back. */
#include "dialect/emit/emit_parts.h"
#include "dialect/megatron/megatron.h"

#include <inttypes.h>
#include <string.h>

static void option(struct strbuf *out, const char *name, int64_t value)
{
    strbuf_printf(out, " \\\n    %s %" PRId64, name, value);
}

static void flag(struct strbuf *out, bool on, const char *words)
{
    if (on)
        strbuf_printf(out, " \\\n    %s", words);
}

/* The model ------------------------------------------------------------------------ */

/* Megatron's layer has biases, dropout, LayerNorm, learned positions and a tied head
 * unless told otherwise. */
static void put_choices(struct strbuf *out, const struct model *m)
{
    flag(out, m->mlp.gated, "--swiglu");
    flag(out, m->activation == MODEL_ACTIVATION_SQUARED_RELU, "--squared-relu");
    flag(out, m->norms.rms, "--normalization RMSNorm");
    flag(out, m->attention.rotary, "--position-embedding-type rope");
    flag(out, !m->attention.rotary && !m->ends.positions,
         "--position-embedding-type none");
    flag(out, !m->mlp.bias && !m->attention.out_bias, "--disable-bias-linear");
    flag(out, m->attention.qkv_bias && !m->attention.out_bias, "--add-qkv-bias");
    flag(out, m->attention.q_norm > 0, "--qk-layernorm");
    flag(out, m->arch == MODEL_DECODER && !m->ends.tied,
         "--untie-embeddings-and-output-weights");
    flag(out, m->norms.embedding && m->arch == MODEL_DECODER, "--embed-layernorm");
    flag(out, !m->hidden_dropout, "--hidden-dropout 0.0");
    flag(out, !m->attention.dropout, "--attention-dropout 0.0");
}

static void put_model(struct strbuf *out, const struct scenario *s)
{
    const struct model *m = &s->model;
    int64_t sequence = s->training.sequence_length;
    option(out, "--num-layers", m->layers);
    option(out, "--hidden-size", m->hidden);
    option(out, "--ffn-hidden-size", m->mlp.width);
    option(out, "--num-attention-heads", m->attention.heads);
    if (m->attention.head_dim * m->attention.heads != m->hidden)
        option(out, "--kv-channels", m->attention.head_dim);
    if (m->attention.kv_heads != m->attention.heads)
        strbuf_printf(out,
                      " \\\n    --group-query-attention --num-query-groups %" PRId64,
                      m->attention.kv_heads);
    if (m->mlp.experts)
        strbuf_printf(out,
                      " \\\n    --num-experts %" PRId64 " --moe-router-topk %" PRId64,
                      m->mlp.experts, m->mlp.experts_per_token);
    if (m->mlp.shared_width)
        option(out, "--moe-shared-expert-intermediate-size", m->mlp.shared_width);
    put_choices(out, m);
    option(out, "--vocab-size", m->ends.vocab);
    option(out, "--max-position-embeddings",
           m->ends.positions > sequence ? m->ends.positions : sequence);
}

/* Megatron pads to a multiple a tensor rank. */
static void put_padding(struct strbuf *out, const struct scenario *s)
{
    int64_t padding = emit_whole(s, "/training/vocab_padding"),
            tensor = s->parallel.tensor;
    option(out, "--make-vocab-size-divisible-by",
           padding >= tensor ? padding / tensor : 1);
}

/* The job -------------------------------------------------------------------------- */

/* Options whose table says which field they are; degrees of one are left out. */
static void put_rows(struct strbuf *out, const struct scenario *s)
{
    static const char *const names[] = { "--tensor-model-parallel-size",
                                         "--pipeline-model-parallel-size",
                                         "--context-parallel-size",
                                         "--expert-model-parallel-size",
                                         "--seq-length",
                                         "--micro-batch-size",
                                         "--global-batch-size",
                                         "--train-iters",
                                         NULL };
    for (const struct dialect_option *row = megatron_job_rows; row->name; row++) {
        int64_t n = names_listed(names, row->name) ? emit_whole(s, row->pointer) : 0;
        bool degree = strncmp(row->pointer, "/parallelism", 12) == 0;
        if (n > (degree ? 1 : 0))
            option(out, row->name, n);
    }
}

static void put_pipeline(struct strbuf *out, const struct parallelism *p)
{
    static const struct name_value exchanges[] = {
        { "p2p", OP_CONTEXT_RING },
        { "all_gather", OP_CONTEXT_GATHER },
        { "a2a", OP_CONTEXT_HEADS },
        { NULL, 0 },
    };
    if (p->stages.virtual_stages > 1)
        option(out, "--num-virtual-stages-per-pipeline-rank", p->stages.virtual_stages);
    flag(out, p->split.sequence_parallel, "--sequence-parallel");
    if (p->context > 1)
        strbuf_printf(out, " \\\n    --cp-comm-type %s",
                      names_of(exchanges, (int)p->context_comm));
    flag(out, strcmp(p->placement, "DPT") == 0, "--use-tp-pp-dp-mapping");
}

static void put_overlaps(struct strbuf *out, const struct parallelism *p)
{
    flag(out, p->shard.strategy == SHARDING_OPTIMIZER, "--use-distributed-optimizer");
    flag(out, p->reduce.overlap, "--overlap-grad-reduce");
    flag(out, p->shard.strategy && p->reduce.overlap_param_gather,
         "--overlap-param-gather");
    flag(out, p->tensor > 1 && p->split.hidden_frac > 0, "--tp-comm-overlap");
}

static void put_recomputation(struct strbuf *out, const struct training *t)
{
    bool full = t->checkpointing == CHECKPOINT_FULL && t->checkpoint_every == 1,
         group =
             t->checkpointing == CHECKPOINT_GROUP && t->checkpoint_group < INT64_MAX;
    flag(out, t->checkpointing == CHECKPOINT_SELECTIVE,
         "--recompute-granularity selective");
    if (full || group)
        strbuf_printf(out,
                      " \\\n    --recompute-granularity full --recompute-method "
                      "uniform --recompute-num-layers %" PRId64,
                      full ? 1 : t->checkpoint_group);
}

/* What only one Megatron understands says which it is. */
static void put_software(struct strbuf *out, const struct training *t)
{
    flag(out, strcmp(t->framework->name, "megatron-core") == 0, "--use-mcore-models");
    flag(out, strcmp(t->framework->name, "megatron-2021") == 0, "--DDP-impl local");
    flag(out, t->attention == OP_ATTENTION_FLASH, "--use-flash-attn");
    flag(out, t->attention == OP_ATTENTION_UNFUSED, "--no-masked-softmax-fusion");
    flag(out, t->attention == OP_ATTENTION_FUSED_SOFTMAX, "--transformer-impl local");
}

static void put_numerics(struct strbuf *out, const struct training *t)
{
    static const struct name_value optimizers[] = {
        { "adam", OPTIMIZER_ADAM },
        { "sgd", OPTIMIZER_SGD },
        { "lamb", OPTIMIZER_LAMB },
        { NULL, 0 },
    };
    enum op_precision p = t->precision;
    const char *optimizer = names_of(optimizers, (int)t->optimizer);
    flag(out, p == OP_BF16 || p == OP_FP8, "--bf16");
    flag(out, p == OP_FP16, "--fp16");
    flag(out, p == OP_FP8, "--fp8-format hybrid");
    flag(out, p == OP_FP16 && t->gradient_dtype != DTYPE_FP16,
         "--accumulate-allreduce-grads-in-fp32");
    flag(out, t->gradient_dtype == DTYPE_BF16, "--grad-reduce-in-bf16");
    if (optimizer)
        strbuf_printf(out, " \\\n    --optimizer %s", optimizer);
    strbuf_printf(out, " \\\n    --clip-grad %.12g", t->gradient_clipping);
}

int emit_megatron(struct strbuf *out, const struct emit_source *e, struct err *err)
{
    const struct scenario *s = e->s;
    const struct parallelism *p = &s->parallel;
    if (p->reduce.library != LIBRARY_MEGATRON || p->smp)
        return err_set(err,
                       "Megatron's arguments are for the library megatron, not for "
                       "%s (--emit scenario has any)",
                       p->smp ? "SMP"
                              : names_of(library_names, (int)p->reduce.library));
    emit_exports(out, s);
    strbuf_addstr(out, "export CUDA_DEVICE_MAX_CONNECTIONS=1\n");
    if (emit_torchrun(out, s,
                      s->model.arch == MODEL_ENCODER ? "pretrain_bert.py"
                                                     : "pretrain_gpt.py",
                      err))
        return -1;
    put_model(out, s);
    put_padding(out, s);
    put_rows(out, s);
    put_pipeline(out, p);
    put_overlaps(out, p);
    put_recomputation(out, &s->training);
    put_software(out, &s->training);
    put_numerics(out, &s->training);
    strbuf_addch(out, '\n');
    return 0;
}
