/* The best plan as the configuration to paste, in the words of each framework. */
#include "report/plan_report.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
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

/* --- Python ----------------------------------------------------------------------- */

static void print_python(FILE *out, const json_t *v, int indent);

static void print_dict(FILE *out, const json_t *v, int indent)
{
    const char *key;
    json_t *value;
    fprintf(out, "{\n");
    json_object_foreach((json_t *)(uintptr_t)v, key, value)
    {
        fprintf(out, "%*s\"%s\": ", indent + 4, "", key);
        print_python(out, value, indent + 4);
        fprintf(out, ",\n");
    }
    fprintf(out, "%*s}", indent, "");
}

/* A value as Python writes it. */
static void print_python(FILE *out, const json_t *v, int indent)
{
    char *text;
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        print_dict(out, v, indent);
        break;
    case JSON_TRUE:
        fputs("True", out);
        break;
    case JSON_FALSE:
        fputs("False", out);
        break;
    case JSON_NULL:
        fputs("None", out);
        break;
    default:
        text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
        fputs(text, out);
        free(text);
    }
}

static void put_whole(json_t *object, const char *key, int64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void put_text(json_t *object, const char *key, const char *value)
{
    json_object_set_new(object, key, json_string(value));
}

static const char *precision_word(enum op_precision p, const char *bf16,
                                  const char *fp16, const char *other)
{
    enum dtype t = op_compute_dtype(p);
    return t == DTYPE_BF16 || t == DTYPE_FP8 ? bf16 : t == DTYPE_FP16 ? fp16 : other;
}

/* --- SageMaker -------------------------------------------------------------------- */

/* What starts the script; SMP's plans carry their dictionary in the scenario. */
static json_t *distribution(const struct space_stack *stack,
                            const struct space_point *p, const json_t *scenario)
{
    json_t *own = json_object_get(scenario, "distribution");
    if (own)
        return json_deep_copy(own);
    if (stack->backend == BACKEND_SMDDP)
        return json_pack("{s:{s:{s:b}}}", "smdistributed", "dataparallel", "enabled",
                         1);
    if (stack->library == LIBRARY_HOROVOD)
        return json_pack("{s:{s:b, s:I}}", "mpi", "enabled", 1, "processes_per_host",
                         (json_int_t)p->v[SPACE_GPUS]);
    return json_pack("{s:{s:b}}", "torch_distributed", "enabled", 1);
}

/* The estimator's arguments that say what the scenario's "job" and "storage" do. A spot
 * job needs max_wait, of at least max_run, whose default is a day (SageMaker Python
 * SDK). */
static void print_around(FILE *out, const struct campaign *c)
{
    const struct whole_job *job = &c->job;
    double run_s = job->max_run_s > 0 ? job->max_run_s : UNITS_DAY_S;
    if (job->keep_alive_s > 0)
        fprintf(out, "    keep_alive_period_in_seconds=%.0f,\n", job->keep_alive_s);
    if (job->max_run_s > 0 || job->spot_discount > 0)
        fprintf(out, "    max_run=%.0f,\n", run_s);
    if (job->spot_discount > 0)
        fprintf(out, "    use_spot_instances=True,\n    max_wait=%.0f,\n", run_s);
    if (c->storage.volume_B > 0)
        fprintf(out, "    volume_size=%.0f,\n", ceil(c->storage.volume_B / (1 << 30)));
    if (c->storage.given && c->storage.kind == STORAGE_S3)
        fprintf(out, "    input_mode=\"%s\",\n",
                names_of(storage_mode_names, (int)c->storage.mode));
    if (job->checkpoint.given && job->checkpoint.to == STORAGE_S3)
        fprintf(out, "    checkpoint_s3_uri=checkpoint_s3_uri,\n");
}

/* What fit() is given. */
static void print_channel(FILE *out, const struct storage *st)
{
    if (st->kind == STORAGE_FSX || st->kind == STORAGE_EFS)
        fprintf(out,
                "\nestimator.fit(FileSystemInput(file_system_id, \"%s\", "
                "directory_path))\n",
                st->kind == STORAGE_FSX ? "FSxLustre" : "EFS");
    else if (st->sharded)
        fprintf(out, "\nestimator.fit(TrainingInput(s3_data, "
                     "distribution=\"ShardedByS3Key\"))\n");
}

/* What the script's own batch is cut into by SMP's dictionary. */
static int64_t dictionary_parts(const json_t *scenario)
{
    json_int_t parts = 1;
    json_error_t error;
    json_t *d = json_object_get(scenario, "distribution");
    if (!d || json_unpack_ex(d, &error, 0, "{s:{s:{s:{s:I}}}}", "smdistributed",
                             "modelparallel", "parameters", "microbatches", &parts) < 0)
        return 1;
    return parts;
}

/* The Trainer's "fsdp" of a plan; NULL: it has no words for it. Hybrid is over the GPUs
 * of an instance. */
static const char *trainer_fsdp(const struct space_point *p)
{
    bool full = p->v[SPACE_SHARDING] == SHARDING_FULL;
    int64_t degree = p->v[SPACE_DEGREE];
    if (space_stacks[p->v[SPACE_LIBRARY]].library != LIBRARY_FSDP ||
        p->v[SPACE_PIPELINE] > 1 || p->v[SPACE_OFFLOAD] ||
        (degree && degree != p->v[SPACE_GPUS]))
        return NULL;
    if (degree)
        return full ? "hybrid_shard auto_wrap" : "hybrid_shard_zero2 auto_wrap";
    return full ? "full_shard auto_wrap" : "shard_grad_op auto_wrap";
}

/* In the Trainer's names, so that the script can be read back. */
static void print_hyperparameters(FILE *out, const struct plan_job *job,
                                  const struct space_point *p, const json_t *scenario)
{
    const struct space_stack *stack = &space_stacks[p->v[SPACE_LIBRARY]];
    const json_t *steps =
        json_object_get(json_object_get(scenario, "training"), "steps");
    const char *cast = precision_word(job->space.precision, "bf16", "fp16", NULL);
    json_t *h = json_object();
    put_text(h, "model_name_or_path", job->model.name);
    put_whole(h, "max_seq_length", job->space.sequence);
    put_whole(h, "per_device_train_batch_size",
              p->v[SPACE_MICRO] * dictionary_parts(scenario));
    put_whole(h, "gradient_accumulation_steps",
              stack->dialect == DIALECT_WORDS ? p->pieces : p->accumulation);
    json_object_set_new(h, "gradient_checkpointing",
                        json_boolean(p->v[SPACE_CHECKPOINTING] > 0));
    if (trainer_fsdp(p))
        put_text(h, "fsdp", trainer_fsdp(p));
    if (cast && (trainer_fsdp(p) || op_is_autocast(job->space.precision)))
        json_object_set_new(h, cast, json_true());
    if (job->space.attention == OP_ATTENTION_FLASH)
        put_text(h, "attn_implementation", "flash_attention_2");
    if (json_is_integer(steps))
        put_whole(h, "max_steps", json_integer_value(steps));
    if (job->beyond.input.workers > 0)
        put_whole(h, "dataloader_num_workers", job->beyond.input.workers);
    fprintf(out, "    hyperparameters=");
    print_python(out, h, 4);
    fprintf(out, ",  # %lld sequences a step\n", (long long)job->space.global_batch);
    json_decref(h);
}

/* Whether it needs PyTorch 2: SMP v2, and FSDP as it is simulated. SMP v1's and SMDDP's
 * containers end with 1.13 and 2.0. */
static bool new_torch(const struct space_stack *stack)
{
    return stack->dialect == DIALECT_SMP2 || stack->library == LIBRARY_FSDP;
}

static void emit_sagemaker(FILE *out, const struct plan_job *job,
                           const struct plan_entry *e, const json_t *scenario)
{
    const struct space_point *p = &e->point;
    const struct space_stack *stack = &space_stacks[p->v[SPACE_LIBRARY]];
    const char *instance = job->space.instances[p->v[SPACE_INSTANCE]].name;
    json_t *d = distribution(stack, p, scenario);
    fprintf(out, "from sagemaker.pytorch import PyTorch\n\ndistribution = ");
    print_python(out, d, 0);
    fprintf(out,
            "\n\nestimator = PyTorch(\n    entry_point=\"train.py\",\n    role=role,\n"
            "    framework_version=\"%s\",\n    py_version=\"%s\",\n"
            "    instance_type=\"%s%s\",\n    instance_count=%lld,\n"
            "    distribution=distribution,\n",
            new_torch(stack) ? "2.2.0" : "1.13.1", new_torch(stack) ? "py310" : "py39",
            strncmp(instance, "ml.", 3) == 0 ? "" : "ml.", instance,
            (long long)p->v[SPACE_COUNT]);
    print_around(out, &job->beyond);
    print_hyperparameters(out, job, p, scenario);
    fprintf(out, ")\n");
    print_channel(out, &job->beyond.storage);
    if (stack->dialect == DIALECT_WORDS && stack->library != LIBRARY_DDP &&
        !trainer_fsdp(p))
        fprintf(out, "# %s itself is set up by train.py (--emit %s)\n", stack->name,
                stack->name);
    json_decref(d);
}

/* --- frameworks ------------------------------------------------------------------- */

static void option(FILE *out, const char *name, int64_t value)
{
    fprintf(out, "%s %lld \\\n", name, (long long)value);
}

/* Whether the stack that the plan was made for gathers updated parameters beside
 * forward. */
static bool gathers_beside(const struct plan_job *job, const struct space_point *p)
{
    return job->stacks[p->v[SPACE_LIBRARY]].probe.parallel.overlap_param_gather;
}

static void emit_megatron(FILE *out, const struct plan_job *job,
                          const struct plan_entry *e)
{
    const struct space_point *p = &e->point;
    const struct model *m = &job->model;
    option(out, "--num-layers", m->layers);
    option(out, "--hidden-size", m->hidden);
    option(out, "--ffn-hidden-size", m->ffn);
    option(out, "--num-attention-heads", m->heads);
    if (m->kv_heads != m->heads)
        fprintf(out, "--group-query-attention --num-query-groups %lld \\\n",
                (long long)m->kv_heads);
    option(out, "--seq-length", job->space.sequence);
    option(out, "--max-position-embeddings",
           m->positions > job->space.sequence ? m->positions : job->space.sequence);
    option(out, "--tensor-model-parallel-size", p->v[SPACE_TENSOR]);
    option(out, "--pipeline-model-parallel-size", p->v[SPACE_PIPELINE]);
    if (p->v[SPACE_VIRTUAL] > 1)
        option(out, "--num-layers-per-virtual-pipeline-stage",
               job->space.layers / (p->v[SPACE_PIPELINE] * p->v[SPACE_VIRTUAL]));
    if (p->v[SPACE_CONTEXT] > 1)
        option(out, "--context-parallel-size", p->v[SPACE_CONTEXT]);
    if (p->v[SPACE_EXPERT] > 1)
        option(out, "--expert-model-parallel-size", p->v[SPACE_EXPERT]);
    if (p->v[SPACE_SEQUENCE])
        fprintf(out, "--sequence-parallel \\\n");
    if (p->v[SPACE_SHARDING])
        fprintf(out, "--use-distributed-optimizer \\\n");
    if (p->v[SPACE_SHARDING] && gathers_beside(job, p))
        fprintf(out, "--overlap-grad-reduce --overlap-param-gather \\\n");
    if (strcmp(space_placements[p->v[SPACE_PLACEMENT]], "DPT") == 0 &&
        p->v[SPACE_PIPELINE] > 1)
        fprintf(out, "--use-tp-pp-dp-mapping \\\n");
    if (p->v[SPACE_CHECKPOINTING] == CHECKPOINT_SELECTIVE)
        fprintf(out, "--recompute-activations \\\n");
    else if (p->v[SPACE_CHECKPOINTING])
        fprintf(out,
                "--recompute-granularity full --recompute-method uniform "
                "--recompute-num-layers %lld \\\n",
                (long long)(p->v[SPACE_CHECKPOINTING] > SPACE_GROUP
                                ? p->v[SPACE_CHECKPOINTING] - SPACE_GROUP
                                : 1));
    if (job->space.attention == OP_ATTENTION_FLASH)
        fprintf(out, "--use-flash-attn \\\n");
    option(out, "--micro-batch-size", p->v[SPACE_MICRO]);
    option(out, "--global-batch-size", job->space.global_batch);
    fprintf(out, "%s\n",
            precision_word(job->space.precision, "--bf16", "--fp16",
                           "--attention-softmax-in-fp32"));
}

/* Gradients of so many bytes overlap in buckets of elements below stage 3; without ZeRO
 * they do not. */
static json_t *zero_json(const struct plan_job *job, const struct space_point *p,
                         int64_t gradient_B)
{
    const struct training *of = &job->stacks[p->v[SPACE_LIBRARY]].probe.training;
    int64_t bucket_B =
        p->v[SPACE_BUCKET] ? p->v[SPACE_BUCKET] : of->framework->bucket_B;
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
    const char *precision = precision_word(job->space.precision, "bf16", "fp16", NULL);
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
        precision_word(job->space.precision, "bfloat16", "float16", "float32");
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
        precision_word(job->space.precision, "bfloat16", "float16", "float32");
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
        emit_sagemaker(out, job, e, scenario);
        break;
    case PLAN_EMIT_MEGATRON:
        emit_megatron(out, job, e);
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
