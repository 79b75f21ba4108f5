#include "scenario/nccl_environment.h"

#include "scenario/allocator_environment.h"
#include "scenario/attention.h"
#include "scenario/horovod_environment.h"
#include "scenario/libraries.h"
#include "scenario/releases.h"
#include "scenario/variable_effects.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Lists of algorithms and protocols ------------------------------------------------ */

struct word {
    const char *name; /* as NCCL spells it; case does not matter */
    int bits;         /* 0: known to NCCL, not simulated */
};

static const struct word protocols[] = {
    { "Simple", 1 << FABRIC_PROTO_SIMPLE },
    { "LL", 1 << FABRIC_PROTO_LL },
    { "LL128", 1 << FABRIC_PROTO_LL128 },
    { NULL, 0 },
};
static const struct word algorithms[] = {
    { "Ring", NCCL_RING },
    { "Tree", NCCL_TREE },
    { "NVLS", NCCL_NVLS },
    { "NVLSTree", NCCL_NVLS_TREE },
    { "CollnetDirect", 0 },
    { "CollnetChain", 0 },
    { "Collnet", 0 },
    { "PAT", 0 },
    { NULL, 0 },
};
/* NCCL's src/graph/tuning.cc, parseList, from 2.24 on */
static const char *const functions[NCCL_FUNCTIONS] = {
    [NCCL_ALL_REDUCE] = "allreduce",
    [NCCL_ALL_GATHER] = "allgather",
    [NCCL_REDUCE_SCATTER] = "reducescatter",
    [NCCL_BROADCAST] = "broadcast",
    [NCCL_REDUCE] = "reduce",
};

static bool same(const char *text, size_t n, const char *name)
{
    return strlen(name) == n && strncasecmp(text, name, n) == 0;
}

/* One list, "Ring,Tree" or "^Tree": bits of what it leaves out of `all`. */
static int read_list(struct cfg c, const struct word *words, int all, const char *text,
                     size_t n, uint8_t *left_out)
{
    bool except = n > 0 && *text == '^';
    const char *end = text + n;
    int named = 0;
    for (const char *at = text + except; at <= end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t length = (size_t)((comma ? comma : end) - at);
        const struct word *w = words;
        while (w->name && !same(at, length, w->name))
            w++;
        if (!w->name)
            return cfg_error(
                c, DIAG_UNKNOWN_NAME, "\"%.*s\" is no %s of NCCL (write %s)",
                (int)(length > 40 ? 40 : length), at,
                words == protocols ? "protocol" : "algorithm",
                words == protocols ? "\"Simple\", \"LL\" or \"LL128\""
                                   : "\"Ring\", \"Tree\", \"NVLS\" or \"NVLSTree\"");
        if (w->bits == 0 && !except)
            cfg_warn(c, DIAG_NOT_SIMULATED,
                     "%s is not simulated: NCCL chooses among the others", w->name);
        named |= w->bits;
        at = comma ? comma + 1 : end + 1;
    }
    *left_out = (uint8_t)(except ? named : named ? all & ~named : 0);
    if (*left_out == all)
        return cfg_error(c, DIAG_CONTRADICTION, "leaves nothing to choose from");
    return 0;
}

static int function_of(const char *text, size_t n)
{
    for (int f = 0; f < NCCL_FUNCTIONS; f++)
        if (same(text, n, functions[f]))
            return f;
    return -1;
}

/* "LIST" for all functions, or "FUNCTION:LIST;...". */
static int read_lists(struct cfg c, const struct word *words, int all, const char *text,
                      uint8_t left_out[NCCL_FUNCTIONS])
{
    for (const char *at = text; at;) {
        const char *semicolon = strchr(at, ';');
        size_t n = semicolon ? (size_t)(semicolon - at) : strlen(at);
        const char *colon = memchr(at, ':', n);
        size_t name = colon ? (size_t)(colon - at) : 0;
        int f = colon ? function_of(at, name) : -1;
        uint8_t out = 0;
        if (colon && f < 0)
            return cfg_error(c, DIAG_UNKNOWN_NAME,
                             "\"%.*s\" is no function of NCCL (write \"allreduce\", "
                             "\"allgather\", \"reducescatter\", \"broadcast\" or "
                             "\"reduce\")",
                             (int)(name > 40 ? 40 : name), at);
        if (read_list(c, words, all, colon ? colon + 1 : at, n - (colon ? name + 1 : 0),
                      &out))
            return -1;
        for (int i = 0; i < NCCL_FUNCTIONS; i++)
            if (f < 0 || i == f)
                left_out[i] = out;
        at = semicolon ? semicolon + 1 : NULL;
        if (at && !*at)
            break;
    }
    return 0;
}

