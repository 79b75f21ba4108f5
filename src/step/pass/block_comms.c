#include "step/pass/block_comms.h"

#include "step/comms.h"

#include <string.h>

static int32_t find(const struct op *ops, int32_t n, const char *name, size_t len)
{
    for (int32_t i = 0; i < n; i++)
        if (*ops[i].name == *name && strncmp(ops[i].name, name, len) == 0 &&
            ops[i].name[len] == '\0')
            return i;
    return -1;
}

int32_t block_comms_find(const struct op *ops, int32_t n, const char *names)
{
    const char *bar = strchr(names, '|');
    int32_t at = find(ops, n, names, bar ? (size_t)(bar - names) : strlen(names));
    return at < 0 && bar ? block_comms_find(ops, n, bar + 1) : at;
}

int block_comms_add(struct builder *b, int32_t block, bool backward,
                    struct op_comm place, enum coll_op op, double size_B,
                    struct err *err)
{
    struct block_comms *c = &b->stage->comms[block];
    struct op_comm k = place;
    size_B *= 1 - b->stage->s->parallel.split.hidden_frac;
    k.comm = comms_add(b, CHANNEL_TENSOR, op, size_B, err);
    if (k.comm < 0)
        return -1;
    if (k.overlapped)
        comms_overlapped(b, b->step->program.comms.v[k.comm].plan);
    k.stream = STREAM_TENSOR;
    k.part = CATEGORY_TENSOR_COMM;
    if (comms_alone_s(b, k.comm, &k.time_s, err) < 0)
        return -1;
    c->v[backward][c->n[backward]++] = k;
    return 0;
}

bool block_comms_apart(const struct stage *stage, enum layout_group group)
{
    const struct groups *g = stage->request->groups;
    int64_t last = layout_group_size(&g->layout, group) - 1, instances[2];
    for (int i = 0; i < 2; i++) {
        int32_t gpu;
        int64_t rank = layout_group_member(&g->layout, group, stage->rank, i * last);
        groups_place(g, rank, &instances[i], &gpu);
    }
    return instances[0] != instances[1];
}

double block_comms_host_s(const struct stage *stage)
{
    return framework_collective_dispatch_s(stage->fw, stage->settings.tensor);
}

double block_comms_check_s(const struct stage *stage)
{
    return framework_check_s(scenario_checks(stage->s, stage->fw),
                             stage->settings.tensor,
                             block_comms_apart(stage, LAYOUT_TP));
}
