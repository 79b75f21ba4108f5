#include "hardware/fabric.h"

#include "config/cache.h"
#include "config/datadir.h"

#include <math.h>

const struct name_value fabric_kind_names[] = {
    { "nvlink", FABRIC_NVLINK },
    { "nvswitch", FABRIC_NVSWITCH },
    { "pcie", FABRIC_PCIE },
    { "efa", FABRIC_EFA },
    { "tcp", FABRIC_TCP },
    { "infiniband", FABRIC_INFINIBAND },
    { NULL, 0 },
};

struct fabric_raw {
    struct fabric fabric;
    struct cfg protocols, laws[FABRIC_ALGO_N], tuner, quality;
    struct fabric_tiers_raw tiers;
};

struct protocol_rows {
    struct cfg row[FABRIC_PROTO_N];
};

#define FAB_RATE(k, m) \
    CFG_QUANTITY(k, struct fabric_raw, fabric.m, UNIT_BYTES_PER_S, 1e6, 1e15)
#define FAB_TIME(k, m, need)                                                      \
    CFG_ROW(k, CFG_T_QUANTITY, struct fabric_raw, fabric.m, .unit = UNIT_SECONDS, \
            .min = 0, .max = 1, .required = (need))

static const struct cfg_field fabric_fields[] = {
    CFG_ROW("kind", CFG_T_ENUM, struct fabric_raw, fabric.kind,
            .names = fabric_kind_names, .required = true),
    CFG_STRING("software_generation", struct fabric_raw, fabric.software),
    CFG_RENAMED("era", "software_generation"),
    CFG_ROW("efficiency", CFG_T_REAL, struct fabric_raw, fabric.efficiency, .min = 0.01,
            .max = 1, .required = true),
    CFG_REAL("step_efficiency", struct fabric_raw, fabric.step_efficiency, 0.01, 1),
    FAB_TIME("latency", latency_s, true),
    FAB_RATE("per_flow", per_flow_Bps),
    FABRIC_TIER_KEYS(struct fabric_raw, tiers.),
    CFG_REAL("shared_frac", struct fabric_raw, fabric.shared_frac, 0.01, 1),
    CFG_REAL("split_frac", struct fabric_raw, fabric.split_frac, 0.01, 1),
    CFG_BOOL("gpudirect", struct fabric_raw, fabric.gpudirect),
    FAB_TIME("put", put_s, false),
    FAB_RATE("staging", staging_Bps),
    CFG_REAL("fill_frac", struct fabric_raw, fabric.fill_frac, 0, 10),
    FAB_TIME("fill_max", fill_max_s, false),
    CFG_QUANTITY("pair_loop", struct fabric_raw, fabric.pair_loop_B, UNIT_BYTES, 0,
                 1e12),
    CFG_REAL("pair_gain", struct fabric_raw, fabric.pair_gain, 0.1, 1),
    CFG_STRING("nccl", struct fabric_raw, fabric.nccl),
    CFG_INT("channels", struct fabric_raw, fabric.channels, 1, 64),
    CFG_INT("measured_gpus", struct fabric_raw, fabric.measured_gpus, 1, 1 << 20),
    CFG_ROW("protocols", CFG_T_CHILD, struct fabric_raw, protocols, .required = true),
    CFG_CHILD("tree", struct fabric_raw, laws[FABRIC_TREE]),
    CFG_CHILD("nvls", struct fabric_raw, laws[FABRIC_NVLS]),
    CFG_CHILD("nvls_tree", struct fabric_raw, laws[FABRIC_NVLS_TREE]),
    CFG_CHILD("p2p", struct fabric_raw, laws[FABRIC_P2P]),
    CFG_CHILD("tuner", struct fabric_raw, tuner),
    CFG_CHILD("quality", struct fabric_raw, quality),
    CFG_STRING("provenance", struct fabric_raw, fabric.provenance),
    CFG_PROVENANCE(struct fabric_raw, fabric.provenance_kind),
    CFG_END,
};

static const struct cfg_field rows_fields[] = {
    CFG_ROW("simple", CFG_T_CHILD, struct protocol_rows, row[FABRIC_PROTO_SIMPLE],
            .required = true),
    CFG_CHILD("ll", struct protocol_rows, row[FABRIC_PROTO_LL]),
    CFG_CHILD("ll128", struct protocol_rows, row[FABRIC_PROTO_LL128]),
    CFG_END,
};

#define PROTO_TIME(k, m) CFG_QUANTITY(k, struct fabric_protocol, m, UNIT_SECONDS, 0, 1)
#define PROTO_RATE(k, m) \
    CFG_QUANTITY(k, struct fabric_protocol, m, UNIT_BYTES_PER_S, 1e6, 1e15)

