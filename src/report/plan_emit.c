/* The best plan as the configuration to paste, in the words of each framework. */
#include "report/plan_emit.h"

#include <string.h>

/* clang-format off */
const struct name_value plan_emit_names[] = {
    { "sagemaker", PLAN_EMIT_SAGEMAKER }, { "megatron", PLAN_EMIT_MEGATRON },
    { "deepspeed", PLAN_EMIT_DEEPSPEED }, { "fsdp", PLAN_EMIT_FSDP },
    { "scenario", PLAN_EMIT_SCENARIO }, { NULL, 0 },
};
/* clang-format on */

uint32_t report_plan_emit_stacks(enum plan_emit how)
{
    int bits;
    const char *name = names_of(plan_emit_names, (int)how);
    bool framework = how == PLAN_EMIT_MEGATRON || how == PLAN_EMIT_DEEPSPEED ||
                     how == PLAN_EMIT_FSDP;
    return framework && names_find(space_for_names, name, &bits) == 0 ? (uint32_t)bits
                                                                      : 0;
}

const char *plan_emit_precision(enum op_precision p, const char *bf16, const char *fp16,
                                const char *other)
{
    enum dtype t = op_compute_dtype(p);
    return t == DTYPE_BF16 || t == DTYPE_FP8 ? bf16 : t == DTYPE_FP16 ? fp16 : other;
}

/* Gradients of so many bytes overlap in buckets of elements below stage 3; without ZeRO
 * they do not. */
static json_t *zero_json(const struct plan_job *job, const struct space_point *p,
                         int64_t gradient_B)
{
    const struct parallelism *of = &job->stacks[p->v[SPACE_LIBRARY]].probe.parallel;
    int64_t bucket_B = p->v[SPACE_BUCKET] ? p->v[SPACE_BUCKET] : of->bucket_B;
    bool buckets = p->v[SPACE_SHARDING] && p->v[SPACE_SHARDING] != SHARDING_FULL;
    json_t *z = json_object();
    json_object_set_new(z, "stage", json_integer((json_int_t)p->v[SPACE_SHARDING]));
    if (p->v[SPACE_SHARDING])
        json_object_set_new(z, "overlap_comm", json_true());
    if (buckets && bucket_B > 0)
        json_object_set_new(z, "reduce_bucket_size",
                            json_integer((json_int_t)(bucket_B / gradient_B)));
    if (p->v[SPACE_OFFLOAD])
        json_object_set_new(z, "offload_optimizer",
                            json_pack("{s:s}", "device", "cpu"));
    if (p->v[SPACE_OFFLOAD] == OFFLOAD_PARAMETERS)
        json_object_set_new(z, "offload_param", json_pack("{s:s}", "device", "cpu"));
    if (p->v[SPACE_DEGREE])
        json_object_set_new(z, "mics_shard_size",
                            json_integer((json_int_t)p->v[SPACE_DEGREE]));
    return z;
}

