/* The "distribution" dictionary of SageMaker's estimators: how the job is launched, and
 * what that says about who reduces gradients. */
#include "scenario/distribution/distribution.h"

#include "base/units.h"
#include "scenario/libraries.h"
#include "scenario/sagemaker.h"

#include <inttypes.h>
#include <string.h>

/* clang-format off */
/* A launcher's own object. */
struct launcher {
    bool enabled, has_enabled;
    int64_t processes_per_host; /* 0: not given */
    const char *mpi_options;
};

#define ENABLED(T)                                                                     \
    { .key = "enabled", .type = CFG_T_BOOL, .at = offsetof(T, enabled),                \
      .has = offsetof(T, has_enabled) }
static const struct cfg_field launcher_fields[] = {
    ENABLED(struct launcher),
    CFG_END,
};
static const struct cfg_field mpi_fields[] = {
    ENABLED(struct launcher),
    CFG_INT("processes_per_host", struct launcher, processes_per_host, 1, 1024),
    CFG_TEXT("custom_mpi_options", struct launcher, mpi_options),
    CFG_END,
};
static const struct cfg_field dataparallel_fields[] = {
    ENABLED(struct launcher),
    CFG_TEXT("custom_mpi_options", struct launcher, mpi_options),
    CFG_END,
};

struct raw_section {
    struct cfg smdistributed, mpi, torch_distributed, pytorchddp;
    struct cfg parameter_server, pytorchxla, mirrored;
};

static const struct cfg_field distribution_fields[] = {
    CFG_CHILD("smdistributed", struct raw_section, smdistributed),
    CFG_CHILD("mpi", struct raw_section, mpi),
    CFG_CHILD("torch_distributed", struct raw_section, torch_distributed),
    CFG_CHILD("pytorchddp", struct raw_section, pytorchddp),
    CFG_CHILD("parameter_server", struct raw_section, parameter_server),
    CFG_CHILD("pytorchxla", struct raw_section, pytorchxla),
    CFG_CHILD("multi_worker_mirrored_strategy", struct raw_section, mirrored),
    CFG_REFUSED("distribution", "the dictionary is inside itself; take the inner one"),
    CFG_REFUSED("modelparallel", "it belongs in \"smdistributed\""),
    CFG_REFUSED("dataparallel", "it belongs in \"smdistributed\""),
    CFG_REFUSED("parameters", "they belong in \"smdistributed\", \"modelparallel\""),
    CFG_REFUSED("processes_per_host", "it belongs in \"mpi\""),
    CFG_REFUSED("custom_mpi_options", "it belongs in \"mpi\""),
    CFG_REFUSED("instance_groups",
                "groups named by the estimator are not simulated yet; leave it out"),
    CFG_END,
};

struct smdistributed {
    struct cfg dataparallel, modelparallel;
};
static const struct cfg_field smdistributed_fields[] = {
    CFG_CHILD("dataparallel", struct smdistributed, dataparallel),
    CFG_CHILD("modelparallel", struct smdistributed, modelparallel),
    CFG_REFUSED("enabled", "it belongs in \"dataparallel\" or \"modelparallel\""),
    CFG_REFUSED("parameters", "they belong in \"modelparallel\""),
    CFG_REFUSED("mpi", "it belongs next to \"smdistributed\""),
    CFG_REFUSED("torch_distributed", "it belongs next to \"smdistributed\""),
    CFG_END,
};

/* clang-format on */

/* The SDK's framework estimators refuse other instances; a generic Estimator with an
 * image of one's own gets past that, and the library falls back to NCCL. */
static int check_smddp_instances(struct parse_context *r, struct cfg at)
{
    const struct cluster *c = &r->s->cluster;
    int rc = 0;
    backend_set(&r->s->parallel, "smddp");
    for (int i = 0; r->has_cluster && i < c->n_groups; i++) {
        const char *name = c->groups[i].instance->name;
        if (names_listed(sagemaker_smddp_instances, name))
            continue;
        backend_set(&r->s->parallel, NULL);
        rc |=
            parse_unsure(r, at, DIAG_SDK_RULE,
                         "sdk rule: SageMaker's data parallel library does not run on "
                         "%s, and would leave gradients to NCCL (use p3.16xlarge, "
                         "p3dn.24xlarge, p4d.24xlarge or p4de.24xlarge, or "
                         "\"pytorchddp\" instead)",
                         name);
    }
    return rc;
}

/* SMDDP is documented over EFA alone. */
static void warn_transport(const struct parse_context *r, struct cfg at)
{
    const struct fabric *f = r->s->fabric;
    if (r->has_cluster && f && f->kind == FABRIC_TCP)
        cfg_warn(at, DIAG_INFERRED,
                 "inferred: %s has no EFA, so SMDDP's servers are taken to talk TCP "
                 "over ENA",
                 r->s->cluster.groups[0].instance->name);
}