static void check_syntax(struct parse_context *r, struct cfg c, const char *value)
{
    const char *v = r->s->software.nccl;
    if (strchr(value, ':') && !release_has(RELEASE_NCCL_FUNCTION_LISTS, v))
        cfg_warn(c, DIAG_UNKNOWN_NAME,
                 "NCCL %s does not know lists by function, which came with %s", v,
                 release_first(RELEASE_NCCL_FUNCTION_LISTS));
}

/* The one protocol that is left of all functions; -1: several are. */
static int one_protocol(const uint8_t left_out[NCCL_FUNCTIONS])
{
    for (int p = 0; p < FABRIC_PROTO_N; p++) {
        bool one = true;
        for (int f = 0; f < NCCL_FUNCTIONS; f++)
            one = one && (left_out[f] ^ (1 << p)) == (1 << FABRIC_PROTO_N) - 1;
        if (one)
            return p;
    }
    return -1;
}

static int read_protocol(struct parse_context *r, struct cfg c, const char *value)
{
    struct software *w = &r->s->software;
    check_syntax(r, c, value);
    if (read_lists(c, protocols, (1 << FABRIC_PROTO_N) - 1, value,
                   w->limits.no_protocol))
        return -1;
    w->protocol = one_protocol(w->limits.no_protocol);
    w->has_protocol = true;
    return 0;
}

/* Rings are never off for other functions than all-reduce (tuning.cc: "Never disable
 * ring for non-allreduce operations"). */
static int read_algorithm(struct parse_context *r, struct cfg c, const char *value)
{
    struct software *w = &r->s->software;
    check_syntax(r, c, value);
    if (read_lists(c, algorithms, NCCL_ALGORITHMS, value, w->limits.no_algorithm))
        return -1;
    for (int f = NCCL_ALL_REDUCE + 1; f < NCCL_FUNCTIONS; f++)
        w->limits.no_algorithm[f] &= (uint8_t)~NCCL_RING;
    w->has_algorithm = true;
    return 0;
}

/* Switches and numbers ------------------------------------------------------------- */

int environment_number(struct cfg c, const char *value, long *n)
{
    char *end;
    *n = strtol(value, &end, 10);
    if (end == value || *end)
        return cfg_error(c, DIAG_OUT_OF_RANGE, "\"%.40s\" is no whole number", value);
    return 0;
}

static int read_nvls(struct parse_context *r, struct cfg c, const char *value)
{
    long n;
    if (environment_number(c, value, &n))
        return -1;
    if (n == 0)
        r->s->software.no_nvls = true;
    else
        parse_note(r, c, "NVLS is used where the GPUs have it, as by default");
    return 0;
}

/* nanotron's benchmark measures the rates within nodes first (libraries.h, node_group). */
static int read_nanotron(struct parse_context *r, struct cfg c, const char *value)
{
    long n;
    if (environment_number(c, value, &n))
        return -1;
    r->s->software.node_group = n == 1;
    return 0;
}

/* With DETAIL PyTorch's groups check each collective before it begins; INFO logs. */
static int read_debug(struct parse_context *r, struct cfg c, const char *value)
{
    static const char *const levels[] = { "OFF", "INFO", "DETAIL" };
    enum { DETAIL = 2 };
    for (int i = 0; i <= DETAIL; i++)
        if (strcasecmp(value, levels[i]) == 0) { /* c10d reads it in capitals */
            bool torch = !library_of(&r->s->parallel)->fuses_by_cycle;
            r->s->software.checks_collectives = torch && i == DETAIL;
            if (!torch)
                parse_note(r, c, "it is for PyTorch's own groups, not for Horovod's");
            return 0;
        }
    return cfg_error(
        c, DIAG_OUT_OF_RANGE,
        "\"%.40s\" is no level of PyTorch's checks (write \"OFF\", \"INFO\" "
        "or \"DETAIL\")",
        value);
}

