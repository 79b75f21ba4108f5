/* ModelTrainer of the SDK's third version (sagemaker-python-sdk, sagemaker/modules/configs.py
 * and distributed.py of 2.23x; sagemaker/train of 3.x): its objects, Compute, SourceCode, Torchrun and
 * the like, as the arguments that an estimator has. */
#include "dialect/sagemaker/sagemaker.h"

#include "base/strbuf.h"
#include "dialect/python/python.h"

#include <string.h>

/* clang-format off */
/* A member of an argument's object, and the estimator's argument that it is. */
static const struct {
    const char *object, *member, *as;
    bool needed; /* where the object is not known, this is not either */
} members[] = {
    { "compute", "instance_type", "instance_type", true },
    { "compute", "instance_count", "instance_count", true },
    { "compute", "instance_groups", "instance_groups", false },
    { "compute", "volume_size_in_gb", "volume_size", false },
    { "compute", "keep_alive_period_in_seconds", "keep_alive_period_in_seconds", false },
    { "compute", "enable_managed_spot_training", "use_spot_instances", false },
    { "source_code", "source_dir", "source_dir", false },
    { "source_code", "entry_script", "entry_point", true },
    { "source_code", "command", "command", false },
    { "source_code", "requirements", "requirements", false },
    { "stopping_condition", "max_runtime_in_seconds", "max_run", false },
    { "stopping_condition", "max_wait_time_in_seconds", "max_wait", false },
    { "checkpoint_config", "s3_uri", "checkpoint_s3_uri", false },
    { "checkpoint_config", "local_path", "checkpoint_local_path", false },
    { "networking", "enable_inter_container_traffic_encryption", "encrypt_inter_container_traffic", false },
    { "networking", "enable_network_isolation", "enable_network_isolation", false },
    { "distributed", "process_count_per_node", "process_count_per_node", false },
};
static const struct { const char *name, *as; } renamed[] = {
    { "training_image", "image_uri" }, { "training_input_mode", "input_mode" },
};
/* clang-format on */
enum { N_MEMBERS = sizeof(members) / sizeof(members[0]) };

struct making {
    struct arena *arena;
    struct value *out;
};

static void add(struct making *m, const char *key, const struct value_item *from,
                const struct value *value)
{
    value_add(m->arena, m->out, key, from->line, (struct value *)(uintptr_t)value);
}

/* Members that mean nothing here keep their object's name. */
static void add_rest(struct making *m, const struct value_item *it)
{
    for (int32_t i = 0; i < it->value->n; i++) {
        const struct value_item *e = &it->value->items[i];
        bool known = strcmp(it->key, "distributed") == 0;
        for (int j = 0; j < N_MEMBERS; j++)
            known |= strcmp(members[j].object, it->key) == 0 &&
                     strcmp(members[j].member, e->key) == 0;
        if (!known)
            add(m, arena_printf(m->arena, "%s.%s", it->key, e->key), e, e->value);
    }
}

/* "distributed" ---------------------------------------------------------------------- */

static struct value *dict_with(struct making *m, int64_t line, const char *key,
                               struct value *value)
{
    struct value *d = value_new(m->arena, VALUE_DICT, line, 0);
    value_add(m->arena, d, key, line, value);
    return d;
}

static struct value *enabled(struct making *m, int64_t line)
{
    struct value *yes = value_new_bool(m->arena, true, line);
    return dict_with(m, line, "enabled", yes);
}

/* A list of options as the text that mpirun is given. */
static struct value *joined(struct making *m, const struct value *list)
{
    struct strbuf b;
    strbuf_init(&b);
    for (int32_t i = 0; list->kind == VALUE_LIST && i < list->n; i++) {
        const struct value *v = list->items[i].value;
        if (v->kind == VALUE_STRING)
            strbuf_printf(&b, "%s%s", b.len ? " " : "", v->text);
    }
    struct value *text = value_new_string(
        m->arena, arena_strdup(m->arena, strbuf_get(&b)), list->line, 0);
    strbuf_release(&b);
    return text;
}

