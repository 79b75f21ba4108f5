/* Meshes of devices (PyTorch 2.8: torch/distributed/device_mesh.py,
 * tensor/parallel/api.py, pipelining/stage.py, tensor/experimental): over which of their
 * dimensions FSDP shards, and that a text divides layers, stages or sequences itself, which
 * is asked for. */
#include "base/names.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

enum { WIDTH_MAX = 1 << 20 };

/* Calls that divide a model by the text's own choice. */
static const struct {
    const char *function, *pointer, *dimension;
} divided[] = {
    { "parallelize_module", "/parallelism/tensor", "tp" },
    { "PipelineStage", "/parallelism/pipeline", "pp" },
    { "context_parallel", "/parallelism/context", "cp" },
    { "SequenceParallel", "/parallelism/context",
      "cp" }, /* a wrapper of the text's own */
    { "ColumnParallelLinear", "/parallelism/tensor",
      "tp" }, /* fairscale's and copies */
    { "apply_tensor_parallel", "/parallelism/tensor", "tp" }, /* picotron's */
    { "PipelineParallel", "/parallelism/pipeline", "pp" },
    { "PipelineModule", "/parallelism/pipeline",
      "pp" }, /* DeepSpeed's, and its heirs */
};

static const struct python_call *mesh_of(const struct python *p)
{
    for (int64_t i = p->calls.n; i-- > 0;)
        if (strcmp(python_last_part(p->calls.v[i].function), "init_device_mesh") == 0 &&
            !p->calls.v[i].quoted)
            return &p->calls.v[i];
    return NULL;
}

/* The size of the first dimension whose name has one of the words; 0: it is not known. */
static int64_t size_of(const struct python_call *mesh, const char *const *words)
{
    const struct value *shape = user_script_given(mesh, "mesh_shape", "1"),
                       *names = user_script_given(mesh, "mesh_dim_names", "");
    int64_t n = 0;
    if (!shape || shape->kind != VALUE_LIST || !names || names->kind != VALUE_LIST)
        return 0;
    for (int32_t i = 0; i < names->n && i < shape->n; i++)
        for (const char *const *w = words; *w; w++)
            if (names->items[i].value->kind == VALUE_STRING &&
                strstr(names->items[i].value->text, *w) &&
                launch_whole(shape->items[i].value, &n) && n > 0 && n < WIDTH_MAX)
                return n;
    return 0;
}

static void ask_divided(struct launch_context *t, const struct user_script *g,
                        const struct python_call *c, const struct python_call *mesh)
{
    for (size_t i = 0; i < sizeof(divided) / sizeof(divided[0]); i++) {
        const char *const words[] = { divided[i].dimension, NULL };
        const char *at = divided[i].pointer;
        bool style = strcmp(divided[i].function, "SequenceParallel") == 0 && !c->own;
        if (style || /* of parallelize_module(), PyTorch's */
            !names_ends(python_last_part(c->function), divided[i].function) ||
            launch_has(t, at) || launch_is_unresolved(t, at))
            continue;
        launch_add_unresolved(t, at, g->line ? g->line : c->line,
                              "%.40s(...): how the program divides its work by it is "
                              "not read",
                              divided[i].function);
        int64_t n = size_of(mesh, words);
        const struct value *stages = user_script_given(c, "num_stages", "");
        if (n == 0 && stages)
            launch_whole(stages, &n);
        if (n > 0)
            launch_add_example(t, at, arena_printf(t->arena, "%lld", (long long)n));
    }
}

/* Of a mesh of two dimensions the first replicates and the second shards
 * (fsdp/_fully_shard/_fully_shard.py). */
static void take_hybrid(struct launch_context *t, const struct user_script *g,
                        const struct python_call *mesh)
{
    static const char at[] = "/parallelism/sharding/degree";
    static const char *const shards[] = { "shard", "fsdp", NULL }, *const copies[] = {
        "replic", "ddp", "hsdp", NULL
    };
    const struct value *shape = user_script_given(mesh, "mesh_shape", "1");
    const struct value *given =
        user_script_given(g->parts[SCRIPT_SHARDED], "mesh", "device_mesh");
    int64_t n = size_of(mesh, copies) ? size_of(mesh, shards) : 0;
    if (!shape || !given || launch_has(t, at) || launch_is_unresolved(t, at))
        return;
    bool whole = given == mesh->result && shape->kind == VALUE_LIST && shape->n == 2;
    if (whole && !n && !launch_whole(shape->items[1].value, &n))
        n = 0;
    struct value v = { .kind = VALUE_INT, .line = g->line ? g->line : mesh->line };
    const struct value_item from = { "init_device_mesh", v.line, &v };
    if (n > 0)
        launch_set(t, at, json_integer((json_int_t)n), &from);
    else if (whole)
        launch_add_unresolved(t, at, v.line,
                              "init_device_mesh(...): over how many GPUs its second "
                              "dimension shards is not known");
}

void user_script_take_mesh(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *mesh = mesh_of(g->python);
    bool split = false;
    if (g->parts[SCRIPT_TRAINER])
        return;
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        if (!c->quoted)
            ask_divided(t, g, c, mesh);
    }
    for (size_t i = 0; i < sizeof(divided) / sizeof(divided[0]); i++)
        split |= launch_is_unresolved(t, divided[i].pointer);
    if (mesh && g->parts[SCRIPT_SHARDED] && !split)
        take_hybrid(t, g, mesh);
}
