#include "logs/nccl.h"

#include "logs/text.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *text;
    enum logs_transport transport;
} transports[] = {
    { "via NET/OFI", LOGS_NET_OFI },
    { "via NET/Libfabric", LOGS_NET_OFI },
    { "via NET/AWS", LOGS_NET_OFI },
    { "via NET/IB", LOGS_NET_IB },
    { "via NET/Socket", LOGS_NET_SOCKET },
    { "via NET/", LOGS_NET_OTHER },
    { "via P2P", LOGS_P2P },
    { "via SHM", LOGS_SHM },
};

/* The characters of a word; a dot at its end is the sentence's. */
static size_t word_length(const char *at)
{
    size_t n = 0;
    while (at[n] && at[n] != ' ' && at[n] != ',' && at[n] != '"')
        n++;
    return n && at[n - 1] == '.' ? n - 1 : n;
}

static void keep_word(char out[LOGS_NCCL_TEXT], const char *line, const char *after)
{
    const char *at = strstr(line, after);
    if (!at || out[0])
        return;
    at += strlen(after);
    line_keep(out, LOGS_NCCL_TEXT, at, word_length(at));
}

/* "AWS Libfabric": to the end of the line, or of what a logger put around it. */
static void keep_name(char out[LOGS_NCCL_TEXT], const char *line, const char *after)
{
    const char *at = strstr(line, after);
    if (!at || out[0])
        return;
    at += strlen(after);
    size_t n = strcspn(at, "\",:;[(");
    while (n && (at[n - 1] == ' ' || at[n - 1] == '.'))
        n--;
    line_keep(out, LOGS_NCCL_TEXT, at, n);
}

static void keep_most(int64_t *most, const char *line, const char *after)
{
    double v;
    if (line_value(line, after, false, &v) == 0 && v > (double)*most && v < 1e7)
        *most = (int64_t)v;
}

/* A connection is said by both of its ends: the sender's line is counted. */
static void read_connection(struct logs_nccl *n, const char *line)
{
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
        if (!strstr(line, transports[i].text))
            continue;
        bool is_net = transports[i].transport <= LOGS_NET_OTHER;
        if (strstr(line, "[receive]")) {
            n->received_gdr += is_net && strstr(line, "GDRDMA");
            return;
        }
        n->via[transports[i].transport]++;
        n->via_gdr += is_net && strstr(line, "GDRDMA");
        return;
    }
}

/* "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB ; OOB eth0" */
static void count_hcas(struct logs_nccl *n, const char *line)
{
    const char *at = strstr(line, "NET/IB : Using [");
    int64_t count = 0;
    if (!at)
        return;
    const char *end = strchr(at, ';');
    for (at = strchr(at, '['); at && (!end || at < end); at = strchr(at + 1, '['))
        count += isdigit((unsigned char)at[1]) != 0;
    if (count > n->nics)
        n->nics = count;
}

static void read_support(struct logs_nccl *n, const char *line)
{
    if (strstr(line, "NVLS multicast support is not available"))
        n->no_nvls++;
    else if (strstr(line, "NVLS multicast support is available"))
        n->nvls++;
    if (strstr(line, "GPU Direct RDMA Disabled"))
        n->n_gdr_off++;
    if (strstr(line, "NET/Plugin") &&
        (strstr(line, "No plugin found") || strstr(line, "ould not find")))
        n->plugin_missing = true;
}

bool logs_nccl_read(struct logs_nccl *n, const char *line)
{
    const char *version = strstr(line, "NCCL version ");
    if (!strstr(line, "NCCL INFO") && !strstr(line, "NCCL WARN") && !version)
        return false;
    n->n_lines++;
    n->n_warnings += strstr(line, "NCCL WARN") != NULL;
    if (version && isdigit((unsigned char)version[13])) {
        keep_word(n->version, line, "NCCL version ");
        n->version[strspn(n->version, "0123456789.")] = '\0';
    }
    keep_name(n->network, line, "Using network ");
    keep_word(n->plugin, line, "Initializing aws-ofi-nccl ");
    keep_word(n->plugin, line, "Using aws-ofi-nccl "); /* before 1.7 */
    keep_word(n->provider, line, "Selected Provider is ");
    keep_word(n->provider, line, "Selected provider is ");
    keep_most(&n->nics, line, "(found");
    keep_most(&n->ranks, line, "nranks");
    keep_most(&n->ranks, line, "nRanks");
    keep_most(&n->nodes, line, "nNodes");
    const char *channels = strstr(line, " coll channels");
    if (channels) {
        const char *at = channels;
        double v;
        while (at > line && isdigit((unsigned char)at[-1]))
            at--;
        if (line_number(at, false, &v, NULL) == 0 && v > (double)n->channels &&
            v < 1024)
            n->channels = (int64_t)v;
    }
    count_hcas(n, line);
    read_connection(n, line);
    read_support(n, line);
    return true;
}
