/* Functions of Python's library, PyTorch's and others', of which what they give is known. */
#include "dialect/python/python_builtin.h"

#include "base/names.h"

#include <string.h>

/* A variable that nobody is seen to set, and no starter of processes does: it is None where
 * a condition asks, and not known else. */
static struct value *unset(struct python_parser *r, const char *name, int64_t line)
{
    static const char *const started[] = {
        "WORLD_SIZE", "RANK",  "MASTER_",     "SM_",         "SLURM_",   "OMPI_",
        "PMI_",       "CUDA_", "KUBERNETES_", "ACCELERATE_", "HOROVOD_", "RAY_",
        "LOCAL_SIZE", "NODE",  "AWS_",        "NUM_",        "GPUS",     NULL
    };
    static const char *const secrets[] = { "TOKEN", "KEY", "SECRET", "WANDB", NULL };
    struct value *v =
        python_unknown(r, line, "%.60s of the environment is not known", name);
    if (names_within(started, name) || strcmp(name, "a variable") == 0)
        return v;
    v->integer = PYTHON_UNSET;
    if (!names_within(secrets, name))
        python_note(r, line, "%.60s of the environment is taken not to be set", name);
    return v;
}

/* os.environ.get("NAME", default), os.getenv: what the text has set, or nobody has. */
static struct value *environment(struct python_parser *r,
                                 const struct python_arguments *a)
{
    const char *name =
        a->first && a->first->kind == VALUE_STRING ? a->first->text : "a variable";
    const struct value_item *named = value_get(a->all, "default");
    struct value *other = a->second ? a->second : named ? named->value : NULL;
    const struct value *set = python_find(r, PYTHON_ENVIRONMENT);
    const struct value_item *own =
        set && set->kind == VALUE_DICT ? value_get(set, name) : NULL;
    if (own)
        return own->value;
    if (!other)
        return unset(r, name, a->line);
    const char *shown = python_string(r, other);
    python_note(r, a->line,
                "%.60s of the environment is taken to be %.60s, its default "
                "here",
                name, shown ? shown : "its default");
    return other;
}

/* ParameterInteger(name="Count", default_value=2) of a pipeline of SageMaker's
 * (sagemaker-python-sdk 2.2x and 3.x, workflow/parameters.py): what a start that gives no
 * other is given. */
static struct value *pipeline_parameter(struct python_parser *r,
                                        const struct python_arguments *a)
{
    const struct value_item *named = value_get(a->all, "name"),
                            *other = value_get(a->all, "default_value");
    const struct value *id = named ? named->value : a->first;
    const char *name = id && id->kind == VALUE_STRING ? id->text : "a parameter";
    struct value *v = other ? other->value : a->second;
    if (!v || v->kind == VALUE_NONE)
        return python_unknown(r, a->line,
                              "%.60s is a parameter of the pipeline, which its start "
                              "gives",
                              name);
    const char *shown = python_string(r, v);
    if (shown)
        python_note(r, a->line,
                    "%.60s, a parameter of the pipeline, is taken to be %.60s, its "
                    "default",
                    name, shown);
    return v;
}

/* os.getcwd(): where the file is, as notebooks are run. */
static struct value *here(struct python_parser *r, const struct python_arguments *a)
{
    return python_text(r, a->line, ".");
}

static struct value *path_join(struct python_parser *r,
                               const struct python_arguments *a)
{
    struct strbuf b;
    const char *why = a->all->gap || !a->all->n ? "os.path.join() is a call" : NULL;
    strbuf_init(&b);
    for (int32_t i = 0; i < a->all->n && !why && b.len < PYTHON_STRING_MAX; i++) {
        const struct value *v = a->all->items[i].value;
        if (v->kind != VALUE_STRING) {
            why = v->kind == VALUE_UNKNOWN ? v->why : "os.path.join() is a call";
            continue;
        }
        if (*v->text == '/')
            strbuf_release(&b), strbuf_init(&b);
        bool slash = b.len && strbuf_get(&b)[b.len - 1] != '/';
        strbuf_printf(&b, "%s%s", slash ? "/" : "", v->text);
    }
    struct value *v =
        why ? python_unknown(r, a->line, "%s", why)
            : python_text(r, a->line, arena_strdup(r->p->arena, strbuf_get(&b)));
    if (why && a->all->n) /* its last part says most */
        v->text = a->all->items[a->all->n - 1].value->text;
    strbuf_release(&b);
    return v;
}

static struct value *deep_copy(struct python_parser *r,
                               const struct python_arguments *a)
{
    return a->first ? python_deep_copy(r, a->first) : python_lost(r, a, "deepcopy()");
}