/* Which of Transformer Engine's kernels attention may take; without both it is as
 * scenario/attention.c has it. */
static int read_engine(struct parse_context *r, struct cfg c, const char *value)
{
    if (!attention_is_engine(r->s))
        parse_note(r, c, "it is for attention that Transformer Engine chooses");
    else if (strcmp(value, "0") == 0 && !attention_engine_is_plain(r->s))
        cfg_warn(c, DIAG_NOT_SIMULATED,
                 "is not simulated: attention takes the faster of Transformer Engine's "
                 "fused kernels");
    else if (strcmp(value, "0") != 0)
        parse_note(r, c, "it is on by default");
    return 0;
}

/* cuBLAS' products of fp32: the one switches tf32 off, the other on. */
static int read_tf32(struct parse_context *r, struct cfg c, const char *value)
{
    long n;
    const struct training *t = &r->s->training;
    if (environment_number(c, value, &n))
        return -1;
    if (t->precision == OP_TF32 && n == 0)
        cfg_warn(c, DIAG_NOT_SIMULATED,
                 "is not simulated: products are in fp32 then "
                 "(write the precision \"fp32\")");
    else if (t->precision == OP_FP32 && n == 1)
        cfg_warn(c, DIAG_NOT_SIMULATED,
                 "is not simulated: products are in tf32 then "
                 "(write the precision \"tf32\")");
    else
        parse_note(r, c, "products are as /training/precision has them");
    return 0;
}

/* SMP holds its NCCL operations to so many at once (8 by default; -1: no limit). A step
 * never has as many under way: every group runs one after the other. */
static int read_throttle(struct parse_context *r, struct cfg c, const char *value)
{
    char *end;
    long n = strtol(value, &end, 10);
    if (end == value || *end || n < -1 || n == 0 || n > 1000000)
        return cfg_error(c, DIAG_SYNTAX,
                         "\"%.40s\" is no limit of operations (write \"8\", or "
                         "\"-1\" for none)",
                         value);
    parse_note(r, c,
               library_of(&r->s->parallel)->smp.dictionary
                   ? "SMP_NCCL_THROTTLE_LIMIT does not change the simulation: each "
                     "group's operations run one after the other"
                   : "SMP_NCCL_THROTTLE_LIMIT is for SMP's jobs");
    return 0;
}

/* The table ------------------------------------------------------------------------ */

#define CHANNELS "channels are those of the fabric's fit"
#define TRANSPORT "transports are those that NCCL takes by itself on the instance"
#define TOPOLOGY "the topology is the instance's file"
#define PLUGIN "the plugin's times are in the fabric's fit"
#define HARMLESS "it prints, it does not move bytes"
#define BUILD "it is for the build of Horovod, not for a step"
#define START "it is for the start of a job, not for a step"

enum value { ANY, NUMBER };

/* Sources: NCCL's user guide, "Environment Variables"; aws-ofi-nccl's doc and libfabric's
 * fi_efa(7). A variable acts (read) or does nothing for the reason. */
