/* smsim collective: the time of one operation over a range of sizes, printed as
 * nccl-tests would. */
#include "cmd/cmd.h"

#include "base/err.h"

#include "base/err.h"
#include "cmd/collective_call.h"
#include "cmd/collective_log.h"
#include "report/text/wrap.h"
#include "run/coll_run.h"

#include <stdio.h>
#include <string.h>

enum { NO_OP = -1 };

/* Each backend's own algorithm; what it does not do is left to NCCL. */
static const struct name_value backend_names[] = {
    { "nccl", COLL_AUTO },
    { "smddp", COLL_SMDDP },
    { "parameter-server", COLL_SERVERS },
    { NULL, 0 },
};
const struct name_value collective_protocol_names[] = {
    { "auto", COLLECTIVE_PROTOCOL_AUTO },
    { "simple", FABRIC_PROTO_SIMPLE },
    { "ll", FABRIC_PROTO_LL },
    { "ll128", FABRIC_PROTO_LL128 },
    { NULL, 0 },
};

#define AT(m) offsetof(struct collective_arguments, m)

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
    { .name = "--gpus-per-thread", .without = "--log", .type = OPTION_INT,
      .at = AT(gpus_per_thread), .min = 1, .max = INSTANCE_GPUS_MAX, .value = "N",
      .help = "GPUs that a thread of the host launches one after the other, as nccl-tests' -g has it (1); logs say theirs" },
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
      .value = "P", .names = collective_protocol_names,
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

static int run_logs(struct collective_call *w, int64_t *slower)
{
    const struct collective_arguments *a = w->args;
    const struct collective_logs q = {
        .cluster = a->cluster,
        .ask = { &w->cluster, &w->group, (enum coll_op)a->op, a->nccl },
        .json = a->json,
        .plot = { a->plot, a->look },
        .logs = &a->logs,
    };
    int rc = collective_prepare(w) || collective_log(w->loader, &q, slower, w->err);
    cmd_warn(w->loader);
    return rc ? -1 : 0;
}

static int run(struct collective_call *w)
{
    if (collective_prepare(w) || collective_run(w))
        return -1;
    cmd_warn(w->loader);
    if (!w->args->json || strcmp(w->args->json, "-") != 0)
        collective_print(w);
    if (w->args->plot && collective_write_plot(w))
        return -1;
    return w->args->json ? collective_write_json(w) : 0;
}

/* What an option of these cannot do together with another; NULL. */
static const char *misplaced(const struct collective_arguments *a)
{
    if (a->explain && a->json && strcmp(a->json, "-") == 0)
        return "--explain prints on standard output: give --json a file";
    if (a->backend != COLL_AUTO && a->algorithm != COLL_AUTO)
        return "--backend: --algorithm says which runs (leave one out)";
    if (a->backend != COLL_AUTO && a->gpus_per_thread > 1)
        return "--gpus-per-thread: NCCL's launches alone are known (leave --backend "
               "out)";
    return NULL;
}

int cmd_collective(int argc, char **argv)
{
    struct collective_arguments args = { .op = NO_OP,
                                         .protocol = COLLECTIVE_PROTOCOL_AUTO,
                                         .network = FIDELITY_FLOW };
    struct option_list words = { 0 };
    struct cfg_loader loader;
    struct err err = { 0 };
    int rc = options_parse(&usage, argc, argv, &args, &words);
    if (rc != OPTIONS_GO_ON)
        return rc;
    if (!args.cluster || args.op == NO_OP) {
        report_linef(stderr,
                     "smsim collective: %s is missing (smsim collective --help)",
                     args.cluster ? "--op" : "--cluster");
        return EXIT_USAGE;
    }
    const char *unheeded = misplaced(&args);
    if (unheeded) {
        report_linef(stderr, "smsim collective: %s (see smsim collective --help)",
                     unheeded);
        return EXIT_USAGE;
    }
    cfg_loader_init(&loader);
    struct collective_call w = { .args = &args, .loader = &loader, .err = &err };
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