static struct value *device_count(struct python_parser *r,
                                  const struct python_arguments *a)
{
    if (r->wanted->gpu.count)
        return python_int(r, a->line, r->wanted->gpu.count);
    return python_unknown(r, a->line,
                          "device_count() is the instance's number of GPUs");
}

static struct value *world_size(struct python_parser *r,
                                const struct python_arguments *a)
{
    if (r->wanted->gpu.world > 0)
        return python_int(r, a->line, r->wanted->gpu.world);
    return python_unknown(r, a->line,
                          "get_world_size() is the number of GPUs (--set "
                          "/cluster/instance=NAME and /cluster/count=N)");
}

/* sm80 and newer compute in bf16 (torch/cuda/__init__.py, PyTorch 2.4). */
static struct value *bf16_supported(struct python_parser *r,
                                    const struct python_arguments *a)
{
    if (r->wanted->gpu.arch)
        return python_bool(r, a->line, r->wanted->gpu.arch >= 80);
    return python_unknown(r, a->line,
                          "whether bf16 is supported, is the instance's GPU to say "
                          "(--set /cluster/instance=NAME)");
}

static struct value *capability(struct python_parser *r,
                                const struct python_arguments *a)
{
    int64_t arch = r->wanted->gpu.arch;
    if (!arch)
        return python_unknown(r, a->line,
                              "get_device_capability() is the instance's GPU's (--set "
                              "/cluster/instance=NAME)");
    struct value *v = python_new(r, VALUE_LIST, a->line);
    python_put(r, v, NULL, a->line, python_int(r, a->line, arch / 10));
    python_put(r, v, NULL, a->line, python_int(r, a->line, arch % 10));
    return v;
}

/* What get_device_properties() gives that programs ask for. */
static struct value *properties(struct python_parser *r,
                                const struct python_arguments *a)
{
    const struct python_gpu *gpu = &r->wanted->gpu;
    if (!gpu->memory_B || !gpu->arch)
        return python_unknown(r, a->line,
                              "get_device_properties() is the instance's GPU's (--set "
                              "/cluster/instance=NAME)");
    struct value *v = python_new(r, VALUE_DICT, a->line);
    python_put(r, v, "total_memory", a->line, python_int(r, a->line, gpu->memory_B));
    python_put(r, v, "major", a->line, python_int(r, a->line, gpu->arch / 10));
    python_put(r, v, "minor", a->line, python_int(r, a->line, gpu->arch % 10));
    v->gap = a->line;
    return v;
}

/* torch.cuda.is_available(): a job that is simulated has GPUs. */
static struct value *available(struct python_parser *r,
                               const struct python_arguments *a)
{
    return python_bool(r, a->line, true);
}

/* setattr(args, "max_steps", 10) */
static struct value *set_attribute(struct python_parser *r,
                                   const struct python_arguments *a)
{
    const char *key = a->second ? python_key(r, a->second) : NULL;
    if (key && a->third && a->first && a->first->kind == VALUE_DICT)
        python_put(r, a->first, key, a->line, a->third);
    else if (key && a->third)
        python_set_attribute(r, a->first, key, a->line, a->third);
    return python_new(r, VALUE_NONE, a->line);
}

/* dataclasses.replace(args, max_steps=10): of what a call gave, as another call of it with
 * other arguments. */
static struct value *replaced(struct python_parser *r, const struct python_arguments *a)
{
    const struct value *of = a->first;
    struct value *v = of && of->kind == VALUE_DICT
                          ? python_deep_copy(r, of)
                          : python_unknown(r, a->line, "replace() is a call");
    struct value *to = v->kind == VALUE_DICT ? v : NULL;
    for (int64_t i = r->p->calls.n; of && !to && i-- > 0;) {
        const struct python_call c = r->p->calls.v[i];
        if (c.result != of)
            continue;
        to = python_copy(r, c.arguments);
        int64_t at = python_record(r, c.function, a->line,
                                   r->lex.brackets == 0 ? r->in.target : NULL, to);
        if (at < 0)
            break;
        r->p->calls.v[at].result = v;
    }
    for (int32_t i = 0; to && i < a->all->n && !r->limit; i++) {
        const struct value_item *it = &a->all->items[i];
        if (strcmp(it->key, "0") != 0)
            python_put(r, to, it->key, it->line, it->value);
    }
    if (to)
        to->gap = to->gap ? to->gap : a->all->gap;
    return to ? v : python_lost(r, a, "replace()");
}

/* snapshot_download("owner/model") of Hugging Face's hub and ModelScope's: a folder of
 * that model. */
static struct value *downloaded(struct python_parser *r,
                                const struct python_arguments *a)
{
    struct value *v = python_placed(a, a->first, "repo_id");
    v = v ? v : python_placed(a, NULL, "model_id");
    bool id = v && v->kind == VALUE_STRING && !value_get(a->all, "local_dir");
    return id ? v : python_lost(r, a, "snapshot_download()");
}

