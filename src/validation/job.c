#include "validation/job.h"

#include "base/xmalloc.h"
#include "simulate/judge.h"
#include "simulate/result_json.h"
#include "validation/job_kernel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct job_worker {
    struct cfg_loader hardware; /* GPUs, instances and fabrics read so far */
    struct cfg where;  /* at which the loader reports a name it does not know */
    char *cluster_key; /* of the net; NULL: none */
    struct cluster cluster;
    struct net *net;
};

static void open_hardware(struct job_worker *w)
{
    cfg_loader_init(&w->hardware);
    w->where = cfg_from_tree(&w->hardware, "validation", json_object());
}

struct job_worker *validation_worker_new(void)
{
    struct job_worker *w = xcalloc(1, sizeof(*w));
    open_hardware(w);
    return w;
}

static void forget_cluster(struct job_worker *w)
{
    free(w->cluster_key);
    w->cluster_key = NULL;
    if (w->net)
        net_free(w->net);
    w->net = NULL;
}

void validation_worker_free(struct job_worker *w)
{
    forget_cluster(w);
    cfg_loader_release(&w->hardware);
    free(w);
}

static int first_error(struct cfg_loader *loader, struct err *err)
{
    return err_set(err, "%s",
                   loader->diags.n_errors ? diags_error_text(&loader->diags, 0)
                                          : "unknown error");
}

/* What was wrong with hardware; the loader that remembers the failure is given up. */
static int hardware_error(struct job_worker *w, struct err *err)
{
    first_error(&w->hardware, err);
    forget_cluster(w);
    cfg_loader_release(&w->hardware);
    open_hardware(w);
    return -1;
}

/* Scenarios */

static json_t *run_scenario(struct job_worker *w, struct cfg_loader *loader,
                            struct cfg root, struct err *err)
{
    const struct simulate_options options = { .network = FIDELITY_FLOW, .mute = true };
    struct scenario s = { 0 };
    struct simulate_result r;
    if (scenario_read(&s, loader, root)) {
        first_error(loader, err);
        return NULL;
    }
    if (simulate(&r, &loader->arena, &s, &options, err))
        return NULL;
    if (judge(&r, &loader->arena, interval_table_get(&w->hardware), &loader->diags, &s,
              err))
        return NULL;
    return result_json(&s, &r);
}

/* Collectives */

struct collective {
    const char *cluster, *fabric, *nccl;
    int op, algorithm, protocol, dtype;
    double size_B;
    int64_t n_gpus, gpus_per_thread;
    struct cfg gpus, backend;
};

/* Elements, as nccl-tests names them: all that matters is whether a switch adds them
 * up. */
enum { DTYPE_ANY, DTYPE_BYTE };
static const struct name_value element_names[] = {
    { "float", DTYPE_ANY },  { "half", DTYPE_ANY },   { "bfloat16", DTYPE_ANY },
    { "double", DTYPE_ANY }, { "int32", DTYPE_ANY },  { "int64", DTYPE_ANY },
    { "int8", DTYPE_BYTE },  { "uint8", DTYPE_BYTE }, { NULL, 0 },
};

static const struct name_value protocol_names[] = { { "auto", -1 },
                                                    { "simple", FABRIC_PROTO_SIMPLE },
                                                    { "ll", FABRIC_PROTO_LL },
                                                    { "ll128", FABRIC_PROTO_LL128 },
                                                    { NULL, 0 } };

static const struct cfg_field collective_fields[] = {
    CFG_ROW("cluster", CFG_T_STRING, struct collective, cluster, .required = true),
    CFG_STRING("fabric", struct collective, fabric),
    CFG_STRING("nccl", struct collective, nccl),
    CFG_ROW("op", CFG_T_ENUM, struct collective, op, .required = true,
            .names = coll_op_names),
    CFG_ENUM("algorithm", struct collective, algorithm, coll_algorithm_names),
    CFG_ENUM("protocol", struct collective, protocol, protocol_names),
    CFG_ENUM("dtype", struct collective, dtype, element_names),
    CFG_ROW("bytes", CFG_T_REAL, struct collective, size_B, .required = true, .min = 0,
            .max = 1e15),
    CFG_INT("n_gpus", struct collective, n_gpus, 1, INSTANCE_GPUS_MAX),
    CFG_INT("gpus_per_thread", struct collective, gpus_per_thread, 1,
            INSTANCE_GPUS_MAX),
    CFG_CHILD("gpus", struct collective, gpus),
    CFG_REFUSED("size", "write \"bytes\""),
    CFG_REFUSED("backend", "leave it out: collectives are NCCL's"),
    CFG_END,
};

