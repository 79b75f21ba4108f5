#include "sweep/sweep_shard.h"

bool sweep_shard_has(struct sweep_shard shard, int64_t point)
{
    return point % shard.count == shard.index - 1;
}

int64_t sweep_shard_size(struct sweep_shard shard, int64_t n_points)
{
    return (n_points + shard.count - shard.index) / shard.count;
}

int64_t sweep_shard_point(struct sweep_shard shard, int64_t nth)
{
    return shard.index - 1 + nth * shard.count;
}

int64_t sweep_shard_nth(struct sweep_shard shard, int64_t point)
{
    return point / shard.count;
}
