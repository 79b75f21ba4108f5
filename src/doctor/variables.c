#include "doctor/variables.h"

#include <string.h>

const struct variable_effect *variable_effect_of(const struct logs_variable *v,
                                                 const struct doctor_facts *f)
{
    return variable_effect_find(v->name, v->value, f->outside);
}

const char *variable_hypothesis(const struct variable_effect *e)
{
    static const char *const names[] = {
        [VARIABLE_SOCKETS] = "tcp",
        [VARIABLE_NO_GPUDIRECT] = "no-gpudirect",
        [VARIABLE_SENDS_BY_HOST] = "gdr-read",
        [VARIABLE_FEWER_NICS] = "slow-network",
        [VARIABLE_FEW_CHANNELS] = "few-channels",
        [VARIABLE_SMALL_BUFFERS] = "small-buffers",
        [VARIABLE_ONE_PROTOCOL] = "nccl-protocol",
        [VARIABLE_ONE_ALGORITHM] = "nccl-algorithm",
        [VARIABLE_NO_NVLS] = "nvls-off",
        [VARIABLE_NO_P2P] = "no-nvlink",
        [VARIABLE_SLOW_HOST] = "host-bound",
        [VARIABLE_OTHER] = NULL, /* and the two before it */
    };
    return names[e->does];
}

double variable_evidence(const struct doctor_view *v, const char *hypothesis,
                         const char **why)
{
    const struct logs_variables *all = &v->logs->variables;
    double most = 0;
    for (int32_t i = 0; i < all->n; i++) {
        const struct variable_effect *e =
            variable_effect_of(&all->of[i], &v->healthy->facts);
        const char *name = e ? variable_hypothesis(e) : NULL;
        if (!name || strcmp(name, hypothesis) != 0 || e->evidence <= most)
            continue;
        most = e->evidence;
        *why = e->text;
    }
    return most;
}

json_t *variables_healthy(const json_t *job, const struct logs_variables *logs)
{
    json_t *healthy = json_deep_copy(job);
    json_t *all = json_object_get(json_object_get(healthy, "software"), "environment");
    for (int32_t i = 0; i < logs->n; i++) {
        const struct logs_variable *v = &logs->of[i];
        const char *own = json_string_value(json_object_get(all, v->name));
        const struct variable_effect *e =
            own && strcmp(own, v->value) == 0
                ? variable_effect_find(v->name, v->value, -1)
                : NULL;
        if (e && e->does == VARIABLE_NO_P2P)
            json_object_del(all, v->name);
    }
    return healthy;
}