/* What the launched script does unless /parallelism or the framework says otherwise. */
static void use(struct parse_context *r, const char *library)
{
    library_set(&r->s->parallel, library);
    r->launched = true;
}

/* Reads one launcher's object; *enabled says whether it starts the job. */
static int read_launcher(struct parse_context *r, struct cfg c,
                         const struct cfg_field *fields, struct launcher *l)
{
    *l = (struct launcher) { 0 };
    if (cfg_read(c, fields, l))
        return -1;
    if (cfg_present(c) && !l->has_enabled)
        return cfg_error(cfg_get(c, "enabled"), DIAG_MISSING,
                         "missing (give \"enabled\": true)");
    for (void *it = l->enabled ? NULL : cfg_first(c); it; it = cfg_next(c, it))
        if (strcmp(cfg_key(it), "enabled") != 0 && strcmp(cfg_key(it), "comment") != 0)
            parse_note(r, cfg_member(c, it), "this launcher is not enabled");
    if (l->enabled && l->mpi_options)
        return mpi_options_read(r, cfg_get(c, "custom_mpi_options"), l->mpi_options);
    return 0;
}

/* Each launcher -------------------------------------------------------------------- */

static int read_dataparallel(struct parse_context *r, struct cfg c)
{
    struct launcher l;
    if (read_launcher(r, c, dataparallel_fields, &l))
        return -1;
    if (!l.enabled)
        return 0;
    use(r, "ddp");
    r->written.backend = true;
    if (check_smddp_instances(r, c))
        return -1;
    if (backend_is_smddp(&r->s->parallel))
        warn_transport(r, c);
    return 0;
}

/* P5 instances take smdistributed under torchrun only. */
static int check_p5(const struct parse_context *r, struct cfg c, bool torch)
{
    const struct cluster *cl = &r->s->cluster;
    for (int i = 0; r->has_cluster && i < cl->n_groups; i++)
        if (strcmp(cl->groups[i].instance->name, "p5.48xlarge") == 0 && !torch)
            return cfg_error(c, DIAG_SDK_RULE,
                             "sdk rule: p5.48xlarge needs \"torch_distributed\": { "
                             "\"enabled\": True } next to \"smdistributed\" (give it)");
    return 0;
}

static int read_smdistributed(struct parse_context *r, struct cfg c, bool mpi,
                              bool torch)
{
    struct smdistributed d = { 0 };
    if (cfg_read(c, smdistributed_fields, &d))
        return -1;
    if (cfg_present(d.dataparallel) && cfg_present(d.modelparallel))
        return cfg_error(
            c, DIAG_SDK_RULE,
            "sdk rule: SageMaker takes one strategy of smdistributed at a time "
            "(leave out \"dataparallel\" or \"modelparallel\")");
    bool on = json_is_true(cfg_get(d.modelparallel, "enabled").json) ||
              json_is_true(cfg_get(d.dataparallel, "enabled").json);
    if (on && check_p5(r, c, torch))
        return -1;
    if (smp_read(r, d.modelparallel, mpi, torch))
        return -1;
    return read_dataparallel(r, d.dataparallel);
}

/* The launcher starts so many processes on each instance, a GPU each. */
static int apply_processes(struct parse_context *r, struct cfg at, int64_t n)
{
    struct cluster *c = &r->s->cluster;
    bool given = cfg_present(cfg_get(r->cluster, "gpus_per_instance"));
    if (!r->has_cluster)
        return 0;
    for (int i = 0; i < c->n_groups; i++) {
        const struct cluster_group hosts = cluster_hosts(&c->groups[i]), *g = &hosts;
        int64_t most = given ? g->gpus_per_instance : g->instance->n_gpus;
        if (n > most || (given && n != most))
            return cfg_error(
                at, DIAG_OUT_OF_RANGE,
                "%" PRId64 " process%s for the %" PRId64 " GPU%s of %s%s (write "
                "%s%" PRId64 ")",
                n, n == 1 ? "" : "es", most, units_plural(most), g->instance->name,
                given ? " in gpus_per_instance" : "", given ? "" : "at most ", most);
    }
    for (int i = 0; i < c->n_groups; i++)
        if (c->groups[i].instance->n_hosts > 1 &&
            n != cluster_hosts(&c->groups[i]).gpus_per_instance)
            return cfg_error(at, DIAG_REQUIRES,
                             "%s is joined to others by NVLink: say in the cluster's "
                             "gpus_per_instance how many GPUs of each run",
                             c->groups[i].instance->name);
    c->n_gpus = 0;
    for (int i = 0; i < c->n_groups; i++) {
        const int64_t each = n * c->groups[i].instance->n_hosts;
        c->groups[i].gpus_per_instance = (int32_t)each;
        c->n_gpus += each * c->groups[i].count;
    }
    return 0;
}

