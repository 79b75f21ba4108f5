/* SMP's placement of a tree of modules on devices, as its paper (arXiv 2111.05972,
 * Algorithms 1 to 3) is read by OSLO: children are cut into as many contiguous segments
 * as there are devices, at most, with the least largest cost; D'Hondt gives the
 * segments devices; a segment that gets none goes to the first device of the parent,
 * and one that gets several is cut again. Devices of a segment are neighbours here. */
#ifndef LAYOUT_SMP_TREE_H
#define LAYOUT_SMP_TREE_H

#include <stdint.h>

struct smp_node {
    double cost;               /* share of the model's, children included */
    struct smp_node *children; /* in order of execution; NULL for a leaf */
    int64_t n_children;
    int64_t device; /* set by partition_tree_place */
};

/* Sets the device of every node, 0 to devices - 1. */
void partition_tree_place(struct smp_node *root, int64_t devices);

#endif
