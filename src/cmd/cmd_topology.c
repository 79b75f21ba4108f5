/* smsim topology: a cluster as text: GPUs, how they are joined, NICs, rates, prices. */
#include "cmd/cmd.h"

#include "base/units.h"
#include "cmd/options.h"
#include "cmd/topology_import.h"

#include "hardware/net/net.h"
#include "report/figure/topology.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
#define WORD(n, m, v, h) WORD_OF(OPTION_STRING, n, m, v, h)
#define OUT(n, m, v, h) WORD_OF(OPTION_OUT, n, m, v, h)
#define WORD_OF(t, n, m, v, h) \
    { .name = (n), .type = (t), .at = offsetof(struct topology_args, m), \
      .value = (v), .help = (h) }

static const struct option options[] = {
    { .group = "Import an instance",
      .name = "--import-nccl-xml", .type = OPTION_STRING,
      .at = offsetof(struct topology_args, nccl_xml), .value = "FILE",
      .help = "make an instance of NCCL_TOPO_DUMP_FILE" },
    WORD("--import-nvidia-smi", nvidia_smi, "FILE", "make one of `nvidia-smi topo -m`"),
    WORD("--name", words.name, "NAME", "its title in what `smsim topology` shows"),
    WORD("--like", words.like, "INSTANCE", "take what the file leaves open from there"),
    WORD("--gpu", words.gpu, "NAME", "the GPU, where the file does not name it"),
    WORD("--inside", words.inside, "FABRIC", "what joins the GPUs"),
    WORD("--fabric", words.fabric, "FABRIC", "what joins its NICs to other machines"),
    WORD("--nic-rate", nic_rate, "RATE", "of each NIC port, e.g. 100Gb/s"),
    { .group = "Output",
      .name = "--out", .type = OPTION_OUT, .at = offsetof(struct topology_args, out),
      .value = "FILE", .help = "write the instance there; standard output by default" },
    OUT("--plot", plot, "FILE", "draw the cluster too: .svg, .png or .pdf"),
    OPTION_FIGURE_LOOK(offsetof(struct topology_args, look), "--plot"),
    { .name = NULL },
};

static const struct usage usage = {
    .command = "topology",
    .arguments = "INSTANCE[:COUNT] | --import-... FILE [OPTION]...",
    .summary = "How the GPUs, NICs and hosts of a cluster are wired, and at which rates; "
               "or an\ninstance file from what NCCL or nvidia-smi shows of a machine.",
    .details = "  smsim topology p4d.24xlarge:2\n"
               "  smsim topology p3.16xlarge --plot p3.svg\n"
               "  smsim topology --import-nccl-xml topo.xml --gpu H100-SXM5-80GB --out "
               "mine.json\n"
               "  smsim topology ./mine.json:4\n",
    .options = options,
    .min_positional = 0,
    .max_positional = 1,
};
/* clang-format on */

static void print_gpu(FILE *out, const struct instance *inst)
{
    const struct gpu *g = inst->gpu;
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], c[UNITS_TEXT_MAX];

    fprintf(out, "  %-10s %d x %s: %s at %s, %" PRId64 " SMs\n", "GPUs", inst->n_gpus,
            g->name, units_bytes_text(a, (double)g->memory_B),
            units_rate_text(b, g->hbm_Bps), g->n_sms);
    if (g->l2_B > 0 || g->tdp_w > 0)
        fprintf(out, "  %-10s", "each");
    if (g->l2_B > 0)
        fprintf(out, " %s of L2 cache%s", units_bytes_text(a, (double)g->l2_B),
                g->tdp_w > 0 ? "," : "\n");
    if (g->tdp_w > 0)
        fprintf(out, " %.0f W\n", g->tdp_w);
    fprintf(out, "  %-10s", "peak");
    for (int t = 0; t < DTYPE_N; t++)
        if (g->peak_flops[t] > 0 && dtype_rate_of((enum dtype)t) == (enum dtype)t)
            fprintf(out, " %s %s", names_of(dtype_names, t),
                    units_flops_text(c, g->peak_flops[t]));
    fprintf(out, "\n");
}

static void print_fabric(FILE *out, const char *label, const struct fabric *f)
{
    char a[UNITS_TEXT_MAX];

    if (!f) {
        fprintf(out, "  %-10s none\n", label);
        return;
    }
    fprintf(out, "  %-10s %s (%s; %s): %.1f %% of line rate, %s a hop\n", label,
            f->name, names_of(fabric_kind_names, (int)f->kind),
            f->software ? f->software : "any software", 100 * f->efficiency,
            units_time_text(a, f->latency_s));
}