static void emit_deepspeed(FILE *out, const struct plan_job *job,
                           const struct plan_entry *e)
{
    const struct space_point *p = &e->point;
    json_t *o = json_object();
    const char *precision =
        plan_emit_precision(job->space.precision, "bf16", "fp16", NULL);
    int64_t gradient_B = precision ? 2 : 4; /* as the parameters, which it casts */
    json_object_set_new(o, "train_batch_size",
                        json_integer((json_int_t)job->space.global_batch));
    json_object_set_new(o, "train_micro_batch_size_per_gpu",
                        json_integer((json_int_t)p->v[SPACE_MICRO]));
    json_object_set_new(o, "gradient_accumulation_steps",
                        json_integer((json_int_t)p->pieces));
    json_object_set_new(o, "zero_optimization", zero_json(job, p, gradient_B));
    if (precision)
        json_object_set_new(o, precision, json_pack("{s:b}", "enabled", 1));
    if (p->v[SPACE_PIPELINE] > 1)
        json_object_set_new(
            o, "pipeline",
            json_pack("{s:I}", "stages", (json_int_t)p->v[SPACE_PIPELINE]));
    if (p->v[SPACE_TENSOR] > 1)
        json_object_set_new(
            o, "tensor_parallel",
            json_pack("{s:I}", "autotp_size", (json_int_t)p->v[SPACE_TENSOR]));
    if (p->v[SPACE_CHECKPOINTING])
        json_object_set_new(o, "activation_checkpointing",
                            json_pack("{s:b}", "partition_activations", 0));
    json_dumpf(o, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(o);
}

/* FSDP2 within torch.distributed.pipelining: each rank builds the stage it holds. */
static void emit_fsdp_stages(FILE *out, const struct plan_job *job,
                             const struct space_point *p)
{
    static const char *const schedules[] = {
        [SCHEDULE_GPIPE] = "ScheduleGPipe",
        [SCHEDULE_1F1B] = "Schedule1F1B",
        [SCHEDULE_INTERLEAVED] = "ScheduleInterleaved1F1B",
    };
    const char *dtype =
        plan_emit_precision(job->space.precision, "bfloat16", "float16", "float32");
    long long stages = (long long)p->v[SPACE_PIPELINE],
              chunks = (long long)p->v[SPACE_VIRTUAL],
              shards = (long long)(p->v[SPACE_DEGREE] ? p->v[SPACE_DEGREE] : p->ranks);
    bool stages_last = strcmp(space_placements[p->v[SPACE_PLACEMENT]], "PDT") != 0;
    fprintf(out, "mesh = init_device_mesh(\"cuda\", ");
    if (stages_last)
        fprintf(out,
                "(%lld, %lld, %lld), mesh_dim_names=(\"replicate\", \"shard\", "
                "\"pp\"))\n",
                (long long)p->ranks / shards, shards, stages);
    else
        fprintf(out,
                "(%lld, %lld, %lld), mesh_dim_names=(\"pp\", \"replicate\", "
                "\"shard\"))\n",
                stages, (long long)p->ranks / shards, shards);
    fprintf(out,
            "policy = MixedPrecisionPolicy(param_dtype=torch.%s, "
            "reduce_dtype=torch.%s)\n"
            "for chunk in chunks:  # %lld of this rank's, of %lld in all\n",
            dtype, dtype, chunks, stages * chunks);
    if (p->v[SPACE_CHECKPOINTING])
        fprintf(out, "    apply_activation_checkpointing(chunk, "
                     "check_fn=is_transformer_layer)\n");
    fprintf(out, "    for module in [*chunk.layers, chunk]:\n"
                 "        fully_shard(module, mesh=mesh[\"replicate\", \"shard\"], "
                 "mp_policy=policy,\n"
                 "                    reshard_after_forward=False)\n");
    fprintf(out,
            "schedule = %s(%s, n_microbatches=%lld, loss_fn=loss)\n"
            "micro_batch_size = %lld\ngradient_accumulation_steps = %lld\n",
            schedules[p->v[SPACE_SCHEDULE]], chunks > 1 ? "stages" : "stage",
            (long long)p->microbatches, (long long)p->v[SPACE_MICRO],
            (long long)p->accumulation);
}

static void emit_fsdp(FILE *out, const struct plan_job *job, const struct plan_entry *e)
{
    const struct space_point *p = &e->point;
    if (p->v[SPACE_PIPELINE] > 1) {
        emit_fsdp_stages(out, job, p);
        return;
    }
    bool full = p->v[SPACE_SHARDING] == SHARDING_FULL;
    const char *strategy = full && p->v[SPACE_DEGREE] ? "HYBRID_SHARD"
                           : full                     ? "FULL_SHARD"
                                                      : "SHARD_GRAD_OP";
    const char *dtype =
        plan_emit_precision(job->space.precision, "bfloat16", "float16", "float32");
    if (p->v[SPACE_DEGREE])
        fprintf(out, "mesh = init_device_mesh(\"cuda\", (%lld, %lld))\n",
                (long long)(p->ranks / p->v[SPACE_DEGREE]),
                (long long)p->v[SPACE_DEGREE]);
    fprintf(out,
            "model = FullyShardedDataParallel(\n    model,\n"
            "    sharding_strategy=ShardingStrategy.%s,\n"
            "    auto_wrap_policy=transformer_layer_policy,\n"
            "    mixed_precision=MixedPrecision(param_dtype=torch.%s, "
            "reduce_dtype=torch.%s),\n"
            "    cpu_offload=%s,\n    limit_all_gathers=True,\n%s)\n",
            strategy, dtype, dtype,
            p->v[SPACE_OFFLOAD] ? "CPUOffload(offload_params=True)" : "None",
            p->v[SPACE_DEGREE] ? "    device_mesh=mesh,\n" : "");
    if (p->v[SPACE_CHECKPOINTING])
        fprintf(out, "apply_activation_checkpointing(model, "
                     "check_fn=is_transformer_layer)\n");
    fprintf(out, "micro_batch_size = %lld\ngradient_accumulation_steps = %lld\n",
            (long long)p->v[SPACE_MICRO], (long long)p->pieces);
}

void report_plan_emit(FILE *out, const struct plan_job *job, const struct plan_entry *e,
                      enum plan_emit how)
{
    json_t *scenario = plan_point_json(job, &e->point);
    switch (how) {
    case PLAN_EMIT_NONE:
        break;
    case PLAN_EMIT_SAGEMAKER:
        plan_emit_sagemaker(out, job, e, scenario);
        break;
    case PLAN_EMIT_MEGATRON:
        plan_emit_megatron(out, job, e);
        break;
    case PLAN_EMIT_DEEPSPEED:
        emit_deepspeed(out, job, e);
        break;
    case PLAN_EMIT_FSDP:
        emit_fsdp(out, job, e);
        break;
    case PLAN_EMIT_SCENARIO:
        json_dumpf(scenario, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        fputc('\n', out);
        break;
    }
    json_decref(scenario);
}
