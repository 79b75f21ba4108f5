/* What carries bytes, inside a node or between nodes: capacities and the software costs
 * of moving data over it in one generation of drivers and libraries.
 *
 * Read from topologies/fabrics/NAME.json. The terms are those of MODEL.md,
 * "Collectives"; an instance names one fabric inside and one outside, and a scenario
 * may name another outside ("cluster": {"fabric": ...}). */
#ifndef HARDWARE_FABRIC_H
#define HARDWARE_FABRIC_H

#include "config/cfg.h"
#include "config/provenance.h"
#include "hardware/fabric_law.h"
#include "hardware/fabric_quality.h"

enum fabric_kind {
    FABRIC_NVLINK,   /* GPUs wired to each other, link by link */
    FABRIC_NVSWITCH, /* every GPU has one port to a full crossbar */
    FABRIC_PCIE,     /* through PCIe switches and the host */
    FABRIC_EFA,
    FABRIC_TCP,        /* sockets over ENA */
    FABRIC_INFINIBAND, /* RoCE and Omni-Path too */
};

/* One protocol of NCCL over this fabric (Simple, LL, LL128). All times are of one
 * channel step unless said otherwise. */
struct fabric_protocol {
    bool enabled;
    double base_s;     /* once per collective: launch and synchronisation */
    double step_s;     /* of each ring step: flags, polling; over a fabric between nodes
                           the mean over all steps of a ring that crosses it */
    double hop_s;      /* in place of a mean: of a step between two nodes; all others
                           take what the instance's own fabric has, and so does its
                           ramp */
    double efficiency; /* share of the fabric's bandwidth that carries payload, 0..1 */
    double quantum_B;  /* Simple: bytes of one unrolled copy iteration of one channel;
                           a step's bytes are shared by `channels`; 0: no quantum */
    double quantum_s;  /* each started quantum of each step costs this */
    double
        copy_Bps; /* final receive-and-copy of S/n, hidden by nothing; INFINITY: none */
    double reduce_Bps; /* of reduce-scatter, the final receive, add and store
                                     of S/n beyond that; INFINITY: none */
    double ramp_s,
        ramp_rank_s; /* once, the second for each rank beyond two: reached at */
    double ramp_B;   /* this size, linear below */
    double
        turn_Bps; /* LL: the last of a chunk's primitives takes S/n at this rate more */
    double exposed; /* of the latencies, the share not hidden by the second half
                           of the bytes: t = max(lat + X / 2, exposed * lat + X) */
    double gather;  /* of its bandwidth, what all-gather and reduce-scatter reach */
    double max_Bps; /* busbw beyond which the protocol's copy loops saturate */
};

/* Switches between the nodes, from the leaves up: units of so many neighbouring hosts,
 * whose way up carries what their NICs send, over the oversubscription. */
enum { FABRIC_TIERS_MAX = 3 };

struct fabric_tier {
    int64_t hosts;
    double oversubscription;
};

struct fabric_tiers {
    bool rails; /* the k-th NICs of a leaf's hosts have a switch of their own */
    int32_t n;
    struct fabric_tier of[FABRIC_TIERS_MAX];
};

struct fabric {
    const char *name;
    enum fabric_kind kind;
    const char *software;   /* software it describes: "NCCL 2.12, 2021" */
    double efficiency;      /* share of line rate that payload reaches */
    double step_efficiency; /* the same during a training step's computation, where
                               that was measured and is less; 0: not said */
    double latency_s;    /* one hop between two GPUs (inside) or two nodes (outside) */
    double per_flow_Bps; /* one stream's limit (TCP); INFINITY: none */
    double
        oversubscription; /* >= 1: nodes' line rate over what the core carries each */
    struct fabric_tiers tiers; /* none: all nodes hang on the core */
    double shared_frac; /* share of the NICs that sums of gradients use whose groups
                             have several GPUs in a node, two of them at one NIC ... */
    double split_frac;  /* ... or none: a ring that has to leave a node by the NIC by
                             which it came in then crosses the host */
    bool gpudirect;     /* NICs read and write GPU memory; else host staging */
    double put_s; /* of a put that a kernel asks for and the host's proxy sends, one
                             after the other; 0: GPUs drive the NICs themselves */
    double staging_Bps; /* host staging rate per NIC; INFINITY: does not limit */
    double fill_frac,
        fill_max_s;     /* per ring step over this fabric: store-and-forward of
                                     one quantum, min(fill_frac * x / rate,
                                     fill_max_s) */
    double pair_loop_B; /* rings of two nodes move what a rank has beyond this ... */
    double pair_gain;   /* ... in so much of its time: loops overlap; 1: they do not */
    int64_t channels;   /* of a large collective in the fit; 1 or more */
    struct fabric_protocol proto[FABRIC_PROTO_N]; /* of rings */
    struct fabric_laws laws;                      /* of all else */
    struct fabric_choices choices;                /* of the network plugin's tuner */
    struct fabric_quality quality;                /* what groups really get of it */
    struct fabric_state state;                    /* which of that its constants have */
    int64_t measured_gpus; /* of one node, at most, that it rests on; 0: not said */
    const char *nccl;      /* NCCL version its choices follow; NULL: the newest known */
    const char *provenance;
    enum provenance_kind provenance_kind;
};

extern const struct name_value fabric_kind_names[];

/* The keys that fabric_read_tiers reads, in a table of fields of struct T. */
struct fabric_tiers_raw {
    double oversubscription;
    bool rails;
    struct cfg tiers;
};

extern const char *const fabric_tier_keys[]; /* their names; NULL ends them */

#define FABRIC_TIER_KEYS(T, m)                                    \
    CFG_REAL("oversubscription", T, m oversubscription, 1, 1000), \
        CFG_BOOL("rails", T, m rails), CFG_CHILD("tiers", T, m tiers)

/* The fabric of that name (topologies/fabrics) or file, kept in the loader; NULL after
 * reporting at `where`. */
const struct fabric *fabric_get(struct cfg_loader *loader, const char *name,
                                struct cfg where);

/* Reads "oversubscription", "rails" and "tiers" of an object into a fabric; absent keys
 * leave what it has. 0, or -1 after reporting. */
int fabric_read_tiers(struct fabric *f, struct cfg object);

/* Whether it joins GPUs of one node, rather than nodes. */
bool fabric_is_inside(const struct fabric *f);

#endif
