/* One call of `smsim collective`: its words, what they ask for, and the rows that a
 * simulation of each size gives.
 *
 *     cmd_collective.c      options, and the order of things
 *     collective_sizes.c    the sizes that --bytes asks for
 *     collective_prepare.c  the words as a cluster, a group of GPUs and a network
 *     collective_run.c      a simulation of each size
 *     collective_write.c    rows as text, JSON and a figure
 *     collective_explain.c  what was chosen, and why (--explain)
 *     collective_log.c      logs of nccl-tests instead (--log) */
#ifndef CMD_COLLECTIVE_CALL_H
#define CMD_COLLECTIVE_CALL_H

#include "cmd/collective_explain.h"
#include "cmd/options.h"
#include "config/cfg.h"
#include "hardware/cluster.h"
#include "hardware/net/net.h"

enum {
    COLLECTIVE_PROTOCOL_AUTO = -1,
    COLLECTIVE_ELEMENT_B = 4, /* float, as nccl-tests has it */
    COLLECTIVE_SIZES_MAX = 10000
};

/* Protocols by name, and "auto". */
extern const struct name_value collective_protocol_names[];

/* As on the command line; NULL: not given. */
struct collective_arguments {
    const char *cluster, *gpus, *fabric, *quality, *nccl, *bytes, *json, *plot;
    struct draw_look look;
    struct option_list logs;
    int op, algorithm, protocol, network, backend;
    int64_t gpus_per_thread;
    bool unfold, explain;
};

/* Bytes: from the smallest to the largest, each `factor` times the one before. */
struct collective_sizes {
    double min, max, factor;
};

/* All that one call works with; cmd_collective.c makes it and frees what it holds. */
struct collective_call {
    const struct collective_arguments *args;
    struct cfg_loader *loader;
    struct err *err;
    struct arena arena;
    struct cluster cluster;
    struct coll_group group;
    struct net *net;
    struct collective_sizes sizes;
    VEC(struct collective_row) rows;
};

/* "MIN:MAX:FACTOR", "MIN:MAX" or one size, each as nccl-tests takes it (8, 64K, 1G:
 * powers of 2) or with a unit (1GiB), from 1 B to 1 PiB; NULL: 8 B to 1 GiB by 2. At most
 * COLLECTIVE_SIZES_MAX. -1 with err set. */
int collective_sizes_read(const char *text, struct collective_sizes *sizes,
                          struct err *err);

/* Fills sizes, cluster, group and net from the words; warns of a version of NCCL that is
 * not known. -1 with err set, or after reporting. */
int collective_prepare(struct collective_call *w);

/* Whether the group spans instances that a network joins. */
bool collective_has_network(const struct collective_call *w);

/* Adds a row of each size, and warns of options that had no effect. -1 with err set. */
int collective_run(struct collective_call *w);

/* Rows on standard output, as nccl-tests prints them; into --json; into --plot. -1 with
 * err set. */
void collective_print(const struct collective_call *w);
int collective_write_json(const struct collective_call *w);
int collective_write_plot(const struct collective_call *w);

#endif
