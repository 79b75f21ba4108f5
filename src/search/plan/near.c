#include "search/plan/near.h"

static const enum space_field varied[] = {
    SPACE_LIBRARY,  SPACE_TENSOR,  SPACE_PIPELINE, SPACE_CONTEXT,       SPACE_EXPERT,
    SPACE_OPTIMIZE, SPACE_MICRO,   SPACE_SCHEDULE, SPACE_VIRTUAL,       SPACE_SEQUENCE,
    SPACE_SHARDING, SPACE_DEGREE,  SPACE_OFFLOAD,  SPACE_CHECKPOINTING, SPACE_PLACEMENT,
    SPACE_BUCKET,   SPACE_OVERLAP,
};

static bool neighbour(const struct space *s, const struct space_point *from,
                      enum space_field f, int step, struct space_point *to)
{
    for (int32_t d = from->at[f] + step; d >= 0 && d < s->n[f]; d += step) {
        *to = *from;
        to->at[f] = (uint16_t)d;
        if (space_fill(s, to))
            return true;
    }
    return false;
}

int32_t plan_near(struct plan_near near[PLAN_NEAR_MAX], const struct space *s,
                  const struct space_point *from)
{
    int32_t n = 0;
    for (size_t i = 0; i < sizeof(varied) / sizeof(varied[0]); i++)
        for (int step = -1; step <= 1 && n < PLAN_NEAR_MAX; step += 2) {
            near[n].field = varied[i];
            n += neighbour(s, from, varied[i], step, &near[n].point);
        }
    return n;
}
