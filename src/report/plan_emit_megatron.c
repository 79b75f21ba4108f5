/* The best plan as Megatron-LM's arguments (megatron/training/arguments.py), which
 * launch_megatron*.c read back. */
#include "report/plan_emit.h"

#include <string.h>

static void option(FILE *out, const char *name, int64_t value)
{
    fprintf(out, "%s %lld \\\n", name, (long long)value);
}

static void flag(FILE *out, bool on, const char *words)
{
    if (on)
        fprintf(out, "%s \\\n", words);
}

/* Megatron's layer has biases, dropout, LayerNorm, learned positions and a tied head
 * unless told otherwise. */
static void emit_choices(FILE *out, const struct model *m)
{
    flag(out, m->gated_mlp, "--swiglu");
    flag(out, m->activation == MODEL_ACTIVATION_SQUARED_RELU, "--squared-relu");
    flag(out, m->rms_norm, "--normalization RMSNorm");
    flag(out, m->rotary, "--position-embedding-type rope");
    flag(out, !m->rotary && !m->positions, "--position-embedding-type none");
    flag(out, !m->mlp_bias && !m->out_bias, "--disable-bias-linear");
    flag(out, m->qkv_bias && !m->out_bias, "--add-qkv-bias");
    flag(out, m->q_norm > 0, "--qk-layernorm");
    flag(out, m->arch == MODEL_DECODER && !m->tied_embeddings,
         "--untie-embeddings-and-output-weights");
    flag(out, !m->hidden_dropout, "--hidden-dropout 0.0");
    flag(out, !m->attention_dropout, "--attention-dropout 0.0");
}

static void emit_model(FILE *out, const struct plan_job *job)
{
    const struct model *m = &job->model;
    option(out, "--num-layers", m->layers);
    option(out, "--hidden-size", m->hidden);
    option(out, "--ffn-hidden-size", m->ffn);
    option(out, "--num-attention-heads", m->heads);
    if (m->head_dim * m->heads != m->hidden)
        option(out, "--kv-channels", m->head_dim);
    if (m->kv_heads != m->heads)
        fprintf(out, "--group-query-attention --num-query-groups %lld \\\n",
                (long long)m->kv_heads);
    if (m->experts)
        fprintf(out, "--num-experts %lld --moe-router-topk %lld \\\n",
                (long long)m->experts, (long long)m->experts_per_token);
    if (m->shared_ffn)
        option(out, "--moe-shared-expert-intermediate-size", m->shared_ffn);
    emit_choices(out, m);
    option(out, "--vocab-size", m->vocab);
    option(out, "--seq-length", job->space.sequence);
    option(out, "--max-position-embeddings",
           m->positions > job->space.sequence ? m->positions : job->space.sequence);
}

static void emit_degrees(FILE *out, const struct plan_job *job,
                         const struct space_point *p)
{
    option(out, "--tensor-model-parallel-size", p->v[SPACE_TENSOR]);
    option(out, "--pipeline-model-parallel-size", p->v[SPACE_PIPELINE]);
    if (p->v[SPACE_VIRTUAL] > 1)
        option(out, "--num-layers-per-virtual-pipeline-stage",
               job->space.layers / (p->v[SPACE_PIPELINE] * p->v[SPACE_VIRTUAL]));
    if (p->v[SPACE_CONTEXT] > 1)
        option(out, "--context-parallel-size", p->v[SPACE_CONTEXT]);
    if (p->v[SPACE_EXPERT] > 1)
        option(out, "--expert-model-parallel-size", p->v[SPACE_EXPERT]);
    flag(out, p->v[SPACE_SEQUENCE], "--sequence-parallel");
    flag(out,
         strcmp(space_placements[p->v[SPACE_PLACEMENT]], "DPT") == 0 &&
             p->v[SPACE_PIPELINE] > 1,
         "--use-tp-pp-dp-mapping");
}

/* What overlaps is that of the stack that the plan was made for. */
static void emit_overlaps(FILE *out, const struct plan_job *job,
                          const struct space_point *p)
{
    const struct parallelism *own = &job->stacks[p->v[SPACE_LIBRARY]].probe.parallel;
    flag(out, p->v[SPACE_SHARDING], "--use-distributed-optimizer");
    flag(out, p->v[SPACE_SHARDING] && own->overlap_param_gather,
         "--overlap-grad-reduce --overlap-param-gather");
    flag(out, p->v[SPACE_TENSOR] > 1 && own->tensor_hidden_frac > 0,
         "--tp-comm-overlap");
}

static void emit_recomputation(FILE *out, const struct space_point *p)
{
    flag(out, p->v[SPACE_CHECKPOINTING] == CHECKPOINT_SELECTIVE,
         "--recompute-activations");
    if (p->v[SPACE_CHECKPOINTING] && p->v[SPACE_CHECKPOINTING] != CHECKPOINT_SELECTIVE)
        fprintf(out,
                "--recompute-granularity full --recompute-method uniform "
                "--recompute-num-layers %lld \\\n",
                (long long)(p->v[SPACE_CHECKPOINTING] > SPACE_GROUP
                                ? p->v[SPACE_CHECKPOINTING] - SPACE_GROUP
                                : 1));
}

void plan_emit_megatron(FILE *out, const struct plan_job *job,
                        const struct plan_entry *e)
{
    const struct space_point *p = &e->point;
    emit_model(out, job);
    emit_degrees(out, job, p);
    emit_overlaps(out, job, p);
    emit_recomputation(out, p);
    flag(out, plan_point_attention(job, p) == OP_ATTENTION_FLASH, "--use-flash-attn");
    flag(out, op_compute_dtype(job->space.precision) == DTYPE_FP8,
         "--fp8-format hybrid");
    option(out, "--micro-batch-size", p->v[SPACE_MICRO]);
    option(out, "--global-batch-size", job->space.global_batch);
    fprintf(out, "%s\n",
            plan_emit_precision(job->space.precision, "--bf16", "--fp16",
                                "--attention-softmax-in-fp32"));
}
