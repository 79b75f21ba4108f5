/* smsim collective: the time of one operation over a range of sizes, printed as
 * nccl-tests would. */
#include "cmd/cmd.h"

#include "base/err.h"
#include "base/file.h"
#include "base/vec.h"
#include "cmd/collective_explain.h"
#include "cmd/collective_log.h"
#include "cmd/options.h"
#include "engine/watch.h"
#include "report/collective.h"
#include "report/report.h"
#include "run/chunk.h"
#include "run/coll_run.h"
#include "scenario/releases.h"
#include "scenario/versions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    const char *cluster, *gpus, *fabric, *quality, *nccl, *bytes, *json, *plot;
    struct draw_look look;
    struct option_list logs;
    int op, algorithm, protocol, network, backend;
    bool unfold, explain;
};

enum { NO_OP = -1, PROTOCOL_AUTO = -1, ELEMENT_B = 4, SIZES_MAX = 10000 };

/* Each backend's own algorithm; what it does not do is left to NCCL. */
static const struct name_value backend_names[] = {
    { "nccl", COLL_AUTO },
    { "smddp", COLL_SMDDP },
    { "parameter-server", COLL_SERVERS },
    { NULL, 0 },
};
static const struct name_value protocol_names[] = {
    { "auto", PROTOCOL_AUTO },
    { "simple", FABRIC_PROTO_SIMPLE },
    { "ll", FABRIC_PROTO_LL },
    { "ll128", FABRIC_PROTO_LL128 },
    { NULL, 0 },
};

#define AT(m) offsetof(struct arguments, m)

/* clang-format off */
static const struct option options[] = {
    { .group = "What runs",
      .name = "--cluster", .type = OPTION_STRING, .at = AT(cluster),
      .value = "I[:N]", .help = "instance type, and how many" },
    { .name = "--op", .type = OPTION_ENUM, .at = AT(op),
      .value = "OP", .names = coll_op_names,
      .help = "all_reduce, all_gather, reduce_scatter, alltoall, ..." },
    { .name = "--gpus", .type = OPTION_STRING, .at = AT(gpus),
      .value = "0,1,2", .help = "GPUs of each instance that take part (all)" },
    { .name = "--bytes", .without = "--log", .type = OPTION_STRING, .at = AT(bytes),
      .value = "MIN:MAX:FACTOR", .help = "sizes, 8:1GiB:2 by default; or one size" },
    { .name = "--fabric", .type = OPTION_STRING, .at = AT(fabric),
      .value = "F", .help = "network between the instances" },
    { .name = "--quality", .type = OPTION_STRING, .at = AT(quality),
      .value = "Q", .help = "what groups over nodes get of it: clean (default), typical, or the share of runs that have it better" },
    { .name = "--log", .type = OPTION_LIST, .at = AT(logs),
      .value = "FILE",
      .help = "a log of nccl-tests: judge its sizes instead; may be repeated" },
    { .group = "Library",
      .name = "--nccl", .type = OPTION_STRING, .at = AT(nccl),
      .value = "V", .help = "version of NCCL whose choices are followed" },
    { .name = "--backend", .without = "--log", .type = OPTION_ENUM, .at = AT(backend),
      .value = "B", .names = backend_names,
      .help = "library: nccl, smddp or parameter-server (nccl)" },
    { .name = "--algorithm", .without = "--log", .type = OPTION_ENUM, .at = AT(algorithm),
      .value = "A", .names = coll_algorithm_names, .help = "algorithm (auto)" },
    { .name = "--protocol", .without = "--log", .type = OPTION_ENUM, .at = AT(protocol),
      .value = "P", .names = protocol_names,
      .help = "simple, ll, ll128 (auto: as NCCL chooses)" },
    { .group = "Fidelity",
      .name = "--network", .without = "--log", .type = OPTION_ENUM, .at = AT(network),
      .value = "FIDELITY", .names = fidelity_names,
      .help = "analytic, flow (default) or chunk: closed forms to messages" },
    { .name = "--unfold", .without = "--log", .type = OPTION_FLAG, .at = AT(unfold),
      .help = "simulate every instance" },
    { .group = "Output",
      .name = "--explain", .without = "--log", .type = OPTION_FLAG, .at = AT(explain),
      .help = "say what was chosen, and where the time goes" },
    { .name = "--json", .type = OPTION_OUT, .at = AT(json),
      .value = "FILE", .help = "results as JSON (\"-\": standard output)" },
    { .name = "--plot", .type = OPTION_OUT, .at = AT(plot),
      .value = "FILE",
      .help = "bus bandwidth against size, with what was measured (.svg, .png, .pdf)" },
    OPTION_FIGURE_LOOK(AT(look), "--plot"),
    { .name = NULL },
};
/* clang-format on */

