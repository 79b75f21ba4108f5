/* Chakra execution traces (MLCommons' et_def.proto) of every rank, as a graph: nodes that
 * take time, collectives, messages, and what each follows. FOLDER has one file a rank,
 * NAME.RANK.et, and comm_groups.json where communicators are not of all ranks.
 *
 * Fields that are not of use are passed over by their length, so that traces of other
 * writers and of later versions are read. */
#ifndef REPLAY_CHAKRA_TRACE_H
#define REPLAY_CHAKRA_TRACE_H

#include "base/vec.h"
#include "config/cfg.h"

#include <stdint.h>

enum chakra_kind {
    CHAKRA_NODE_COMPUTE,
    CHAKRA_NODE_SEND,
    CHAKRA_NODE_RECV,
    CHAKRA_NODE_COLLECTIVE
};

enum { CHAKRA_NODES_MAX = 1 << 26, CHAKRA_FILE_MAX = 1 << 30 };

struct chakra_node {
    enum chakra_kind kind;
    bool on_cpu;
    int32_t rank;
    int32_t group;     /* of collectives; -1: all ranks */
    int32_t op;        /* CollectiveCommType */
    int32_t from, to;  /* ranks of a message */
    int64_t tag;       /* of a message */
    int64_t bytes;     /* of collectives and messages */
    double time_s;     /* of what computes */
    int64_t first_dep; /* in deps */
    int32_t n_deps;
};

struct chakra_group {
    VEC(int32_t) ranks; /* in order */
};

struct chakra_trace {
    int64_t n_ranks;
    VEC(struct chakra_node) nodes; /* rank by rank, in the order of the files */
    VEC(int64_t) deps;             /* indices of nodes, of the same rank */
    VEC(struct chakra_group) groups;
    VEC(char *) names; /* of groups, as comm_groups.json has them */
};

/* Reads a folder. -1 with err set: a file that is none or cut off, a node that follows
 * none, an unknown communicator. */
int chakra_trace_load(struct chakra_trace *t, struct cfg_loader *loader,
                      const char *folder, struct err *err);
/* Parts of it: the next rank's file, and whether nodes meet ranks that there are. */
int chakra_trace_add(struct chakra_trace *t, const char *file, const char *bytes,
                     size_t n, struct err *err);
int chakra_trace_check(const struct chakra_trace *t, struct err *err);

void chakra_trace_release(struct chakra_trace *t);

#endif
