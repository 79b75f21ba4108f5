/* The best plan as an estimator of SageMaker's Python SDK. */
#include "report/plan_emit.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* --- SageMaker -------------------------------------------------------------------- */

/* What starts the script; SMP's plans carry their dictionary in the scenario. */
static json_t *distribution(const struct space_stack *stack,
                            const struct space_point *p, const json_t *scenario)
{
    json_t *own = json_object_get(scenario, "distribution");
    if (own)
        return json_deep_copy(own);
    if (stack->row->backend == BACKEND_SMDDP)
        return json_pack("{s:{s:{s:b}}}", "smdistributed", "dataparallel", "enabled",
                         1);
    if (stack->row == &library_horovod)
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
    if (space_stacks[p->v[SPACE_LIBRARY]].row != &library_fsdp ||
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
    const char *cast = plan_emit_precision(job->space.precision, "bf16", "fp16", NULL);
    int word = job->stacks[p->v[SPACE_LIBRARY]].probe.training.attention_word;
    json_t *h = json_object();
    put_text(h, "model_name_or_path", job->model.label);
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
    if (op_attention_is_fused(plan_point_attention(job, p)))
        put_text(h, "attn_implementation",
                 word == OP_ATTENTION_FLASH ? "flash_attention_2" : "sdpa");
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
    return stack->dialect == DIALECT_SMP2 || stack->row == &library_fsdp;
}

void plan_emit_sagemaker(FILE *out, const struct plan_job *job,
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
    if (stack->dialect == DIALECT_WORDS && stack->row->library != library_ddp.library &&
        !trainer_fsdp(p))
        fprintf(out, "# %s itself is set up by train.py (--emit %s)\n", stack->name,
                stack->name);
    json_decref(d);
}
