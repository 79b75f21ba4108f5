#include "run/observe.h"

#include <stdio.h>

const struct name_value stream_names[] = {
    { "compute", STREAM_COMPUTE },
    { "gradients", STREAM_COMM },
    { "tensor group", STREAM_TENSOR },
    { "sharded units", STREAM_SHARD },
    { "context and experts", STREAM_GROUP },
    { "model group", STREAM_MODEL },
    { "to next stage", STREAM_NEXT },
    { "to stage before", STREAM_BACK },
    { "copy from host", STREAM_COPY },
    { "checkpoints from host", STREAM_LOAD },
    { "copy to host", STREAM_STORE },
    { "gradients to host", STREAM_TO_HOST },
    { "network", STREAM_NETWORK },
    { "pull", STREAM_PULL },
    { "results to GPU", STREAM_TO_GPU },
    { "gather in node", STREAM_GATHER },
    { NULL, 0 },
};

static const struct name_value work_names[] = {
    { "other", WORK_OTHER },
    { "forward", WORK_FORWARD },
    { "backward", WORK_BACKWARD },
    { "weight gradients", WORK_WEIGHT },
    { "bucket", WORK_BUCKET },
    { "update", WORK_UPDATE },
    { NULL, 0 },
};

int32_t observed_index(const struct program *p, const struct task *t)
{
    return (int32_t)(t - p->tasks.v);
}

/* Empty where the task is one of its kind. */
static const char *works_on(const struct task *t, char text[32])
{
    text[0] = '\0';
    if (t->tag.number >= 0 && t->tag.work != WORK_OTHER)
        snprintf(text, 32, " %s %d", names_of(work_names, (int)t->tag.work),
                 (int)t->tag.number);
    return text;
}

const char *observed_name(const struct program *p, const struct task *t,
                          char name[OBSERVED_NAME_MAX])
{
    char of[32];
    if (t->comm >= 0) {
        const struct comm *c = &p->comms.v[t->comm];
        const char *op =
            t->sends >= 0 ? "send" : names_of(coll_op_names, (int)c->plan->op);
        snprintf(name, OBSERVED_NAME_MAX, "%s%s", op, works_on(t, of));
    } else if (t->tag.label) {
        return t->tag.label;
    } else if (t->fusion >= 0) {
        return "fused buffers";
    } else if (t->stream == STREAM_COMM) {
        return "wait for other ranks";
    } else if (t->tag.number >= 0) {
        snprintf(name, OBSERVED_NAME_MAX, "%s", works_on(t, of) + 1);
    } else {
        return names_of(t->tag.work != WORK_OTHER ? work_names : category_names,
                        t->tag.work != WORK_OTHER ? (int)t->tag.work : (int)t->part);
    }
    return name;
}
