/* A scenario as an estimator of SageMaker's Python SDK, and the channel of fit(). */
#include "dialect/emit/emit_parts.h"
#include "scenario/libraries.h"
#include "scenario/releases.h"
#include "scenario/sagemaker.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Python --------------------------------------------------------------------------- */

static void add_python(struct strbuf *out, const json_t *v, int indent);

static void add_dict(struct strbuf *out, const json_t *v, int indent)
{
    const char *key;
    json_t *value;
    strbuf_addstr(out, "{\n");
    json_object_foreach((json_t *)(uintptr_t)v, key, value)
    {
        strbuf_printf(out, "%*s\"%s\": ", indent + 4, "", key);
        add_python(out, value, indent + 4);
        strbuf_addstr(out, ",\n");
    }
    strbuf_printf(out, "%*s}", indent, "");
}

/* A value as Python writes it. */
static void add_python(struct strbuf *out, const json_t *v, int indent)
{
    char *text;
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        add_dict(out, v, indent);
        break;
    case JSON_ARRAY:
        strbuf_addch(out, '[');
        for (size_t i = 0; i < json_array_size(v); i++) {
            strbuf_addstr(out, i ? ", " : "");
            add_python(out, json_array_get(v, i), indent);
        }
        strbuf_addch(out, ']');
        break;
    case JSON_TRUE:
        strbuf_addstr(out, "True");
        break;
    case JSON_FALSE:
        strbuf_addstr(out, "False");
        break;
    case JSON_NULL:
        strbuf_addstr(out, "None");
        break;
    default:
        text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
        strbuf_addstr(out, text);
        free(text);
    }
}

/* The estimator -------------------------------------------------------------------- */

/* What starts the script: the scenario's own dictionary, or the library's launcher. */
static json_t *distribution(const struct emit_source *e)
{
    const struct parallelism *p = &e->s->parallel;
    struct cfg own = cfg_get(e->root, "distribution");
    if (cfg_present(own))
        return json_deep_copy(own.json);
    const char *launcher = library_launcher(p);
    if (strcmp(launcher, "mpi") == 0)
        return json_pack(
            "{s:{s:b, s:I}}", launcher, "enabled", 1, "processes_per_host",
            (json_int_t)cluster_hosts(&e->s->cluster.groups[0]).gpus_per_instance);
    if (strcmp(launcher, "smdistributed") == 0)
        return json_pack("{s:{s:{s:b}}}", launcher, "dataparallel", "enabled", 1);
    return json_pack("{s:{s:b}}", launcher, "enabled", 1);
}

/* Seconds or bytes of a section; 0: not there. */
static double quantity(struct cfg section, const char *key, enum unit_kind unit)
{
    struct cfg at = cfg_get(section, key);
    double v = 0;
    return cfg_present(at) && cfg_quantity(at, unit, &v, 0, INFINITY) == 0 ? v : 0;
}

static const char *word(struct cfg section, const char *key)
{
    const char *text = json_string_value(cfg_get(section, key).json);
    return text ? text : "";
}

/* What the scenario's "job" and "storage" say. A spot job needs max_wait, of at least
 * max_run, whose default is a day (SageMaker Python SDK). */
static void add_around(struct strbuf *out, struct cfg root)
{
    struct cfg job = cfg_get(root, "job"), storage = cfg_get(root, "storage");
    double keep_s = quantity(job, "keep_alive", UNIT_SECONDS),
           most_s = quantity(job, "max_run", UNIT_SECONDS),
           volume_B = quantity(storage, "volume", UNIT_BYTES);
    bool spot = cfg_present(cfg_get(job, "spot_discount"));
    double run_s = most_s > 0 ? most_s : UNITS_DAY_S;
    if (keep_s > 0)
        strbuf_printf(out, "    keep_alive_period_in_seconds=%.0f,\n", keep_s);
    if (most_s > 0 || spot)
        strbuf_printf(out, "    max_run=%.0f,\n", run_s);
    if (spot)
        strbuf_printf(out, "    use_spot_instances=True,\n    max_wait=%.0f,\n", run_s);
    if (volume_B > 0)
        strbuf_printf(out, "    volume_size=%.0f,\n", ceil(volume_B / (1 << 30)));
    if (*word(storage, "mode"))
        strbuf_printf(out, "    input_mode=\"%s\",\n", word(storage, "mode"));
    if (strcmp(word(cfg_get(job, "checkpoint"), "to"), "s3") == 0)
        strbuf_addstr(out, "    checkpoint_s3_uri=checkpoint_s3_uri,\n");
}

