/* What groups over nodes really get of a fabric, against the clean figure that its
 * constants were fitted to: nodes of one's own, new links, nothing else on the network.
 *
 * What congestion, collisions of routes, slow links and stragglers add is waiting: the
 * bytes of large messages pass at the clean rate, and each step of a ring or tree takes
 * longer (MODEL.md, C20). All waits between nodes are multiplied by a factor, a lognormal
 * over runs whose median grows with the nodes of the cluster:
 *
 *     factor(N, q) = max(1, waits exp(growth (log2 N - 1) + spread Z(q)))
 *
 * with Z the normal quantile of the share q of runs that have it better. */
#ifndef HARDWARE_FABRIC_QUALITY_H
#define HARDWARE_FABRIC_QUALITY_H

#include "config/cfg.h"

struct fabric;

/* The distribution, of the object "quality" of topologies/fabrics/NAME.json. */
struct fabric_quality {
    double waits;  /* median factor on two nodes; 0: nothing was published */
    double growth; /* of its logarithm, for each doubling of the nodes */
    double spread; /* deviation of the logarithm over runs */
    const char *provenance;
};

/* The quality that a cluster names. */
enum { FABRIC_QUALITY_TEXT = 16 };
struct fabric_state {
    char text[FABRIC_QUALITY_TEXT]; /* "clean", "typical", "0.9" */
    double factor;                  /* on waits between nodes */
};

/* Reads the object; nothing where it is absent. 0, or -1 after reporting. */
int fabric_quality_read(struct fabric_quality *q, struct cfg object);

/* Brings a fabric of one's own to the quality that a cluster of so many nodes names,
 * "clean", "typical" or a share in 0..1; absent: clean. 0, or -1 after reporting. */
int fabric_set_quality(struct fabric *f, struct cfg value, int64_t nodes);

#endif