static const struct usage usage = {
    "collective",
    "--cluster I[:N] --op OP [OPTION]...",
    "How long a collective operation takes, size by size.",
    "  smsim collective --cluster p4d.24xlarge:2 --op all_reduce --bytes 1MiB:1GiB:2\n"
    "  smsim collective --cluster p5.48xlarge:8 --op alltoall --plot alltoall.svg\n"
    "  smsim collective --cluster p4d.24xlarge:2 --op all_reduce --log "
    "all_reduce.log\n\n"
    "With --log, exit code 1 says that a size is slower than normal.\n",
    options,
    0,
    0,
};

struct sizes {
    double min, max, factor;
};

/* All that one call works with. */
struct request {
    const struct arguments *args;
    struct cfg_loader *loader;
    struct err *err;
    struct arena arena;
    struct cluster cluster;
    struct coll_group group;
    struct net *net;
    struct sizes sizes;
    VEC(struct collective_row) rows;
};

/* "8", "64K" and "1G" as nccl-tests takes them (powers of 2), or "1GiB". */
static int read_size(const char *text, double *size, struct err *err)
{
    static const char suffixes[] = "KMGT";
    const char *why, *at;
    char *end;
    *size = strtod(text, &end);
    if (end != text && *end && !end[1] && (at = strchr(suffixes, *end))) {
        *size = ldexp(*size, 10 * (int)(at - suffixes + 1));
        end++;
    }
    if (end == text || *end) {
        if (units_parse(text, UNIT_BYTES, size, &why))
            return err_set(err, "--bytes: \"%s\" %s", text, why);
    }
    if (!(*size >= 1 && *size <= 0x1p50))
        return err_set(err, "--bytes: %s is not from 1 B to 1 PiB", text);
    return 0;
}

static int read_sizes(const char *text, struct sizes *sizes, struct err *err)
{
    char copy[128], *colon[2] = { NULL, NULL }, *end;
    *sizes = (struct sizes) { .min = 8, .max = 0x1p30, .factor = 2 };
    if (!text)
        return 0;
    if (strlen(text) >= sizeof(copy))
        return err_set(err, "--bytes is too long (write for example 8:1GiB:2)");
    memcpy(copy, text, strlen(text) + 1);
    colon[0] = strchr(copy, ':');
    if (colon[0]) {
        *colon[0]++ = '\0';
        colon[1] = strchr(colon[0], ':');
        if (colon[1])
            *colon[1]++ = '\0';
    }
    if (read_size(copy, &sizes->min, err))
        return -1;
    sizes->max = sizes->min;
    if (colon[0] && read_size(colon[0], &sizes->max, err))
        return -1;
    if (sizes->max < sizes->min)
        return err_set(err, "--bytes: the largest size is below the smallest");
    if (!colon[1])
        return 0;
    sizes->factor = strtod(colon[1], &end);
    if (end == colon[1] || *end || !(sizes->factor > 1) || isinf(sizes->factor))
        return err_set(err, "--bytes: the factor must be a number above 1, not \"%s\"",
                       colon[1]);
    if (log(sizes->max / sizes->min) > SIZES_MAX * log(sizes->factor))
        return err_set(err, "--bytes: more than %d sizes (give a larger factor)",
                       SIZES_MAX);
    return 0;
}

/* The GPUs of every host of a span's instance. */
static int set_gpus(struct coll_span *span, const struct cluster_group *g,
                    const uint8_t *gpus, int32_t n, struct err *err)
{
    const int32_t hosts = g->instance->n_hosts, each = g->gpus_per_instance / hosts;
    span->n_gpus = 0;
    for (int32_t k = 0; k < hosts; k++)
        for (int32_t i = 0; i < n; i++) {
            if (hosts > 1 && gpus[i] >= each)
                return err_set(err, "--gpus: %s has %d GPUs", g->instance->name, each);
            span->gpus[span->n_gpus++] = (uint8_t)(k * each + gpus[i]);
        }
    return 0;
}