static int read_mpi(struct parse_context *r, struct cfg c)
{
    struct launcher l;
    if (read_launcher(r, c, mpi_fields, &l))
        return -1;
    if (!l.enabled)
        return 0;
    use(r, "horovod");
    if (l.processes_per_host)
        return apply_processes(r, cfg_get(c, "processes_per_host"),
                               l.processes_per_host);
    cfg_warn(c, DIAG_ASSUMED_LAUNCHER,
             "processes_per_host is not given: a process for every GPU is assumed");
    return 0;
}

static int read_torch(struct parse_context *r, struct cfg c, bool torchrun)
{
    struct launcher l;
    if (read_launcher(r, c, launcher_fields, &l))
        return -1;
    if (!l.enabled)
        return 0;
    use(r, "ddp");
    r->launch_simple |= torchrun;
    return 0;
}

/* A server and a worker on every instance. The option is that of SageMaker's TensorFlow
 * container, whose servers update asynchronously ("Distributed training with parameter
 * servers", Use TensorFlow with the SageMaker Python SDK). The launchers of PyTorch's
 * are pytorchddp, torch_distributed and smdistributed ("Use the PyTorch framework
 * estimators in the SageMaker Python SDK", Amazon SageMaker AI's guide): its scripts
 * start alone. */
static int read_servers(struct parse_context *r, struct cfg c)
{
    struct launcher l;
    if (read_launcher(r, c, launcher_fields, &l))
        return -1;
    if (!l.enabled)
        return 0;
    use(r, "parameter-server");
    r->written.library = true; /* whatever framework trains */
    r->s->parallel.reduce.asynchronous = true;
    if (r->s->software.pytorch)
        cfg_warn(c, DIAG_UNSURE,
                 "the container of PyTorch starts no parameter servers; those of "
                 "TensorFlow's are simulated");
    if (!cfg_present(cfg_get(r->parallelism, "asynchronous")))
        cfg_warn(c, DIAG_ASSUMED,
                 "asynchronous updates are assumed, those of SageMaker's TensorFlow "
                 "container (write /parallelism/asynchronous false for servers that "
                 "wait for all workers)");
    return 0;
}

/* Launchers that are known, and may be written down as long as they are off. */
static int read_unsimulated(struct parse_context *r, struct cfg c)
{
    struct launcher l;
    if (read_launcher(r, c, launcher_fields, &l))
        return -1;
    return l.enabled ? cfg_error(c, DIAG_NOT_SIMULATED,
                                 "this launcher is not simulated yet (leave it out, or "
                                 "write \"enabled\": false)")
                     : 0;
}

static bool is_enabled(struct cfg launcher)
{
    return json_is_true(cfg_get(launcher, "enabled").json);
}

/* How many of the launchers are switched on; SMDDP may be started by torchrun. */
static int count_enabled(const struct raw_section *w)
{
    const struct cfg all[] = { cfg_get(w->smdistributed, "dataparallel"),
                               w->mpi,
                               w->torch_distributed,
                               w->pytorchddp,
                               w->parameter_server,
                               w->pytorchxla,
                               w->mirrored };
    int n = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        n += is_enabled(all[i]);
    return is_enabled(all[0]) && is_enabled(w->torch_distributed) ? n - 1 : n;
}

int distribution_read(struct parse_context *r)
{
    struct raw_section w = { 0 };
    if (!cfg_present(r->distribution))
        return 0;
    int rc = cfg_read(r->distribution, distribution_fields, &w);
    if (!cfg_is_object(r->distribution))
        return -1;
    if (count_enabled(&w) > 1)
        return cfg_error(r->distribution, DIAG_CONTRADICTION,
                         "more than one launcher is enabled (keep one)");
    if (read_mpi(r, w.mpi) | read_torch(r, w.torch_distributed, true) |
        read_torch(r, w.pytorchddp, false) | read_servers(r, w.parameter_server) |
        read_unsimulated(r, w.pytorchxla) | read_unsimulated(r, w.mirrored))
        rc = -1;
    /* after the launchers, which say how many processes there are */
    if (read_smdistributed(r, w.smdistributed, is_enabled(w.mpi),
                           is_enabled(w.torch_distributed)))
        rc = -1;
    if (rc == 0 && !r->launched)
        cfg_warn(r->distribution, DIAG_ASSUMED_LAUNCHER,
                 "nothing in it is enabled: a process for every GPU, "
                 "started by the script itself, is assumed");
    return rc;
}