/* What fit() is given. */
static void add_channel(struct strbuf *out, struct cfg storage)
{
    const char *kind = word(storage, "kind");
    bool fsx = strcmp(kind, "fsx") == 0;
    if (fsx || strcmp(kind, "efs") == 0)
        strbuf_printf(out,
                      "\nestimator.fit(FileSystemInput(file_system_id, \"%s\", "
                      "directory_path))\n",
                      fsx ? "FSxLustre" : "EFS");
    else if (json_is_true(cfg_get(storage, "sharded").json))
        strbuf_addstr(out, "\nestimator.fit(TrainingInput(s3_data, "
                           "distribution=\"ShardedByS3Key\"))\n");
}

/* SMP v2, and FSDP as it is simulated, need PyTorch 2. */
static void add_version(struct strbuf *out, const struct scenario *s)
{
    const char *torch = s->software.pytorch;
    bool second = library_of(&s->parallel)->pytorch2;
    torch = torch ? torch : release_pytorch_default(second);
    strbuf_printf(out, "    framework_version=\"%s\",\n    py_version=\"%s\",\n", torch,
                  release_brought("python", torch, NULL));
}

static void add_environment(struct strbuf *out, const struct scenario *s)
{
    if (!cfg_present(s->software.environment))
        return;
    strbuf_addstr(out, "    environment=");
    add_python(out, s->software.environment.json, 4);
    strbuf_addstr(out, ",\n");
}

/* smp.step cuts the script's batch into microbatches. */
static void merge_batch(json_t *h, const struct scenario *s)
{
    static const char key[] = "per_device_train_batch_size";
    int64_t n = s->training.micro_batch_size *
                (library_of(&s->parallel)->smp.script ? s->training.microbatches : 1);
    json_object_set_new(h, key, json_integer((json_int_t)n));
}

static int check(const struct scenario *s, struct err *err)
{
    if (!cluster_is_uniform(&s->cluster))
        return err_set(err, "an estimator has instances of one kind, and the cluster "
                            "has unlike groups (--emit scenario has them)");
    if (!library_launcher(&s->parallel))
        return err_set(err,
                       "SageMaker's launchers set up no %s; its script does "
                       "(--emit %s)",
                       library_of(&s->parallel)->title, library_word(&s->parallel));
    return 0;
}

int emit_sagemaker(struct strbuf *out, const struct emit_source *e, struct err *err)
{
    const struct scenario *s = e->s;
    json_t *h, *d;
    if (check(s, err) || emit_trainer_arguments(&h, e, err))
        return -1;
    d = distribution(e);
    merge_batch(h, s);
    strbuf_addstr(out, "from sagemaker.pytorch import PyTorch\n\ndistribution = ");
    add_python(out, d, 0);
    strbuf_addstr(
        out,
        "\n\nestimator = PyTorch(\n    entry_point=\"train.py\",\n    role=role,\n");
    add_version(out, s);
    strbuf_printf(out,
                  "    instance_type=\"ml.%s\",\n    instance_count=%" PRId64 ",\n"
                  "    distribution=distribution,\n",
                  s->cluster.groups[0].instance->name, s->cluster.n_hosts);
    add_around(out, e->root);
    add_environment(out, s);
    strbuf_addstr(out, "    hyperparameters=");
    add_python(out, h, 4);
    strbuf_printf(out, ",  # %" PRId64 " sequences a step\n)\n",
                  s->training.global_batch_size);
    add_channel(out, cfg_get(e->root, "storage"));
    json_decref(d);
    json_decref(h);
    return 0;
}