/* --gpus over every instance. */
static int read_gpus(const char *text, const struct cluster *c,
                     struct coll_group *group, struct err *err)
{
    uint8_t gpus[INSTANCE_HOST_GPUS_MAX];
    int32_t n = 0;
    for (const char *at = text; at; at++) {
        char *end;
        long gpu = strtol(at, &end, 10);
        if (end == at || (*end && *end != ',') || gpu < 0 ||
            gpu >= INSTANCE_HOST_GPUS_MAX)
            return err_set(err, "--gpus: \"%s\" is no list of GPUs (write 0,1,2)",
                           text);
        if (n == INSTANCE_HOST_GPUS_MAX)
            return err_set(err, "--gpus: more than %d GPUs", INSTANCE_HOST_GPUS_MAX);
        gpus[n++] = (uint8_t)gpu;
        at = end;
        if (!*at)
            break;
    }
    for (int32_t s = 0; s < group->n_spans; s++)
        if (set_gpus(&group->spans[s], &c->groups[s], gpus, n, err))
            return -1;
    return 0;
}

static int set_fabric(struct request *w, const char *name)
{
    struct cfg where = cfg_from_tree(w->loader, "--fabric", json_string(name));
    w->cluster.fabric = fabric_get(w->loader, name, where);
    if (!w->cluster.fabric)
        return -1;
    if (fabric_is_inside(w->cluster.fabric))
        return err_set(w->err, "--fabric: %s joins the GPUs of a node, not nodes",
                       name);
    return 0;
}

static int set_quality(struct request *w, const char *text)
{
    char *end;
    double share = strtod(text, &end);
    bool is_share = end != text && *end == '\0' && isfinite(share);
    struct cfg value = cfg_from_tree(w->loader, "--quality",
                                     is_share ? json_real(share) : json_string(text));
    return cluster_set_quality(&w->cluster, w->loader, value);
}

static void warn_of_version(struct request *w)
{
    const char *v = w->args->nccl;
    const char *unsure =
        v && version_valid(v) ? release_unsure(&w->arena, "nccl", v) : NULL;
    if (unsure)
        fprintf(stderr, "warning: --nccl: %s\n", unsure);
}

static int prepare(struct request *w)
{
    warn_of_version(w);
    if (read_sizes(w->args->bytes, &w->sizes, w->err) ||
        cluster_parse(&w->cluster, w->loader, w->args->cluster))
        return -1;
    if (w->args->fabric && set_fabric(w, w->args->fabric))
        return -1;
    if (w->args->quality && w->cluster.n_instances > 1 &&
        set_quality(w, w->args->quality))
        return -1;
    w->group = coll_group_world(&w->cluster);
    if (w->args->gpus && read_gpus(w->args->gpus, &w->cluster, &w->group, w->err))
        return -1;
    w->net = net_new(&w->cluster, !w->args->unfold, w->err);
    return w->net ? 0 : -1;
}

static void note_end(struct sim *sim, void *arg)
{
    *(double *)arg = units_s(sim->now_ps);
}

/* Operations that have one protocol run with that. */
static void warn_of_protocol(const struct request *w)
{
    const struct coll_plan *plan = &w->rows.v[0].plan;
    if (w->args->protocol != PROTOCOL_AUTO && plan->n_phases > 0 &&
        plan->protocol != w->args->protocol)
        diags_warn(&w->loader->diags, DIAG_WITHOUT_EFFECT,
                   "--protocol: %s by %s runs with %s alone",
                   names_of(coll_op_names, w->args->op),
                   names_of(coll_algorithm_names, (int)plan->algorithm),
                   names_of(protocol_names, plan->protocol));
}

/* By the backend's own algorithm; where that refuses, by NCCL's, and says why. */
static int plan_by_backend(struct request *w, struct coll_request request,
                           struct coll_plan *plan)
{
    struct err refused = { 0 };
    if (request.algorithm == COLL_AUTO && w->args->backend != COLL_AUTO) {
        request.algorithm = (enum coll_algorithm)w->args->backend;
        if (coll_plan_make(plan, &w->arena, w->net, &request, &refused) == 0)
            return 0;
        request.algorithm = COLL_AUTO;
    }
    if (coll_plan_make(plan, &w->arena, w->net, &request, w->err))
        return -1;
    if (refused.text[0])
        plan->why =
            arena_printf(&w->arena, "NCCL, since %s; %s", refused.text, plan->why);
    return 0;
}

/* Of the phases begun: the others' are counted when they begin. */
static void count_messages(const void *of, int64_t *done, int64_t *total)
{
    const struct coll_world *world = of;
    *done = world->chunk ? chunk_n_messages(world->chunk) : 0;
    *total = world->chunk ? chunk_n_started(world->chunk) : 0;
}