static void print_host(FILE *out, const struct instance *inst)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], c[UNITS_TEXT_MAX];

    fprintf(out,
            "  %-10s %" PRId64
            " vCPUs, %s, %d NUMA node%s; copies to a GPU %s pinned, %s "
            "pageable\n",
            "host", inst->vcpus, units_bytes_text(a, (double)inst->host_memory_B),
            inst->n_numa, units_plural(inst->n_numa),
            units_rate_text(b, inst->host_pinned_Bps),
            units_rate_text(c, inst->host_pageable_Bps));
}

/* The words of nvidia-smi topo -m: NV# links, PIX one PCIe switch, NODE one NUMA node,
 * SYS across them. */
static const char *relation(const struct instance *inst, int32_t a, int32_t b,
                            char buf[16])
{
    const int64_t links = instance_nvlinks(inst, a, b);

    if (a == b)
        return "X";
    if (links > 0) {
        snprintf(buf, 16, "NV%d", (int)links);
        return buf;
    }
    if (inst->gpu_pcie[a] >= 0 && inst->gpu_pcie[a] == inst->gpu_pcie[b])
        return "PIX";
    return inst->gpu_numa[a] == inst->gpu_numa[b] ? "NODE" : "SYS";
}

static void print_matrix(FILE *out, const struct instance *inst)
{
    char buf[16];

    fprintf(out, "\n  %-6s", "");
    for (int32_t j = 0; j < inst->n_gpus; j++) {
        snprintf(buf, sizeof(buf), "GPU%d", j);
        fprintf(out, " %5s", buf);
    }
    fprintf(out, "   NUMA  NIC\n");
    for (int32_t i = 0; i < inst->n_gpus; i++) {
        const int32_t nic = instance_nic_of_gpu(inst, i);

        snprintf(buf, sizeof(buf), "GPU%d", i);
        fprintf(out, "  %-6s", buf);
        for (int32_t j = 0; j < inst->n_gpus; j++)
            fprintf(out, " %5s", relation(inst, i, j, buf));
        if (nic >= 0)
            fprintf(out, "   %4d  nic%d\n", inst->gpu_numa[i], nic);
        else
            fprintf(out, "   %4d  -\n", inst->gpu_numa[i]);
    }
}

/* GPUs and NICs on one switch, or (pcie -1) on the root of a NUMA node. */
static void print_leaves(FILE *out, const struct instance *inst, int32_t pcie,
                         int32_t numa)
{
    char rate[UNITS_TEXT_MAX];

    for (int32_t i = 0; i < inst->n_gpus; i++)
        if (inst->gpu_pcie[i] == pcie && inst->gpu_numa[i] == numa)
            fprintf(out, " gpu%d", i);
    for (int32_t i = 0; i < inst->n_nics; i++) {
        const struct instance_nic *nic = &inst->nics[i];

        if (nic->pcie != pcie || nic->numa != numa)
            continue;
        fprintf(out, " nic%d (", i);
        if (nic->rails > 1)
            fprintf(out, "%d rails, ", nic->rails);
        fprintf(out, "%s)", units_rate_text(rate, nic->line_Bps));
    }
    fprintf(out, "\n");
}

static void print_pcie(FILE *out, const struct instance *inst)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];

    fprintf(out, "\n  PCIe: %s a port, %s a switch's uplink\n",
            units_rate_text(a, inst->pcie_Bps),
            units_rate_text(b, inst->pcie_uplink_Bps));
    for (int32_t numa = 0; numa < inst->n_numa; numa++) {
        fprintf(out, "    host%d:", numa);
        print_leaves(out, inst, -1, numa);
        for (int32_t i = 0; i < inst->n_pcie; i++) {
            if (inst->pcie_numa[i] != numa)
                continue;
            fprintf(out, "      pcie%d:", i);
            print_leaves(out, inst, i, numa);
        }
    }
}

static void print_rates(FILE *out, const struct net *net, int64_t copy)
{
    const struct instance *inst = net_instance(net, copy);
    const struct net_link *links = net_links(net);
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    double line = 0, payload = 0;

    if (net_port_out(net, copy, 0) >= 0) {
        const struct net_link *port = &links[net_port_out(net, copy, 0)];

        fprintf(out, "  %-10s %s a GPU and direction, %s of payload\n", "NVLink",
                units_rate_text(a, port->line_Bps),
                units_rate_text(b, port->payload_Bps));
    }
    if (inst->inside->kind == FABRIC_NVLINK)
        fprintf(out, "  %-10s %s a link and direction, %s of payload\n", "NVLink",
                units_rate_text(a, inst->gpu->nvlink_Bps),
                units_rate_text(b, inst->gpu->nvlink_Bps * inst->inside->efficiency));
    for (int32_t i = 0; i < inst->n_nics; i++) {
        const int32_t id = net_nic_out(net, copy, i);

        line += id < 0 ? 0 : links[id].line_Bps;
        payload += id < 0 ? 0 : links[id].payload_Bps;
    }
    line /= inst->n_hosts;
    payload /= inst->n_hosts;
    if (line > 0)
        fprintf(out, "  %-10s %s a node and direction, %s of GPU payload\n", "NICs",
                units_rate_text(a, line), units_rate_text(b, payload));
}