/* tyro.cli(Config) (tyro 0.9), draccus.parse(config_class=Config) and the like: fields of a
 * class of the text. */
static struct value *parsed_class(struct python_parser *r,
                                  const struct python_arguments *a)
{
    const struct value *class = python_placed(a, a->first, "config_class");
    class = class ? class : python_placed(a, NULL, "f");
    bool own = class && class->kind == VALUE_DICT && class->text;
    return own ? python_parse_class(r, class, a->line)
               : python_lost(r, a, "its parser");
}

/* field(default=1) and field(default_factory=lambda: [1]) of a dataclass. */
static struct value *field(struct python_parser *r, const struct python_arguments *a)
{
    const struct value_item *it = value_get(a->all, "default"),
                            *made = value_get(a->all, "default_factory");
    const char *type = made && made->value->why ? made->value->why : "";
    if (made && made->value->kind == VALUE_UNKNOWN && made->value->items)
        return made->value->items[0].value;
    if (made && made->value->kind == VALUE_DICT && made->value->text) /* of a class */
        return python_deep_copy(r, made->value);
    if (strncmp(type, "list is ", 8) == 0 || strncmp(type, "dict is ", 8) == 0)
        return python_new(r, *type == 'l' ? VALUE_LIST : VALUE_DICT, a->line);
    return it ? it->value : python_unknown(r, a->line, "its field has no default here");
}

/* Field(8, gt=0) and Field(default=8) of pydantic 2.11, "..." where there is none; what the
 * environment sets of settings is taken not to be set. */
static struct value *pydantic_field(struct python_parser *r,
                                    const struct python_arguments *a)
{
    return a->first ? (struct value *)(uintptr_t)a->first : field(r, a);
}

/* click.option("--size", default=8, is_flag=True) before a function (click 8.1). */
static struct value *click_option(struct python_parser *r,
                                  const struct python_arguments *a)
{
    const struct value *flag = value_member(a->all, "is_flag");
    struct value *all = python_copy(r, a->all);
    if (flag && python_truth(flag) > 0 && !value_get(all, "default"))
        python_put(r, all, "action", a->line, python_text(r, a->line, "store_true"));
    python_add_argument(r, all, a->line);
    return python_new(r, VALUE_NONE, a->line);
}

/* typer.Option(8, help="...") (typer 0.12): the default, "..." where there is none. */
static struct value *typer_option(struct python_parser *r,
                                  const struct python_arguments *a)
{
    struct value *v = python_placed(a, a->first, "default");
    return v ? v : python_lost(r, a, "typer.Option()");
}

/* locals() of a function, without what it assigned to members. */
static struct value *locals(struct python_parser *r, const struct python_arguments *a)
{
    struct value *v = python_new(r, VALUE_DICT, a->line);
    for (int64_t i = r->in.scope; i < r->p->names.n && !r->limit; i++) {
        const struct python_name *n = &r->p->names.v[i];
        if (n->value && !strchr(n->name, '.') && v->n < PYTHON_ITEMS_MAX)
            python_put(r, v, n->name, n->value->line, n->value);
    }
    return v;
}

bool python_is_dtype(const char *path)
{
    static const char *const types[] = { "bfloat16", "float16", "half", "float32",
                                         "float",    "float64", NULL };
    return strncmp(path, "torch.", 6) == 0 && names_listed(types, path + 6);
}

/* getattr(torch, "bfloat16"), getattr(options, "size", 1). */
static struct value *attribute(struct python_parser *r,
                               const struct python_arguments *a)
{
    const struct value *x = a->first;
    const char *key = a->second ? python_key(r, a->second) : NULL;
    const struct value_item *it = key ? value_get(x, key) : NULL;
    const char *path = x && key && x->kind == VALUE_UNKNOWN && x->text
                           ? arena_printf(r->p->arena, "%s.%s", x->text, key)
                           : "";
    if (it)
        return it->value;
    if (python_is_dtype(path))
        return python_text(r, a->line, path);
    if (a->third && x && x->kind == VALUE_DICT && !x->gap)
        return a->third;
    struct value *v = python_lost(r, a, "getattr()");
    if (*path && !a->third && strcmp(x->why, "it is imported") == 0) {
        v->why = x->why; /* getattr(torch.optim, "SGD") */
        v->text = path;
    }
    return v;
}

/* typing.cast(Arguments, x): x. */
static struct value *cast_to(struct python_parser *r, const struct python_arguments *a)
{
    return a->second ? a->second : python_lost(r, a, "cast()");
}