static int run_size(struct request *w, double size_B)
{
    struct coll_request request = { .op = (enum coll_op)w->args->op,
                                    .algorithm =
                                        (enum coll_algorithm)w->args->algorithm,
                                    .protocol = w->args->protocol,
                                    .size_B = size_B,
                                    .groups = &w->group,
                                    .n_groups = 1,
                                    .nccl = w->args->nccl,
                                    .explains = true };
    struct collective_row *row = VEC_ADD(&w->rows);
    struct coll_world world;
    struct sim sim;
    struct cmd_progress progress = cmd_progress_of("messages", 0.5);
    const struct watch watch = { isatty(STDERR_FILENO) ? cmd_progress_show : NULL,
                                 &progress };
    *row = (struct collective_row) { .size_B = size_B, .time_s = -1 };
    if (plan_by_backend(w, request, &row->plan))
        return -1;
    sim_init(&sim, NULL);
    run_world_init(&world, &sim, w->net, (enum fidelity)w->args->network);
    run_coll_start(&world, &row->plan, note_end, &row->time_s);
    watch_run(&sim, &watch, count_messages, &world);
    run_world_release(&world);
    sim_release(&sim);
    if (row->time_s < 0)
        return err_set(w->err, "a link on the way carries nothing");
    if (row->time_s > 0) {
        row->algbw_Bps = size_B / row->time_s;
        row->busbw_Bps =
            row->algbw_Bps * coll_bus_factor(request.op, row->plan.n_ranks);
    }
    return 0;
}

static int run_sizes(struct request *w)
{
    for (double size = w->sizes.min; size <= w->sizes.max * (1 + 1e-12);
         size *= w->sizes.factor) {
        double whole = floor(size / ELEMENT_B) * ELEMENT_B;
        if (run_size(w, whole > 0 ? whole : size))
            return -1;
        if (w->sizes.min == w->sizes.max)
            break;
    }
    return 0;
}

static const char *redop(int op)
{
    return op == COLL_ALL_REDUCE || op == COLL_REDUCE_SCATTER || op == COLL_REDUCE
               ? "sum"
               : "none";
}

static bool has_network(const struct request *w)
{
    return w->cluster.n_instances > 1 && w->cluster.fabric;
}

static void print_rows(const struct request *w)
{
    int op = w->args->op;
    int root = op == COLL_BROADCAST || op == COLL_REDUCE || op == COLL_SCATTER ? 0 : -1;
    bool parted = op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER ||
                  op == COLL_ALLTOALL || op == COLL_SCATTER;
    double parts = parted ? (double)w->rows.v[0].plan.n_ranks : 1;
    if (has_network(w))
        printf("# network: %s\n", w->cluster.fabric->state.text);
    printf("#       size         count      type   redop    root     time   algbw   "
           "busbw\n");
    printf("#        (B)    (elements)                               (us)  (GB/s)  "
           "(GB/s)\n");
    for (int64_t i = 0; i < w->rows.n; i++) {
        const struct collective_row *r = &w->rows.v[i];
        if (w->args->explain)
            collective_explain(w->net, r, i > 0 ? r - 1 : NULL);
        printf("%12.0f  %12.0f  %8s  %6s  %6d  %7.*f  %6.2f  %6.2f\n", r->size_B,
               floor(r->size_B / ELEMENT_B / parts), "float", redop(op), root,
               r->time_s < 1e-1 ? 2 : 0, r->time_s * 1e6, r->algbw_Bps / 1e9,
               r->busbw_Bps / 1e9);
    }
}

static int write_json(const struct request *w)
{
    const struct report_collective x = {
        .cluster = w->args->cluster,
        .quality = has_network(w) ? w->cluster.fabric->state.text : NULL,
        .op = w->args->op,
        .algorithm = w->args->algorithm,
        .network = w->args->network,
        .ranks = w->rows.v[0].plan.n_ranks,
        .rows = json_array(),
        .warnings = diags_json(&w->loader->diags),
    };
    for (int64_t i = 0; i < w->rows.n; i++) {
        const struct collective_row *r = &w->rows.v[i];
        const struct report_collective_row row = {
            .size_B = (int64_t)r->size_B,
            .time_s = r->time_s,
            .algbw_Bps = r->algbw_Bps,
            .busbw_Bps = r->busbw_Bps,
            .algorithm = (int)r->plan.algorithm,
            .protocol = names_of(protocol_names, r->plan.protocol),
        };
        json_array_append_new(x.rows, report_collective_row_json(&row));
    }
    json_t *tree = contract_result(&report_collective_contract, &x);
    json_decref(x.rows);
    json_decref(x.warnings);
    int rc = report_json_write(tree, w->args->json, w->err);
    json_decref(tree);
    return rc;
}