static const struct cfg_field protocol_fields[] = {
    CFG_BOOL("enabled", struct fabric_protocol, enabled),
    PROTO_TIME("base", base_s),
    PROTO_TIME("step", step_s),
    PROTO_TIME("hop", hop_s),
    CFG_REAL("efficiency", struct fabric_protocol, efficiency, 0.01, 1),
    CFG_QUANTITY("quantum", struct fabric_protocol, quantum_B, UNIT_BYTES, 0, 1e9),
    PROTO_TIME("quantum_time", quantum_s),
    PROTO_TIME("ramp", ramp_s),
    PROTO_TIME("ramp_rank", ramp_rank_s),
    PROTO_RATE("turn", turn_Bps),
    CFG_QUANTITY("ramp_bytes", struct fabric_protocol, ramp_B, UNIT_BYTES, 0, 1e12),
    CFG_REAL("exposed", struct fabric_protocol, exposed, 0, 1),
    CFG_REAL("gather", struct fabric_protocol, gather, 0.01, 1),
    PROTO_RATE("copy", copy_Bps),
    PROTO_RATE("reduce", reduce_Bps),
    PROTO_RATE("max", max_Bps),
    CFG_END,
};

static int check_hop(const struct fabric *f, const struct fabric_protocol *proto,
                     struct cfg row)
{
    if (proto->hop_s <= 0)
        return 0;
    if (fabric_is_inside(f))
        return cfg_error(cfg_get(row, "hop"), DIAG_UNSUPPORTED,
                         "is between nodes: inside one, write \"step\"");
    if (proto->step_s > 0)
        return cfg_error(cfg_get(row, "hop"), DIAG_UNSUPPORTED,
                         "replaces \"step\", which is the mean: leave one of them");
    return 0;
}

static int read_protocols(struct fabric *f, struct cfg object)
{
    struct protocol_rows rows = { 0 };
    int rc = cfg_read(object, rows_fields, &rows);

    for (int p = 0; p < FABRIC_PROTO_N && rc == 0; p++) {
        f->proto[p] = (struct fabric_protocol) {
            .enabled = cfg_present(rows.row[p]),
            .efficiency = 1,
            .exposed = 1,
            .gather = 1,
            .turn_Bps = INFINITY,
            .copy_Bps = INFINITY,
            .reduce_Bps = INFINITY,
            .max_Bps = INFINITY,
        };
        if (f->proto[p].enabled)
            rc = cfg_read(rows.row[p], protocol_fields, &f->proto[p]) ||
                         check_hop(f, &f->proto[p], rows.row[p])
                     ? -1
                     : 0;
    }
    return rc;
}

static int read_fabric(struct fabric_raw *raw, struct cfg file)
{
    struct fabric *f = &raw->fabric;

    f->per_flow_Bps = INFINITY;
    f->staging_Bps = INFINITY;
    f->oversubscription = f->shared_frac = f->split_frac = 1;
    f->channels = 1;
    f->pair_gain = 1;
    f->state = (struct fabric_state) { "clean", 1 };
    if (cfg_read(file, fabric_fields, raw) || read_protocols(f, raw->protocols) ||
        fabric_laws_read(&f->laws, raw->laws) ||
        fabric_choices_read(&f->choices, raw->tuner) ||
        fabric_quality_read(&f->quality, raw->quality) || fabric_read_tiers(f, file))
        return -1;
    if (!f->proto[FABRIC_PROTO_SIMPLE].enabled)
        return cfg_error(cfg_get(raw->protocols, "simple"), DIAG_UNSUPPORTED,
                         "cannot be off (every size falls back on it)");
    return 0;
}

static const void *make_fabric(struct cfg_loader *loader, const char *name,
                               struct cfg where)
{
    struct fabric_raw *raw = ARENA_NEW(&loader->arena, struct fabric_raw);
    struct cfg file = datadir_load(loader, "topologies/fabrics", name, where);

    raw->fabric.name = cache_basename(&loader->arena, name);
    return cfg_present(file) && read_fabric(raw, file) == 0 ? &raw->fabric : NULL;
}

const struct fabric *fabric_get(struct cfg_loader *loader, const char *name,
                                struct cfg where)
{
    const void *known;
    if (!cache_find(loader, "fabric", name, &known))
        name = datadir_spelling(&loader->arena, "topologies/fabrics", name);
    return cache_get(loader, "fabric", name, where, make_fabric);
}

bool fabric_is_inside(const struct fabric *f)
{
    return f->kind == FABRIC_NVLINK || f->kind == FABRIC_NVSWITCH ||
           f->kind == FABRIC_PCIE;
}