static const struct {
    const char *name;
    int (*read)(struct parse_context *r, struct cfg c, const char *value);
    const char *why;
    enum value value;
} variables[] = {
    { "NCCL_PROTO", read_protocol, NULL, ANY },
    { "NCCL_ALGO", read_algorithm, NULL, ANY },
    { "NCCL_NVLS_ENABLE", read_nvls, NULL, ANY },
    { "NANOTRON_BENCHMARK", read_nanotron, NULL, ANY },
    { "TORCH_DISTRIBUTED_DEBUG", read_debug, NULL, ANY },
    { "SMP_NCCL_THROTTLE_LIMIT", read_throttle, NULL, ANY },
    { "HOROVOD_FUSION_THRESHOLD", horovod_read_threshold, NULL, ANY },
    { "HOROVOD_CYCLE_TIME", horovod_read_cycle, NULL, ANY },
    { "HOROVOD_CACHE_CAPACITY", horovod_read_cache, NULL, ANY },
    { "HOROVOD_HIERARCHICAL_ALLREDUCE", horovod_read_switch, NULL, ANY },
    { "HOROVOD_HIERARCHICAL_ALLGATHER", horovod_read_switch, NULL, ANY },
    { "HOROVOD_TORUS_ALLREDUCE", horovod_read_switch, NULL, ANY },
    { "HOROVOD_AUTOTUNE", horovod_read_switch, NULL, ANY },
    { "HOROVOD_TIMELINE", NULL, HARMLESS, ANY },
    { "HOROVOD_LOG_LEVEL", NULL, HARMLESS, ANY },
    { "HOROVOD_STALL_CHECK_DISABLE", NULL, HARMLESS, ANY },
    { "HOROVOD_GPU_ALLREDUCE", NULL, BUILD, ANY },
    { "HOROVOD_GPU_OPERATIONS", NULL, BUILD, ANY },
    { "HOROVOD_WITH_PYTORCH", NULL, BUILD, ANY },
    { "HOROVOD_WITH_TENSORFLOW", NULL, BUILD, ANY },
    { "NVTE_FLASH_ATTN", read_engine, NULL, ANY },
    { "NVTE_FUSED_ATTN", read_engine, NULL, ANY },
    { "NVIDIA_TF32_OVERRIDE", read_tf32, NULL, ANY },
    { "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", read_tf32, NULL, ANY },
    { "PYTORCH_CUDA_ALLOC_CONF", allocator_environment, NULL, ANY },
    { "PYTORCH_ALLOC_CONF", allocator_environment, NULL, ANY },
    { "NCCL_MIN_NCHANNELS", NULL, CHANNELS, NUMBER },
    { "NCCL_MAX_NCHANNELS", NULL, CHANNELS, NUMBER },
    { "NCCL_MIN_CTAS", NULL, CHANNELS, NUMBER },
    { "NCCL_MAX_CTAS", NULL, CHANNELS, NUMBER },
    { "NCCL_MIN_NRINGS", NULL, CHANNELS, NUMBER },
    { "NCCL_MAX_NRINGS", NULL, CHANNELS, NUMBER },
    { "NCCL_NTHREADS", NULL, CHANNELS, NUMBER },
    { "NCCL_BUFFSIZE", NULL, "chunks are those of the fabric's fit", NUMBER },
    { "NCCL_P2P_NET_CHUNKSIZE", NULL, "chunks are those of the fabric's fit", NUMBER },
    { "NCCL_LL_THRESHOLD", NULL, "thresholds are those of the version", NUMBER },
    { "NCCL_TREE_THRESHOLD", NULL, "thresholds are those of the version", NUMBER },
    { "NCCL_CROSS_NIC", NULL, "rings leave a node by the NIC they came in", NUMBER },
    { "NCCL_PXN_DISABLE", NULL, TRANSPORT, NUMBER },
    { "NCCL_P2P_DISABLE", NULL, TRANSPORT, NUMBER },
    { "NCCL_P2P_LEVEL", NULL, TRANSPORT, ANY },
    { "NCCL_SHM_DISABLE", NULL, TRANSPORT, NUMBER },
    { "NCCL_SHM_USE_CUDA_MEMCPY", NULL, TRANSPORT, NUMBER },
    { "NCCL_IB_DISABLE", NULL, "the network is /cluster/fabric", NUMBER },
    { "NCCL_NET", NULL, "the network is /cluster/fabric", ANY },
    { "NCCL_NET_PLUGIN", NULL, "the network is /cluster/fabric", ANY },
    { "NCCL_TUNER_PLUGIN", NULL, "the tuner is that of the fabric's file", ANY },
    { "NCCL_NET_GDR_LEVEL", NULL, "GPUDirect is the fabric's", ANY },
    { "NCCL_NET_GDR_READ", NULL, "GPUDirect is the fabric's", NUMBER },
    { "NCCL_SOCKET_IFNAME", NULL, "NICs are those of the instance", ANY },
    { "NCCL_IB_HCA", NULL, "NICs are those of the instance", ANY },
    { "NCCL_SOCKET_NTHREADS", NULL, "sockets are those of the fabric's fit", NUMBER },
    { "NCCL_NSOCKS_PERTHREAD", NULL, "sockets are those of the fabric's fit", NUMBER },
    { "NCCL_TOPO_FILE", NULL, TOPOLOGY, ANY },
    { "NCCL_TOPO_DUMP_FILE", NULL, TOPOLOGY, ANY },
    { "NCCL_GRAPH_FILE", NULL, TOPOLOGY, ANY },
    { "NCCL_DEBUG", NULL, HARMLESS, ANY },
    { "NCCL_DEBUG_SUBSYS", NULL, HARMLESS, ANY },
    { "NCCL_DEBUG_FILE", NULL, HARMLESS, ANY },
    { "FI_PROVIDER", NULL, "the network is /cluster/fabric", ANY },
    { "FI_EFA_USE_DEVICE_RDMA", NULL, "GPUDirect is the fabric's", NUMBER },
    { "FI_EFA_FORK_SAFE", NULL, START, NUMBER },
    { "FI_EFA_TX_MIN_CREDITS", NULL, PLUGIN, NUMBER },
    { "FI_EFA_SET_CUDA_SYNC_MEMOPS", NULL, PLUGIN, NUMBER },
    { "FI_LOG_LEVEL", NULL, HARMLESS, ANY },
    { "OFI_NCCL_PROTOCOL", NULL, PLUGIN, ANY },
    { "OFI_NCCL_NIC_DUP_CONNS", NULL, PLUGIN, NUMBER },
    { "OFI_NCCL_TUNER_TYPE", NULL, "the tuner is that of the fabric's file", ANY },
    { "OFI_NCCL_DISABLE_GDR_REQUIRED_CHECK", NULL, START, NUMBER },
};