static int write_plot(const struct request *w)
{
    struct collective_points points = { .cluster = w->args->cluster,
                                        .op = (enum coll_op)w->args->op,
                                        .n_ranks = w->rows.v[0].plan.n_ranks,
                                        .n_gpus = w->group.spans[0].n_gpus };
    collective_points_find(&points);
    const struct collective_figure figure = {
        .to = { w->args->plot, w->args->look },
        .fabric = has_network(w) ? w->cluster.fabric : NULL,
        .nccl = w->args->nccl,
        .rows = w->rows.v,
        .n_rows = w->rows.n,
        .measured = &points,
    };
    int rc = collective_figure_write(&figure, w->err);
    collective_points_release(&points);
    return rc;
}

/* Options that nothing of this operation heeds. */
static void warn_of_unheeded(const struct request *w)
{
    const struct arguments *a = w->args;
    enum coll_algorithm done = w->rows.v[0].plan.algorithm;
    if (a->fabric && w->cluster.n_instances == 1)
        diags_warn(&w->loader->diags, DIAG_WITHOUT_EFFECT,
                   "--fabric: does nothing on one instance");
    if (a->quality && w->cluster.n_instances == 1)
        diags_warn(&w->loader->diags, DIAG_WITHOUT_EFFECT,
                   "--quality: does nothing on one instance");
    bool nccl = done != COLL_SMDDP && done != COLL_SERVERS;
    if (a->nccl && !nccl)
        diags_warn(&w->loader->diags, DIAG_WITHOUT_EFFECT,
                   "--nccl: does nothing, as %s runs",
                   names_of(coll_algorithm_names, (int)done));
    if (a->protocol != PROTOCOL_AUTO && !nccl)
        diags_warn(&w->loader->diags, DIAG_WITHOUT_EFFECT,
                   "--protocol: does nothing, as %s runs",
                   names_of(coll_algorithm_names, (int)done));
}

static int run_logs(struct request *w, int64_t *slower)
{
    const struct arguments *a = w->args;
    const struct collective_logs q = {
        .cluster = a->cluster,
        .ask = { &w->cluster, &w->group, (enum coll_op)a->op, a->nccl },
        .json = a->json,
        .plot = { a->plot, a->look },
        .logs = &a->logs,
    };
    int rc = prepare(w) || collective_log(w->loader, &q, slower, w->err);
    cmd_warn(w->loader);
    return rc ? -1 : 0;
}

static int run(struct request *w)
{
    if (prepare(w) || run_sizes(w))
        return -1;
    warn_of_protocol(w);
    warn_of_unheeded(w);
    cmd_warn(w->loader);
    if (!w->args->json || strcmp(w->args->json, "-") != 0)
        print_rows(w);
    if (w->args->plot && write_plot(w))
        return -1;
    return w->args->json ? write_json(w) : 0;
}

/* What an option of these cannot do together with another; NULL. */
static const char *misplaced(const struct arguments *a)
{
    if (a->explain && a->json && strcmp(a->json, "-") == 0)
        return "--explain prints on standard output: give --json a file";
    if (a->backend != COLL_AUTO && a->algorithm != COLL_AUTO)
        return "--backend: --algorithm says which runs (leave one out)";
    return NULL;
}

int cmd_collective(int argc, char **argv)
{
    struct arguments args = { .op = NO_OP,
                              .protocol = PROTOCOL_AUTO,
                              .network = FIDELITY_FLOW };
    struct option_list words = { 0 };
    struct cfg_loader loader;
    struct err err = { 0 };
    int rc = options_parse(&usage, argc, argv, &args, &words);
    if (rc != OPTIONS_GO_ON)
        return rc;
    if (!args.cluster || args.op == NO_OP) {
        fprintf(stderr, "smsim collective: %s is missing (smsim collective --help)\n",
                args.cluster ? "--op" : "--cluster");
        return EXIT_USAGE;
    }
    const char *unheeded = misplaced(&args);
    if (unheeded) {
        fprintf(stderr, "smsim collective: %s (see smsim collective --help)\n",
                unheeded);
        return EXIT_USAGE;
    }
    cfg_loader_init(&loader);
    struct request w = { .args = &args, .loader = &loader, .err = &err };
    arena_init(&w.arena);
    int64_t slower = 0;
    rc = args.logs.n ? run_logs(&w, &slower) : run(&w);
    if (w.net)
        net_free(w.net);
    arena_release(&w.arena);
    VEC_RELEASE(&w.rows);
    if (rc)
        return cmd_fail_json(&loader, &err, "collective", args.json);
    cfg_loader_release(&loader);
    return slower ? EXIT_UNFIT : EXIT_DONE;
}