/* set(x) of such names; of others it is a call as any. */
static struct value *names_set(struct python_parser *r,
                               const struct python_arguments *a)
{
    (void)r;
    return python_is_signature(a->first) ? a->first : NULL;
}

/* inspect.signature(TrainingArguments.__init__) of a library's class: programs ask whether
 * its release has an argument, which it is taken to have. */
static struct value *signature(struct python_parser *r,
                               const struct python_arguments *a)
{
    const struct value *of = a->first;
    bool imported = of && of->kind == VALUE_UNKNOWN && of->text && of->why &&
                    strcmp(of->why, "it is imported") == 0;
    if (!imported)
        return python_lost(r, a, "inspect.signature()");
    python_note(r, a->line,
                "inspect.signature(%.60s): it is taken to have each argument that the "
                "text asks for",
                of->text);
    struct value *v = python_unknown(r, a->line, "%s", python_signature_why);
    v->integer = PYTHON_SOMETHING;
    v->text = "signature"; /* its members are not known for the same reason */
    return v;
}

/* @find_executable_batch_size(starting_batch_size=128): the function that follows is given
 * that, and half of it each time that memory is short (accelerate/utils/memory.py, 1.12). */
static struct value *tried_batch(struct python_parser *r,
                                 const struct python_arguments *a)
{
    const struct value *first = python_placed(a, a->second, "starting_batch_size");
    r->handed = first ? python_deep_copy(r, first) : python_int(r, a->line, 128);
    python_note(r, a->line,
                "find_executable_batch_size: the first batch that it tries is taken");
    return python_unknown(r, a->line, "find_executable_batch_size() is a decorator");
}

const struct python_function_row python_library[] = {
    { "os.environ.get", environment },
    { "os.getenv", environment },
    { "os.path.join", path_join },
    { "os.getcwd", here },
    { "Path.cwd", here },
    { "pathlib.Path.cwd", here },
    { "Path", path_join },
    { "pathlib.Path", path_join },
    { "deepcopy", deep_copy },
    { "copy.deepcopy", deep_copy },
    { "copy.copy", deep_copy },
    { "replace", replaced },
    { "dataclasses.replace", replaced },
    { "copy.replace", replaced },
    { "torch.cuda.device_count", device_count },
    { "torch.accelerator.device_count", device_count },
    { "torch.accelerator.is_available", available },
    { "torch.distributed.get_world_size", world_size },
    { "olmo_core.distributed.utils.get_world_size", world_size },
    { "torch.cuda.is_bf16_supported", bf16_supported },
    { "is_bf16_supported", bf16_supported },
    { "is_bfloat16_supported", bf16_supported }, /* Unsloth's */
    { "unsloth.is_bfloat16_supported", bf16_supported },
    { "unsloth.is_bf16_supported", bf16_supported },
    { "is_torch_bf16_gpu_available", bf16_supported },
    { "transformers.utils.is_torch_bf16_gpu_available", bf16_supported },
    { "torch.cuda.get_device_capability", capability },
    { "torch.cuda.get_device_properties", properties },
    { "torch.cuda.is_available", available },
    { "getattr", attribute },
    { "setattr", set_attribute },
    { "*snapshot_download", downloaded },
    { "hydra.main", python_hydra_main },
    { "find_executable_batch_size", tried_batch },
    { "accelerate.find_executable_batch_size", tried_batch },
    { "accelerate.utils.find_executable_batch_size", tried_batch },
    { "accelerate.utils.memory.find_executable_batch_size", tried_batch },
    { "tyro.cli", parsed_class },
    { "draccus.parse", parsed_class },
    { "datargs.parse", parsed_class },
    { "pyrallis.parse", parsed_class },
    { "simple_parsing.parse", parsed_class },
    { "simple_parsing.helpers.parse", parsed_class },
    { "jsonargparse.CLI", parsed_class },
    { "click.option", click_option },
    { "click.argument", click_option },
    { "typer.Option", typer_option },
    { "typer.Argument", typer_option },
    { "typing.cast", cast_to },
    { "inspect.signature", signature },
    { "inspect.getfullargspec", signature },
    { "dataclasses.fields", signature },
    { "set", names_set },
    { "frozenset", names_set },
    { "locals", locals },
    { "field", field },
    { "dataclasses.field", field },
    { "Field", pydantic_field },
    { "pydantic.Field", pydantic_field },
    { "pydantic.fields.Field", pydantic_field },
    { "pydantic.v1.Field", pydantic_field },
    { "sqlmodel.Field", pydantic_field },
    { "*ParameterString", pipeline_parameter },
    { "*ParameterInteger", pipeline_parameter },
    { "*ParameterFloat", pipeline_parameter },
    { "*ParameterBoolean", pipeline_parameter },
    { NULL, NULL },
};
