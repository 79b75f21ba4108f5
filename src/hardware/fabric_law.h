/* What an algorithm costs over a fabric in addition to the bytes on its links, and
 * which algorithm a network plugin's tuner prefers: two parts of
 * topologies/fabrics/NAME.json.
 *
 * A law is one row of constants for one algorithm and protocol, in one generation of
 * software. With N nodes, n ranks, g = max(log2 N - 1, 0), size S, m = S / n, and the
 * time X that the bytes alone need on the links (the network gives it, so sharing slows
 * it):
 *
 *   t = base + rank (n - 2) + node (N - 1) + chain (n / N - 1) + level g
 *     + (ramp + ramp_level g) min(s / ramp_bytes, 1)        s = S; m for point to point
 *     + (fill (1 + fill_level g) + fill_chain (n / N - 1))
 *       min(max(S - fill_from, 0), fill_bytes + fill_rank n) X / S
 *     + X
 *
 * NVLS of one node goes in rounds of R = `channels` x n chunks of c bytes (NCCL's rule,
 * fabric_nvls_chunk_B). Each chunk costs as much as `chunk_half` bytes more would:
 *
 *   X + fill ... = (1 + chunk_half / c) (1 + fill R c / S) X
 *
 * An NVLS tree with `channels` does so with n / N for n, and fills by
 * max(log2 N / 2, 1) min(R c / S, 1).
 *
 * `chain_steps` adds as many steps of a ring inside the node to `chain`.
 *
 * MODEL.md, "Collectives", derives which of the terms an algorithm needs. */
#ifndef HARDWARE_FABRIC_LAW_H
#define HARDWARE_FABRIC_LAW_H

#include "config/cfg.h"

/* GPUs of a node that NCCL lets add up in the NVSwitch (NCCL_MAX_NVLS_ARITY). */
enum { FABRIC_NVLS_HEADS = 32 };

enum { FABRIC_PROTO_SIMPLE, FABRIC_PROTO_LL, FABRIC_PROTO_LL128, FABRIC_PROTO_N };
extern const struct name_value fabric_protocol_names[];

enum fabric_algo {
    FABRIC_TREE,      /* double binary tree over nodes, chains inside */
    FABRIC_NVLS,      /* reduction and multicast in the NVSwitch of one node */
    FABRIC_NVLS_TREE, /* the same inside, trees between nodes */
    FABRIC_P2P,       /* all-to-all, scatter, send and receive */
    FABRIC_ALGO_N
};

struct fabric_law {
    bool enabled;
    double base_s;               /* once */
    double rank_s;               /* for each rank beyond the second */
    double node_s;               /* for each node beyond the first */
    double chain_s;              /* for each GPU of a node beyond its first */
    double chain_steps;          /* the same in steps of a ring inside the node */
    double level_s;              /* for each level of nodes beyond the first */
    double ramp_s, ramp_level_s; /* reached at ramp_B, linear below */
    double ramp_B;
    double fill_frac, fill_level; /* of the time of the bytes from fill_from_B ... */
    double fill_chain;            /* the same for each GPU beyond a node's first */
    double fill_from_B, fill_B;   /* ... on, no more than fill_B of them ... */
    double fill_rank_B;           /* ... and as many more for each rank */
    double rounds_channels;       /* NVLS: channels that share a round ... */
    double rounds_half_B;         /* ... and the chunk at which half the rate is lost */
    double efficiency;            /* share of the links' payload rate that it reaches */
    double max_Bps;  /* what its software can do of S a second; INFINITY: any */
    double peer_Bps; /* point to point: to one peer; INFINITY: any */
};

struct fabric_laws {
    struct fabric_law of[FABRIC_ALGO_N][FABRIC_PROTO_N];
};

enum { FABRIC_KNOTS_MAX = 12, FABRIC_CHOICES_MAX = 24 };

/* A row of a plugin's tuner: that algorithm and protocol for sizes of up to up_to_B,
 * which is given at some numbers of ranks and straight between them on log-log paper.
 * The first row that applies counts. */
struct fabric_choice {
    const char *op, *algorithm; /* as the cost layer spells them */
    int protocol;
    int32_t n_knots;
    double ranks[FABRIC_KNOTS_MAX], up_to_B[FABRIC_KNOTS_MAX];
};

struct fabric_choices {
    int64_t gpus_per_node; /* with any other number NCCL's own tuner chooses */
    int32_t n;
    struct fabric_choice rows[FABRIC_CHOICES_MAX];
};

/* The objects "tree", "nvls", "nvls_tree" and "p2p" of a fabric's file. */
int fabric_laws_read(struct fabric_laws *laws, const struct cfg objects[FABRIC_ALGO_N]);

/* The object "tuner". */
int fabric_choices_read(struct fabric_choices *choices, struct cfg object);

/* The row for an operation, or NULL. */
const struct fabric_choice *fabric_choice_of(const struct fabric_choices *choices,
                                             const char *op, int64_t n_ranks,
                                             int32_t gpus_per_node, double size_B);

/* Chunk of NVLS (of NVLS trees on several nodes) for an all-reduce of size_B, whose
 * rounds are of so many chunks: NCCL's calcCollChunking (src/enqueue.cc, 2.19-2.30),
 * with the greatest chunk of ncclNvlsTuning (src/transport/nvls.cc). */
double fabric_nvls_chunk_B(double size_B, double chunks_a_round, int64_t n_nodes);

/* What the law adds to the time of the bytes. `sent_B` is what fill counts,
 * `ramp_size_B` what the ramp does, bytes_s the time X of sent_B alone. */
double fabric_law_s(const struct fabric_law *law, int64_t n_ranks, int64_t n_nodes,
                    double ramp_size_B, double sent_B, double bytes_s);

#endif