static bool has_prefix(const char *name)
{
    static const char *const prefixes[] = { "NCCL_",
                                            "FI_",
                                            "OFI_NCCL_",
                                            "SMP_",
                                            "HOROVOD_",
                                            "NANOTRON_",
                                            "TORCH_DISTRIBUTED_DEBUG",
                                            "PYTORCH_CUDA_ALLOC_CONF",
                                            "PYTORCH_ALLOC_CONF" };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

bool environment_knows(const char *name)
{
    bool named = has_prefix(name) || variable_effect_knows(name);
    for (size_t i = 0; !named && i < sizeof(variables) / sizeof(variables[0]); i++)
        named = strcmp(variables[i].name, name) == 0;
    return named;
}

/* As variable_effect_take, for the network that the job has. */
static int take_effect(struct parse_context *r, struct cfg c, const char *name,
                       const char *value)
{
    const struct fabric *f = r->s->fabric;
    const struct variable_effect *e =
        variable_effect_find(name, value, f ? (int)f->kind : -1);
    return e ? variable_effect_take(r, c, e) : 0;
}

int environment_take(struct parse_context *r, struct cfg c, const char *name,
                     const char *value)
{
    struct arena *arena = &r->loader->arena;
    long n;
    int acts;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        if (strcmp(variables[i].name, name) != 0)
            continue;
        if (variables[i].value == NUMBER && environment_number(c, value, &n))
            return -1;
        if (variables[i].read)
            return variables[i].read(r, c, value);
        if ((acts = take_effect(r, c, name, value)))
            return acts < 0 ? -1 : 0;
        parse_note(r, c,
                   arena_printf(arena, "%s does not change the simulation: %s", name,
                                variables[i].why));
        return 0;
    }
    if ((acts = take_effect(r, c, name, value)))
        return acts < 0 ? -1 : 0;
    parse_note(r, c,
               arena_printf(arena, "%s does not change the simulation%s", name,
                            has_prefix(name) ? ": smsim does not know it" : ""));
    return 0;
}