/* The net of the cluster, kept from the last job when it is the same. */
static int prepare_net(struct job_worker *w, const struct collective *c,
                       struct err *err)
{
    char *key = xasprintf("%s %s", c->cluster, c->fabric ? c->fabric : "");
    if (w->cluster_key && strcmp(w->cluster_key, key) == 0) {
        free(key);
        return 0;
    }
    forget_cluster(w);
    w->cluster_key = key;
    if (cluster_parse(&w->cluster, &w->hardware, c->cluster))
        return hardware_error(w, err);
    if (c->fabric) {
        w->cluster.fabric =
            fabric_get(&w->hardware, c->fabric, cfg_get(w->where, "fabric"));
        if (!w->cluster.fabric)
            return hardware_error(w, err);
    }
    w->net = net_new(&w->cluster, true, err);
    if (!w->net)
        forget_cluster(w);
    return w->net ? 0 : -1;
}

/* The same GPUs of each instance; all of them when the job names none. */
static int read_group(struct coll_group *g, const struct cluster *cluster,
                      const struct collective *c)
{
    *g = coll_group_world(cluster);
    bool listed = cfg_present(c->gpus);
    int64_t n = listed ? cfg_len(c->gpus) : c->n_gpus;
    if (listed && (!cfg_is_array(c->gpus) || n < 1 || n > INSTANCE_GPUS_MAX))
        return cfg_error(c->gpus, DIAG_WRONG_TYPE, "should be an array of 1 to %d GPUs",
                         INSTANCE_GPUS_MAX);
    for (int32_t s = 0; n > 0 && s < g->n_spans; s++) {
        struct coll_span *span = &g->spans[s];
        int64_t there = cluster->groups[s].instance->n_gpus;
        if (n > there)
            return cfg_error(c->gpus, DIAG_OUT_OF_RANGE, "the instance has %d GPUs",
                             (int)there);
        span->n_gpus = (int32_t)n;
        for (int64_t i = 0; i < n; i++) {
            int64_t gpu = i;
            if (listed && cfg_int(cfg_at(c->gpus, i), &gpu, 0, there - 1))
                return -1;
            span->gpus[i] = (uint8_t)gpu;
        }
    }
    return 0;
}

static void note_end(struct sim *sim, void *arg)
{
    *(int64_t *)arg = sim->now_ps;
}

static double plan_time_s(const struct coll_plan *plan, const struct net *net)
{
    struct sim sim;
    struct coll_world world;
    int64_t end_ps = 0;
    sim_init(&sim, NULL);
    run_world_init(&world, &sim, net, FIDELITY_FLOW);
    run_coll_start(&world, plan, note_end, &end_ps);
    sim_run(&sim);
    run_world_release(&world);
    sim_release(&sim);
    return units_s(end_ps);
}

static json_t *run_collective(struct job_worker *w, struct cfg_loader *loader,
                              struct cfg root, struct err *err)
{
    struct collective c = { .algorithm = COLL_AUTO, .protocol = -1 };
    struct coll_group group;
    struct coll_plan plan;
    if (cfg_read(root, collective_fields, &c)) {
        first_error(loader, err);
        return NULL;
    }
    if (prepare_net(w, &c, err))
        return NULL;
    if (read_group(&group, &w->cluster, &c)) {
        first_error(loader, err);
        return NULL;
    }
    const struct coll_request request = {
        .op = (enum coll_op)c.op,
        .algorithm = (enum coll_algorithm)c.algorithm,
        .protocol = c.protocol,
        .size_B = c.size_B,
        .groups = &group,
        .n_groups = 1,
        .nccl = c.nccl,
        .int8 = c.dtype == DTYPE_BYTE,
        .gpus_per_thread = c.gpus_per_thread,
    };
    if (coll_plan_make(&plan, &loader->arena, w->net, &request, err))
        return NULL;
    double time_s = plan_time_s(&plan, w->net);
    double algbw_Bps = time_s > 0 ? c.size_B / time_s : 0;
    double busbw_Bps = algbw_Bps * coll_bus_factor(request.op, plan.n_ranks);
    return json_pack("{s:f, s:f, s:f}", "time_s", time_s, "algbw_Bps", algbw_Bps,
                     "busbw_Bps", busbw_Bps);
}

static json_t *run_kernel(struct job_worker *w, struct cfg_loader *loader,
                          struct cfg root, struct err *err)
{
    json_t *found = job_kernel_run(&w->hardware, w->where, root, err);
    if (!found && w->hardware.diags.n_errors)
        hardware_error(w, err);
    else if (!found && loader->diags.n_errors)
        first_error(loader, err);
    return found;
}

json_t *validation_job_run(struct job_worker *w, enum mapping_kind kind, json_t *tree,
                           struct err *err)
{
    static const char *const names[] = { "scenario", "collective", "kernel" };
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    loader.shared = &w->hardware;
    struct cfg root = cfg_from_tree(&loader, names[kind], json_incref(tree));
    json_t *result = kind == MAPPING_SCENARIO ? run_scenario(w, &loader, root, err)
                     : kind == MAPPING_COLLECTIVE
                         ? run_collective(w, &loader, root, err)
                         : run_kernel(w, &loader, root, err);
    cfg_loader_release(&loader);
    return result;
}
