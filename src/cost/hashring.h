/* Consistent hashing: servers own arcs of a ring, each through many virtual nodes, and
 * a key belongs to the first server at or after its hash. Servers that come or go move
 * only the keys of their own arcs. Hashes are of numbers alone, so that every run, and
 * every rank, spreads keys alike. */
#ifndef COST_HASHRING_H
#define COST_HASHRING_H

#include "base/arena.h"

#include <stdint.h>

enum { HASHRING_VIRTUAL = 128 }; /* virtual nodes of a server, unless said otherwise */

struct hashring_point {
    uint64_t hash;
    int32_t server;
};

struct hashring {
    int32_t n_points;
    struct hashring_point *points; /* by hash; in the arena */
};

/* A ring of servers 0..n_servers-1. O(n log n) in its points. */
void hashring_init(struct hashring *r, struct arena *arena, int32_t n_servers,
                   int32_t virtual_nodes);

/* The server of a key and the next k - 1 others along the ring, its replicas: at most
 * n_servers of them. Returns how many were written. */
int32_t hashring_servers(const struct hashring *r, uint64_t key, int32_t k,
                         int32_t *servers);

/* Adds `bytes` of a key, in slices of at most slice_B that are keys of their own, to
 * the parts of the servers: own[] of the first of each, copies[] of its k replicas. */
void hashring_spread(const struct hashring *r, uint64_t key, double bytes,
                     double slice_B, int32_t replicas, double *own, double *copies);

#endif
