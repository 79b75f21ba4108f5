#include "layout/smp_tree.h"

#include "base/xmalloc.h"
#include "layout/partition.h"

#include <stdlib.h>

/* Neighbouring devices: `n` from `first` on. */
struct devices {
    int64_t first, n;
};

static void place(struct smp_node *node, struct devices on);

/* A run of siblings on several devices, or on one. */
static void place_run(struct smp_node *nodes, int64_t n, struct devices on)
{
    if (n == 1 || on.n <= 1) {
        for (int64_t i = 0; i < n; i++)
            place(&nodes[i], on);
        return;
    }
    int64_t parts = on.n < n ? on.n : n, from = 0, device = on.first;
    double *costs = xcalloc((size_t)n, sizeof(*costs));
    int64_t *ends = xcalloc((size_t)parts, sizeof(*ends));
    int64_t *given = xcalloc((size_t)parts, sizeof(*given));
    for (int64_t i = 0; i < n; i++)
        costs[i] = nodes[i].cost;
    partition_min_max(costs, n, parts, ends);
    for (int64_t i = 0; i < parts; i++) {
        double sum = 0;
        for (int64_t k = i ? ends[i - 1] : 0; k < ends[i]; k++)
            sum += nodes[k].cost;
        costs[i] = sum;
    }
    partition_dhondt(costs, parts, on.n, given);
    for (int64_t i = 0; i < parts; i++) {
        struct devices own = { given[i] ? device : on.first, given[i] ? given[i] : 1 };
        place_run(&nodes[from], ends[i] - from, own);
        device += given[i];
        from = ends[i];
    }
    free(costs);
    free(ends);
    free(given);
}

static void place(struct smp_node *node, struct devices on)
{
    node->device = on.first;
    if (node->n_children > 0)
        place_run(node->children, node->n_children, on);
}

void partition_tree_place(struct smp_node *root, int64_t devices)
{
    place(root, (struct devices) { 0, devices });
}
