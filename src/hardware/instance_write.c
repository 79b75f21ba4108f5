#include "hardware/instance_write.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* "key": "text", with what JSON wants escaped; `end` follows. */
static void add_text(struct strbuf *out, const char *indent, const char *key,
                     const char *text, const char *end)
{
    json_t *s = json_string(text); /* NULL when it is no UTF-8 */
    char *quoted = s ? json_dumps(s, JSON_ENCODE_ANY) : NULL;
    strbuf_printf(out, "%s\"%s\": %s%s", indent, key, quoted ? quoted : "\"?\"", end);
    free(quoted);
    json_decref(s);
}

/* A quantity as people write it in files: without a blank before the unit. */
static void add_quantity(struct strbuf *out, const char *indent, const char *key,
                         enum unit_kind kind, double value, const char *end)
{
    char text[UNITS_TEXT_MAX];
    char *blank = strchr(units_text(text, kind, value), ' ');
    if (blank)
        memmove(blank, blank + 1, strlen(blank));
    add_text(out, indent, key, text, end);
}

static void add_rate(struct strbuf *out, const char *indent, const char *key,
                     double Bps, const char *end)
{
    add_quantity(out, indent, key, UNIT_BYTES_PER_S, Bps, end);
}

static void add_memory(struct strbuf *out, int64_t size_B)
{
    const bool whole = size_B % (1 << 30) == 0;
    strbuf_printf(out, "    \"host_memory\": \"%" PRId64 "%s\",\n",
                  whole ? size_B >> 30 : size_B, whole ? "GiB" : "B");
}

static void add_nvlinks(struct strbuf *out, const struct instance *inst)
{
    if (inst->inside->kind != FABRIC_NVLINK)
        return;
    strbuf_addstr(out, "    \"nvlink\": [\n");
    for (int32_t i = 0; i < inst->n_gpus; i++) {
        strbuf_addstr(out, "        [");
        for (int32_t j = 0; j < inst->n_gpus; j++)
            strbuf_printf(out, "%s%d", j ? ", " : "", inst->nvlinks[i][j]);
        strbuf_printf(out, "]%s\n", i + 1 < inst->n_gpus ? "," : "");
    }
    strbuf_addstr(out, "    ],\n");
}

/* The GPUs of a switch, or (pcie -1) of the root of a NUMA node: "[0, 1]". Returns
 * their number. */
static int add_gpus(struct strbuf *out, const struct instance *inst, int32_t pcie,
                    int32_t numa)
{
    int n = 0;
    strbuf_addch(out, '[');
    for (int32_t g = 0; g < inst->n_gpus; g++)
        if (inst->gpu_pcie[g] == pcie && inst->gpu_numa[g] == numa)
            strbuf_printf(out, "%s%d", n++ ? ", " : "", g);
    strbuf_addch(out, ']');
    return n;
}

static bool on_root(const struct instance *inst, int32_t numa)
{
    for (int32_t g = 0; g < inst->n_gpus; g++)
        if (inst->gpu_pcie[g] < 0 && inst->gpu_numa[g] == numa)
            return true;
    return false;
}

static void add_roots(struct strbuf *out, const struct instance *inst)
{
    int n = 0;
    for (int32_t numa = 0; numa < inst->n_numa; numa++) {
        if (!on_root(inst, numa))
            continue;
        strbuf_addstr(out, n++ ? ",\n" : ",\n        \"roots\": [\n");
        strbuf_printf(out, "            { \"numa\": %d, \"gpus\": ", numa);
        add_gpus(out, inst, -1, numa);
        strbuf_addstr(out, " }");
    }
    if (n)
        strbuf_addstr(out, "\n        ]");
}

static void add_pcie(struct strbuf *out, const struct instance *inst)
{
    strbuf_addstr(out, "    \"pcie\": {\n");
    add_rate(out, "        ", "rate", inst->pcie_Bps, "");
    if (inst->pcie_uplink_Bps != inst->pcie_Bps)
        add_rate(out, ",\n        ", "uplink", inst->pcie_uplink_Bps, "");
    for (int32_t i = 0; i < inst->n_pcie; i++) {
        strbuf_addstr(out, i ? ",\n" : ",\n        \"switches\": [\n");
        strbuf_printf(out,
                      "            { \"numa\": %d, \"gpus\": ", inst->pcie_numa[i]);
        add_gpus(out, inst, i, inst->pcie_numa[i]);
        strbuf_addstr(out, " }");
    }
    if (inst->n_pcie)
        strbuf_addstr(out, "\n        ]");
    add_roots(out, inst);
    strbuf_addstr(out, "\n    },\n");
}

