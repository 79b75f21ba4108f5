#include "cost/hashring.h"

#include "base/mix.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static int compare_points(const void *a, const void *b)
{
    const struct hashring_point *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->server > y->server) - (x->server < y->server);
}

void hashring_init(struct hashring *r, struct arena *arena, int32_t n_servers,
                   int32_t virtual_nodes)
{
    r->n_points = n_servers * virtual_nodes;
    r->points = ARENA_ARRAY(arena, r->n_points, struct hashring_point);
    for (int32_t s = 0; s < n_servers; s++) {
        for (int32_t v = 0; v < virtual_nodes; v++) {
            uint64_t name = (uint64_t)s << 32 | (uint32_t)v;
            r->points[s * virtual_nodes + v] =
                (struct hashring_point) { mix64(mix64(name) + 1), s };
        }
    }
    qsort(r->points, (size_t)r->n_points, sizeof(*r->points), compare_points);
}

/* The first point at or after a hash. */
static int32_t point_of(const struct hashring *r, uint64_t hash)
{
    int32_t low = 0, high = r->n_points;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (r->points[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n_points ? low : 0;
}

int32_t hashring_servers(const struct hashring *r, uint64_t key, int32_t k,
                         int32_t *servers)
{
    int32_t at = point_of(r, mix64(key)), n = 0;
    for (int32_t i = 0; i < r->n_points && n < k; i++) {
        int32_t server = r->points[(at + i) % r->n_points].server;
        bool seen = false;
        for (int32_t j = 0; j < n && !seen; j++)
            seen = servers[j] == server;
        if (!seen)
            servers[n++] = server;
    }
    return n;
}

void hashring_spread(const struct hashring *r, uint64_t key, double bytes,
                     double slice_B, int32_t replicas, double *own, double *copies)
{
    enum { REPLICAS_MAX = 15, SLICE_BITS = 20 };
    int32_t servers[REPLICAS_MAX + 1];
    int64_t slices = slice_B > 0 ? (int64_t)fmax(1, ceil(bytes / slice_B)) : 1;
    int32_t k = 1 + (replicas < REPLICAS_MAX ? replicas : REPLICAS_MAX);
    for (int64_t i = 0; i < slices; i++) {
        uint64_t slice = key << SLICE_BITS | (uint64_t)i;
        int32_t n = hashring_servers(r, slice, k, servers);
        own[servers[0]] += bytes / (double)slices;
        for (int32_t j = 1; j < n; j++)
            copies[servers[j]] += bytes / (double)slices;
    }
}
