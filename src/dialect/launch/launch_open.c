#include "dialect/launch/launch_open.h"

#include "hardware/instance.h"

#include <stdlib.h>
#include <string.h>

enum { VARIABLES_MAX = 64 };

/* "/shell/NAME=VALUE" is a variable of a shell script; false: it is no such thing. */
static bool is_variable(struct arena *arena, const char *set, struct shell_given *out)
{
    static const char prefix[] = "/shell/";
    const char *name = set + sizeof(prefix) - 1, *equals = strchr(set, '=');
    if (strncmp(set, prefix, sizeof(prefix) - 1) != 0 || !equals)
        return false;
    *out = (struct shell_given) {
        .name = arena_strndup(arena, name, (size_t)(equals - name)),
        .value = equals + 1,
        .fixed = true,
    };
    return true;
}

/* How many GPUs an instance has, and which, as far as --set says; 0: it does not. */
static void gpus_of(const struct launch_sets *sets, struct launch_given *out)
{
    static const char count[] = "/cluster/gpus_per_instance=",
                      name[] = "/cluster/instance=", many[] = "/cluster/count=";
    int64_t gpus = 0, given = 0;
    for (int64_t i = 0; i < sets->n; i++) {
        const char *set = sets->v[i];
        if (strncmp(set, count, sizeof(count) - 1) == 0)
            given = strtoll(set + sizeof(count) - 1, NULL, 10);
        if (strncmp(set, many, sizeof(many) - 1) == 0)
            out->count = strtoll(set + sizeof(many) - 1, NULL, 10);
        if (strncmp(set, name, sizeof(name) - 1) != 0)
            continue;
        struct cfg_loader loader;
        cfg_loader_init(&loader);
        const struct instance *inst =
            instance_get(&loader, set + sizeof(name) - 1, (struct cfg) { 0 });
        gpus = inst ? inst->n_gpus : 0;
        out->arch = inst ? inst->gpu->sm_arch : 0;
        out->memory_B = inst ? inst->gpu->memory_B : 0;
        out->cpus = inst ? inst->vcpus : 0;
        cfg_loader_release(&loader);
    }
    out->gpus = given > 0 ? given : gpus;
    out->count = out->count > 0 && out->count < 1 << 24 ? out->count : 0;
}

struct cfg launch_open(struct launch *l, struct cfg_loader *loader, const char *file,
                       const struct launch_sets *sets, const char *estimator)
{
    struct shell_given variables[VARIABLES_MAX], unused;
    struct launch_given given = { .estimator = estimator, .shell = variables };
    gpus_of(sets, &given);
    bool shell = launch_is_shell(file) || launch_takes_variables(file);
    for (int32_t i = 0; shell && i < sets->n && given.n_shell < VARIABLES_MAX; i++)
        given.n_shell +=
            is_variable(&loader->arena, sets->v[i], &variables[given.n_shell]);
    struct cfg root = launch_load(l, loader, file, &given);
    int rc = root.json && loader->diags.n_errors == 0 ? 0 : -1;
    for (int32_t i = 0; rc == 0 && i < sets->n; i++)
        if (!shell || !is_variable(&loader->arena, sets->v[i], &unused))
            rc = cfg_set(root, sets->v[i]);
    return rc ? (struct cfg) { 0 } : root;
}