static void add_nics(struct strbuf *out, const struct instance *inst)
{
    for (int32_t i = 0; i < inst->n_nics; i++) {
        const struct instance_nic *nic = &inst->nics[i];
        strbuf_addstr(out, i ? ",\n" : "    \"nics\": [\n");
        strbuf_printf(out, "        { \"rate\": \"%.6gGb/s\", ",
                      nic->line_Bps * 8 / 1e9);
        if (nic->rails > 1)
            strbuf_printf(out, "\"rails\": %d, ", nic->rails);
        strbuf_printf(out, nic->pcie >= 0 ? "\"switch\": %d }" : "\"numa\": %d }",
                      nic->pcie >= 0 ? nic->pcie : nic->numa);
    }
    if (inst->n_nics)
        strbuf_addstr(out, "\n    ],\n");
}

static void add_prices(struct strbuf *out, const struct instance *inst)
{
    const char *in = "            ";
    for (int32_t i = 0; i < inst->n_prices + inst->n_offers; i++) {
        const struct instance_price *p =
            i < inst->n_prices ? &inst->prices[i] : &inst->offers[i - inst->n_prices];
        strbuf_addstr(out, i ? ",\n        {\n" : "    \"prices\": [\n        {\n");
        add_text(out, in, "service", p->service, ",\n");
        add_text(out, in, "purchase", names_of(instance_purchase_names, p->purchase),
                 ",\n");
        add_text(out, in, "date", p->date, ",\n");
        add_text(out, in, "region", p->region, ",\n");
        if (p->source)
            add_text(out, in, "source", p->source, ",\n");
        add_quantity(out, in, "price", UNIT_USD_PER_HOUR, p->usd_per_hour,
                     "\n        }");
    }
    if (inst->n_prices + inst->n_offers)
        strbuf_addstr(out, "\n    ],\n");
}

static void add_host(struct strbuf *out, const struct instance *inst)
{
    strbuf_addstr(out, "    \"host_copy\": {");
    add_rate(out, " ", "pinned", inst->host_pinned_Bps, ",");
    add_rate(out, " ", "pageable", inst->host_pageable_Bps, " },\n");
    add_rate(out, "    ", "host_memory_rate", inst->host_memory_Bps, ",\n");
    add_rate(out, "    ", "socket_rate", inst->socket_Bps, ",\n");
    if (inst->storage_Bps > 0)
        add_rate(out, "    ", "storage", inst->storage_Bps, ",\n");
}

void instance_write(struct strbuf *out, const struct instance *inst)
{
    strbuf_addstr(out, "{\n");
    add_text(out, "    ", "summary", inst->summary, ",\n");
    add_text(out, "    ", "gpu", inst->gpu->name, ",\n");
    strbuf_printf(out, "    \"gpus\": %d,\n    \"vcpus\": %" PRId64 ",\n", inst->n_gpus,
                  inst->vcpus);
    add_memory(out, inst->host_memory_B);
    strbuf_printf(out, "    \"numa_nodes\": %d,\n", inst->n_numa);
    add_text(out, "    ", "inside", inst->inside->name, ",\n");
    if (inst->outside)
        add_text(out, "    ", "outside", inst->outside->name, ",\n");
    add_nvlinks(out, inst);
    add_pcie(out, inst);
    add_nics(out, inst);
    add_host(out, inst);
    add_prices(out, inst);
    if (inst->provenance_kind != PROVENANCE_UNKNOWN)
        add_text(out, "    ", "provenance_kind",
                 provenance_kind_text(inst->provenance_kind), ",\n");
    add_text(out, "    ", "provenance", inst->provenance ? inst->provenance : "unknown",
             "\n}\n");
}