static void print_prices(FILE *out, const char *title,
                         const struct instance_price *prices, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const struct instance_price *p = &prices[i];
        bool offer = p->purchase != INSTANCE_ON_DEMAND;

        fprintf(out, "  %-10s %s %s %s%s%s: %.4f USD/h\n", i == 0 ? title : "",
                p->service, p->region, p->date, offer ? " " : "",
                offer ? names_of(instance_purchase_names, p->purchase) : "",
                p->usd_per_hour);
    }
}

static void print_group(FILE *out, const struct net *net, int64_t copy,
                        const struct cluster_group *g)
{
    const struct cluster_group hosts = cluster_hosts(g);
    const struct instance *inst = hosts.instance;

    fprintf(out, "\n%s x %" PRId64, inst->name, hosts.count);
    if (hosts.gpus_per_instance != inst->n_gpus)
        fprintf(out, " (%d of %d GPUs each)", hosts.gpus_per_instance, inst->n_gpus);
    fprintf(out, "\n  %s\n", inst->summary);
    print_gpu(out, inst);
    print_fabric(out, "inside", g->instance->inside);
    if (g->instance->n_hosts > 1)
        fprintf(out, "  %-10s %" PRId64 " of %d GPUs, on %d instances each\n",
                "domains", g->count, g->gpus_per_instance, g->instance->n_hosts);
    print_host(out, inst);
    print_rates(out, net, copy);
    print_prices(out, "prices", inst->prices, inst->n_prices);
    print_prices(out, "other", inst->offers, inst->n_offers);
    print_matrix(out, inst);
    print_pcie(out, inst);
}

static void print_cluster(FILE *out, const struct net *net)
{
    const struct cluster *c = net_cluster(net);
    const char *date = NULL, *missing = NULL;
    double usd;

    fprintf(out, "%" PRId64 " instance%s, %" PRId64 " GPU%s\n", c->n_hosts,
            units_plural(c->n_hosts), c->n_gpus, units_plural(c->n_gpus));
    print_fabric(out, "between", c->fabric);
    if (cluster_price(c, &usd, &date, &missing) == 0)
        fprintf(out, "  %-10s %.2f USD/h (%s, %s)\n", "price", usd,
                c->sagemaker ? "sagemaker" : "ec2", date);
    else
        fprintf(out, "  %-10s unknown: none is known for %s\n", "price", missing);
    for (int32_t i = 0; i < c->n_groups; i++)
        print_group(out, net, i, &c->groups[i]);
}

static void print_lines(const struct net *net)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out) {
        print_cluster(out, net);
        fclose(out);
        report_lines(stdout, text);
    }
    free(text);
}

static int show(const char *spec, const struct draw_to *plot)
{
    struct cfg_loader loader;
    struct cluster cluster;
    struct err err = { 0 };

    cfg_loader_init(&loader);
    if (cluster_parse(&cluster, &loader, spec))
        return cmd_fail(&loader, NULL);

    struct net *net = net_new(&cluster, true, &err);

    if (!net || (plot->path && figure_topology_write(&cluster, plot, &err))) {
        net_free(net);
        return cmd_fail(&loader, &err);
    }
    cmd_warn(&loader);
    print_lines(net);
    net_free(net);
    cfg_loader_release(&loader);
    return EXIT_DONE;
}

static bool has_raw_import(const struct topology_args *a)
{
    const struct raw_import *w = &a->words;

    return a->out || a->nic_rate || w->name || w->like || w->gpu || w->inside ||
           w->fabric;
}

int cmd_topology(int argc, char **argv)
{
    struct topology_args args = { 0 };
    struct option_list words = { 0 };
    const char *what = NULL;
    int done = options_parse(&usage, argc, argv, &args, &words);

    if (done != OPTIONS_GO_ON)
        return done;

    const int sources = words.n + (args.nccl_xml != NULL) + (args.nvidia_smi != NULL);

    if (sources != 1)
        what = "give one of INSTANCE[:COUNT], --import-nccl-xml and "
               "--import-nvidia-smi";
    else if (words.n == 1 && has_raw_import(&args))
        what = "--out, --name, --like, --gpu, --inside, --fabric and --nic-rate belong "
               "to an import";
    else if (words.n == 0 && args.plot)
        what = "--plot draws an instance: import it first, then draw its file";
    if (what) {
        report_linef(stderr, "smsim topology: %s (see smsim topology --help)", what);
        return EXIT_USAGE;
    }
    const struct draw_to plot = { args.plot, args.look };
    return words.n == 1 ? show(words.values[0], &plot) : cmd_topology_import(&args);
}