/* SMP(...) of Torchrun's, as the parameters of SMP v2; its fp8 is the SDK's alone
 * (sagemaker-train 1.0, distributed.py), and becomes an argument of its own. */
static struct value *smp_parameters(struct making *m, const struct value_item *smp)
{
    struct value *given = value_new(m->arena, VALUE_DICT, smp->line, 0);
    for (int32_t i = 0; i < smp->value->n; i++) {
        const struct value_item *it = &smp->value->items[i];
        if (strcmp(it->key, "fp8") == 0 && !launch_is_off(it->value))
            add(m, "smp_fp8", it, it->value);
        else if (strcmp(it->key, "fp8") != 0 && it->value->kind != VALUE_NONE)
            value_add(m->arena, given, it->key, it->line, it->value);
    }
    return given;
}

/* Torchrun(...) and MPI(...) as the "distribution" dictionary; its "smp" as SMP's. */
static void add_distribution(struct making *m, const struct value_item *it)
{
    const struct value *v = it->value;
    const char *class = v->kind == VALUE_DICT && v->text ? v->text : "";
    const struct value_item *smp = value_get(v, "smp");
    struct value *d = value_new(m->arena, VALUE_DICT, v->line, 0),
                 *inner = enabled(m, v->line);
    bool mpi = strcmp(class, "MPI") == 0;
    if (!mpi && strcmp(class, "Torchrun") != 0) {
        if (v->kind != VALUE_NONE)
            add(m, "distribution", it, v);
        return;
    }
    value_add(m->arena, d, mpi ? "mpi" : "torch_distributed", v->line, inner);
    const struct value_item *n = value_get(v, "process_count_per_node"),
                            *more = value_get(v, "mpi_additional_options");
    if (mpi && n && n->value->kind != VALUE_NONE)
        value_add(m->arena, inner, "processes_per_host", n->line, n->value);
    if (more && more->value->kind == VALUE_LIST)
        value_add(m->arena, inner, "custom_mpi_options", more->line,
                  joined(m, more->value));
    if (smp && smp->value->kind == VALUE_DICT) {
        struct value *on = enabled(m, smp->line);
        value_add(m->arena, on, "parameters", smp->line, smp_parameters(m, smp));
        value_add(m->arena, d, "smdistributed", smp->line,
                  dict_with(m, smp->line, "modelparallel", on));
    } else if (smp && smp->value->kind != VALUE_NONE) {
        value_add(m->arena, d, "smdistributed", smp->line, smp->value);
    }
    add(m, "distribution", it, d);
}

/* All of it ---------------------------------------------------------------------------- */

static void add_members(struct making *m, const struct value_item *it)
{
    bool unknown = it->value->kind == VALUE_UNKNOWN, any = false;
    for (int i = 0; i < N_MEMBERS; i++) {
        const struct value_item *e = value_get(it->value, members[i].member);
        if (strcmp(members[i].object, it->key) != 0)
            continue;
        any = true;
        if (e)
            add(m, members[i].as, e, e->value);
        else if (unknown && members[i].needed)
            add(m, members[i].as, it, it->value);
    }
    if (strcmp(it->key, "distributed") == 0)
        add_distribution(m, it);
    if (it->value->kind == VALUE_DICT && (any || it->value->text))
        add_rest(m, it);
    else if (!any || !unknown)
        add(m, it->key, it, it->value);
}

const struct python_call *sagemaker_as_estimator(struct arena *arena,
                                                 const struct python_call *c)
{
    struct making m = { arena, value_new(arena, VALUE_DICT, c->arguments->line, 0) };
    struct python_call *out = ARENA_NEW(arena, struct python_call);
    *out = *c;
    out->arguments = m.out;
    m.out->gap = c->arguments->gap;
    for (int32_t i = 0; i < c->arguments->n; i++) {
        const struct value_item *it = &c->arguments->items[i];
        const char *as = NULL;
        for (size_t j = 0; j < sizeof(renamed) / sizeof(renamed[0]); j++)
            as = strcmp(it->key, renamed[j].name) == 0 ? renamed[j].as : as;
        if (as)
            add(&m, as, it, it->value);
        else
            add_members(&m, it);
    }
    return out;
}
