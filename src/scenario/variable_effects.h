/* Variables of the environment whose values change what a step takes: of NCCL, its network
 * plugin, CUDA and PyTorch. Scenarios act on them or name them, and the doctor finds them
 * in logs. */
#ifndef SCENARIO_VARIABLE_EFFECTS_H
#define SCENARIO_VARIABLE_EFFECTS_H

#include "scenario/parse.h"

enum variable_does {
    VARIABLE_SOCKETS,       /* nodes exchange data by sockets */
    VARIABLE_NO_GPUDIRECT,  /* by host memory */
    VARIABLE_SENDS_BY_HOST, /* what they send, alone */
    VARIABLE_FEWER_NICS,    /* or slower ones */
    VARIABLE_FEW_CHANNELS,  /* NCCL has fewer than it would take */
    VARIABLE_SMALL_BUFFERS, /* likewise smaller ones */
    VARIABLE_ONE_PROTOCOL,  /* nccl_environment.c acts on these three */
    VARIABLE_ONE_ALGORITHM,
    VARIABLE_NO_NVLS,
    VARIABLE_NO_P2P,    /* GPUs of a node exchange data by host memory */
    VARIABLE_SLOW_HOST, /* the host waits, or does more */
    /* what no row of the doctor says: */
    VARIABLE_NO_SHM,        /* nor by host memory, if they would */
    VARIABLE_OTHER_NETWORK, /* between nodes */
    VARIABLE_OTHER,
};

/* What a value has to be. */
enum variable_when {
    VARIABLE_IS,       /* the text itself */
    VARIABLE_BELOW,    /* a number below `value` */
    VARIABLE_SINGLE,   /* any that names one thing alone: no list, no "^" */
    VARIABLE_CONTAINS, /* the text is in it */
    VARIABLE_NIC,      /* it names one NIC: "mlx5_0", not "mlx5" */
};

/* The networks between nodes that it is for. */
enum variable_of {
    VARIABLE_OF_ANY,
    VARIABLE_OF_VERBS, /* InfiniBand and RoCE: EFA does not ask for it */
    VARIABLE_OF_EFA
};

struct variable_effect {
    const char *name;
    enum variable_when when;
    const char *value;
    enum variable_does does;
    double
        evidence; /* of a log that has it: natural logarithm of the likelihood ratio */
    const char *text;
    enum variable_of of;
};

/* The effect of a variable where the network between nodes is of that kind (enum
 * fabric_kind; -1: there is one node); NULL: none that is known. */
const struct variable_effect *variable_effect_find(const char *name, const char *value,
                                                   int outside);

/* Whether any value of a variable has an effect. */
bool variable_effect_knows(const char *name);

/* Acts on an effect in the scenario that is read, or names it: 1, where it does neither
 * 0; -1 after reporting at `c` what cannot be known. */
int variable_effect_take(struct parse_context *r, struct cfg c,
                         const struct variable_effect *e);

#endif
