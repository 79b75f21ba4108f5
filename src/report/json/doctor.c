#include "report/doctor.h"

#include "doctor/variables.h"

#include <math.h>

#define KNOWN .flags = CONTRACT_MAY_NULL

static json_t *prediction_network(const void *p)
{
    return json_string(((const struct doctor_prediction *)p)->quality);
}

/* clang-format off */
static const struct contract_member prediction_rows[] = {
    CONTRACT_AT("step_time_s", REAL, doctor_prediction, step_s, "Time of one training step."),
    CONTRACT_AT("least_s", REAL, doctor_prediction, range_s[0], "The end that is faster, of the range of 80 % of runs."),
    CONTRACT_AT("most_s", REAL, doctor_prediction, range_s[1], "The end that is slower."),
    CONTRACT_AT("normal_least_s", REAL, doctor_prediction, normal_s[0], "Likewise of 95 % of runs: a run beyond is not normal."),
    CONTRACT_AT("normal_most_s", REAL, doctor_prediction, normal_s[1], "Likewise."),
    CONTRACT_AT("peak_bytes", REAL, doctor_prediction, peak_B, "On the fullest GPU, as nvidia-smi shows it."),
    CONTRACT_AT("allocated_bytes", REAL, doctor_prediction, allocated_B, "As PyTorch's allocator counts."),
    CONTRACT_AT("reserved_bytes", REAL, doctor_prediction, reserved_B, "Likewise."),
    CONTRACT_AT("capacity_bytes", REAL, doctor_prediction, capacity_B, "Of a GPU."),
    CONTRACT_AT("gpus", INT64, doctor_prediction, gpus, "Of the cluster."),
    CONTRACT_MADE("network", TEXT, prediction_network, "Its condition; empty of one node."),
    CONTRACT_AT("samples", REAL, doctor_prediction, samples, "Sequences of one step."),
    CONTRACT_AT("tokens", REAL, doctor_prediction, tokens, "Tokens of one step."),
    CONTRACT_AT("usd_per_hour", REAL, doctor_prediction, usd_per_h, "Of all instances.", KNOWN),
    CONTRACT_AT("breakdown_s", REALS, doctor_prediction, parts_s, "The parts of the step by the names of simulate's result.", .names = category_names),
    CONTRACT_END,
};
static const struct contract_object prediction = { "prediction", prediction_rows };

static const struct contract_member file_rows[] = {
    CONTRACT_AT("file", TEXT, logs_file, name, "The file."),
    CONTRACT_AT("lines", INT64, logs_file, n_lines, "Its lines."),
    CONTRACT_AT("cut_lines", INT64, logs_file, n_long, "Lines too long to be looked at whole."),
    CONTRACT_AT("events", INT64, logs_file, n_events, "Of a trace; 0: it is none."),
    CONTRACT_AT("cut", BOOL, logs_file, is_cut, "Whether the file is too large and its rest was left out."),
    CONTRACT_END,
};
static const struct contract_object file = { "file", file_rows };

/* Steps of one kind. */
struct kind {
    const char *name;
    struct logs_part p;
    double share;
};
static const struct contract_member kind_rows[] = {
    CONTRACT_AT("kind", TEXT, kind, name, "\"steady\", \"warm-up\", \"checkpoint\", \"evaluation\", \"pause\" or \"stall\"."),
    CONTRACT_AT("records", INT64, kind, p.n, "Records of such steps."),
    CONTRACT_AT("longest_s", REAL, kind, p.longest_s, "The longest time of a step among them."),
    CONTRACT_AT("lost_s", REAL, kind, p.lost_s, "Time beyond the median of steady steps, together."),
    CONTRACT_AT("lost_share", REAL, kind, share, "Likewise, of the time after warm-up; 0 of warm-up and steady steps."),
    CONTRACT_AT("first_step", INT64, kind, p.first_step, "-1: the log has no number."),
    CONTRACT_AT("first_line", INT64, kind, p.first_line, "Of the log."),
    CONTRACT_END,
};
static const struct contract_object kind = { "kind", kind_rows };

/* A timer, whose name is text of the log. */
struct named_timer {
    const char *name;
    struct logs_timer t;
};
static const struct contract_member timer_rows[] = {
    CONTRACT_AT("timer", TEXT, named_timer, name, "As the log names it."),
    CONTRACT_AT("lines", INT64, named_timer, t.n, "How often it was written."),
    CONTRACT_AT("least_s", REAL, named_timer, t.least_s, "Sum of the least of all ranks."),
    CONTRACT_AT("most_s", REAL, named_timer, t.most_s, "Sum of the most of all ranks."),
    CONTRACT_END,
};
static const struct contract_object timer = { "timer", timer_rows };

struct measured {
    const char *format;
    struct logs_steady s;
    double allocated_B, reserved_B;
};
/* clang-format on */

static json_t *kinds(const void *measured)
{
    const struct measured *m = measured;
    json_t *list = json_array();
    for (int i = 0; i < LOGS_KINDS; i++) {
        const struct kind x = { logs_kind_names[i], m->s.parts[i],
                                logs_steady_lost(&m->s, (enum logs_kind)i) };
        if (x.p.n)
            json_array_append_new(list, contract_json(&kind, &x));
    }
    return list;
}

/* clang-format off */
static const struct contract_member measured_rows[] = {
    CONTRACT_AT("format", TEXT, measured, format, "What the times were read from; null: the logs have none.", KNOWN),
    CONTRACT_AT("records", INT64, measured, s.n, "Times that were read."),
    CONTRACT_AT("doubtful", BOOL, measured, s.doubtful, "They are a progress bar's, and no line speaks of training."),
    CONTRACT_AT("median_s", REAL, measured, s.median_s, "Of steady steps; null where there are none.", KNOWN),
    CONTRACT_AT("p10_s", REAL, measured, s.p10_s, "Likewise.", KNOWN),
    CONTRACT_AT("p90_s", REAL, measured, s.p90_s, "Likewise.", KNOWN),
    CONTRACT_AT("mean_s", REAL, measured, s.mean_s, "Likewise.", KNOWN),
    CONTRACT_AT("drift", REAL, measured, s.drift, "Median of the last third of steady steps over that of the first; null where they are few.", KNOWN),
    CONTRACT_AT("trainer_tflops", REAL, measured, s.tflops, "TFLOP/s per GPU as the trainer counts.", KNOWN),
    CONTRACT_AT("loading_s", REAL, measured, s.loading_s, "A step's wait for data.", KNOWN),
    CONTRACT_AT("allocated_bytes", REAL, measured, allocated_B, "The most that PyTorch had allocated; null: not in the logs.", KNOWN),
    CONTRACT_AT("reserved_bytes", REAL, measured, reserved_B, "Likewise, reserved.", KNOWN),
    CONTRACT_MADE("kinds", LIST, kinds, "Steps by kind.", .of = &kind),
    CONTRACT_END,
};
static const struct contract_object measured = { "measured", measured_rows };
/* clang-format on */

static json_t *of_healthy(const void *x)
{
    return contract_json(&prediction, &((const struct report_doctor *)x)->d->healthy);
}

static double known(double v)
{
    return v > 0 ? v : (double)NAN;
}

static json_t *of_measured(const void *x)
{
    const struct doctor *d = ((const struct report_doctor *)x)->d;
    struct measured m = { .s = d->steady,
                          .allocated_B = known(d->logs->allocated_B),
                          .reserved_B = known(d->logs->reserved_B) };
    if (m.s.n)
        m.format = logs_format_name(m.s.format);
    else
        m.s.median_s = m.s.p10_s = m.s.p90_s = m.s.mean_s = m.s.drift = (double)NAN;
    return contract_json(&measured, &m);
}

static json_t *of_verdict(const void *x)
{
    const struct doctor *d = ((const struct report_doctor *)x)->d;
    return json_string(names_of(doctor_verdict_names, (int)d->verdict));
}

static json_t *of_ratio(const void *x)
{
    return contract_real(((const struct report_doctor *)x)->d->ratio);
}

static json_t *of_files(const void *x)
{
    const struct logs *l = ((const struct report_doctor *)x)->d->logs;
    return contract_list(&file, l->files.v, l->files.n, sizeof(*l->files.v));
}

static json_t *of_timers(const void *x)
{
    const struct logs *l = ((const struct report_doctor *)x)->d->logs;
    json_t *list = json_array();
    for (int32_t i = 0; i < l->timers.n; i++) {
        const struct named_timer named = { l->timers.of[i].name, l->timers.of[i] };
        json_array_append_new(list, contract_json(&timer, &named));
    }
    return list;
}

/* clang-format off */
static const struct contract_member gpu_rows[] = {
    CONTRACT_AT("index", INT64, logs_gpu, index, "Of the GPU in its host."),
    CONTRACT_AT("samples", INT64, logs_gpu, n, "Rows of the table."),
    CONTRACT_AT("busy_samples", INT64, logs_gpu, n_busy, "Of them, those of a busy GPU, over which sums are made."),
    CONTRACT_AT("clock_mhz", REAL, logs_gpu, clock, "Sum of the clocks of busy samples."),
    CONTRACT_AT("power_w", REAL, logs_gpu, power, "Sum of the power of busy samples."),
    CONTRACT_AT("used_samples", INT64, logs_gpu, n_used, "Rows with a utilization, from the first at work to the last."),
    CONTRACT_AT("used_percent", REAL, logs_gpu, used, "Sum of their utilization."),
    CONTRACT_AT("power_throttled", INT64, logs_gpu, n_power, "Busy samples throttled by power."),
    CONTRACT_AT("heat_throttled", INT64, logs_gpu, n_heat, "Busy samples throttled by heat."),
    CONTRACT_AT("pcie_width", REAL, logs_gpu, width, "The largest that was seen; 0: not in the logs."),
    CONTRACT_END,
};
static const struct contract_object gpu = { "gpu", gpu_rows };

/* What NCCL says; texts are of the log. */
struct nccl_view {
    const char *version, *network, *provider, *plugin;
    struct logs_nccl n;
};
static const struct contract_member nccl_rows[] = {
    CONTRACT_AT("lines", INT64, nccl_view, n.n_lines, "Lines of NCCL."),
    CONTRACT_AT("warnings", INT64, nccl_view, n.n_warnings, "Of them, warnings."),
    CONTRACT_AT("version", TEXT, nccl_view, version, "NCCL's version."),
    CONTRACT_AT("network", TEXT, nccl_view, network, "As \"Using network\" says."),
    CONTRACT_AT("provider", TEXT, nccl_view, provider, "Of libfabric."),
    CONTRACT_AT("plugin", TEXT, nccl_view, plugin, "The version of aws-ofi-nccl."),
    CONTRACT_AT("ranks", INT64, nccl_view, n.ranks, "Of the largest communicator; 0: not in the logs."),
    CONTRACT_AT("nics", INT64, nccl_view, n.nics, "Likewise."),
    CONTRACT_AT("channels", INT64, nccl_view, n.channels, "Of collectives, likewise."),
    CONTRACT_AT("by_libfabric", INT64, nccl_view, n.via[LOGS_NET_OFI], "Connections of channels."),
    CONTRACT_AT("by_verbs", INT64, nccl_view, n.via[LOGS_NET_IB], "Likewise."),
    CONTRACT_AT("by_sockets", INT64, nccl_view, n.via[LOGS_NET_SOCKET], "Likewise."),
    CONTRACT_AT("by_p2p", INT64, nccl_view, n.via[LOGS_P2P], "Likewise."),
    CONTRACT_AT("by_shared_memory", INT64, nccl_view, n.via[LOGS_SHM], "Likewise."),
    CONTRACT_AT("with_gpudirect", INT64, nccl_view, n.via_gdr, "Of those over the network."),
    CONTRACT_AT("nvls_gpus", INT64, nccl_view, n.nvls, "GPUs with NVLink SHARP."),
    CONTRACT_AT("no_nvls_gpus", INT64, nccl_view, n.no_nvls, "GPUs without."),
    CONTRACT_END,
};
static const struct contract_object nccl = { "nccl", nccl_rows };
/* clang-format on */

/* Shares of a step, measured and predicted. */
struct shares {
    struct doctor_shares s;
};
static const struct contract_member share_rows[] = {
    CONTRACT_AT("compute", REAL, shares, s.compute,
                "A kernel that computes runs; a share of the step."),
    CONTRACT_AT("communication", REAL, shares, s.communication,
                "Only kernels that communicate run, or a pipeline's bubble."),
    CONTRACT_AT("waiting", REAL, shares, s.waiting, "Nothing runs, or copies alone."),
    CONTRACT_END,
};
static const struct contract_object shares = { "shares", share_rows };

static json_t *of_traced(const void *x)
{
    const struct doctor *d = ((const struct report_doctor *)x)->d;
    const struct shares s = { d->traced };
    return d->has_trace ? contract_json(&shares, &s) : NULL;
}

static json_t *of_untraced(const void *x)
{
    const struct shares s = { doctor_shares_of(
        &((const struct report_doctor *)x)->d->healthy) };
    return contract_json(&shares, &s);
}

static json_t *of_traces(const void *x)
{
    return report_doctor_traces_json(((const struct report_doctor *)x)->d->logs);
}

static json_t *of_gpus(const void *x)
{
    const struct logs_smi *s = &((const struct report_doctor *)x)->d->logs->smi;
    return contract_list(&gpu, s->gpus, s->n, sizeof(*s->gpus));
}

static json_t *of_nccl(const void *x)
{
    const struct logs_nccl *n = &((const struct report_doctor *)x)->d->logs->nccl;
    const struct nccl_view view = { n->version, n->network, n->provider, n->plugin,
                                    *n };
    return n->n_lines ? contract_json(&nccl, &view) : NULL;
}

struct variable_view {
    const char *name, *value, *effect;
};

/* clang-format off */
static const struct contract_member variable_rows[] = {
    CONTRACT_AT("name", TEXT, variable_view, name, "Of the environment."),
    CONTRACT_AT("value", TEXT, variable_view, value, "As a log has it."),
    CONTRACT_AT("hurts", TEXT, variable_view, effect, "What it does to a run.", KNOWN),
    CONTRACT_END,
};
/* clang-format on */
static const struct contract_object variable = { "doctor_variable", variable_rows };

static json_t *of_variables(const void *x)
{
    const struct doctor *d = ((const struct report_doctor *)x)->d;
    const struct logs_variables *v = &d->logs->variables;
    json_t *list = json_array();
    for (int32_t i = 0; i < v->n; i++) {
        const struct variable_effect *e =
            variable_effect_of(&v->of[i], &d->healthy.facts);
        const struct variable_view view = { v->of[i].name, v->of[i].value,
                                            e ? e->text : NULL };
        json_array_append_new(list, contract_json(&variable, &view));
    }
    return list;
}

struct contradiction_view {
    const char *what, *said, *has, *file;
    int64_t line;
};

/* clang-format off */
static const struct contract_member contradiction_rows[] = {
    CONTRACT_AT("what", TEXT, contradiction_view, what, "Of the run: its GPU, ranks, degrees or sizes."),
    CONTRACT_AT("logs", TEXT, contradiction_view, said, "By the logs."),
    CONTRACT_AT("job", TEXT, contradiction_view, has, "By the job."),
    CONTRACT_AT("file", TEXT, contradiction_view, file, "The log; null: several lines, or a trace.", KNOWN),
    CONTRACT_AT("line", INT64, contradiction_view, line, "Its line; 0: likewise."),
    CONTRACT_END,
};
/* clang-format on */
static const struct contract_object contradiction = { "contradiction",
                                                      contradiction_rows };

static json_t *of_contradictions(const void *x)
{
    const struct doctor *d = ((const struct report_doctor *)x)->d;
    json_t *list = json_array();
    for (int32_t i = 0; i < d->other.n; i++) {
        const struct doctor_contradiction *c = &d->other.of[i];
        const struct contradiction_view view = {
            c->what, c->said, c->has,
            c->at.line ? d->logs->files.v[c->at.file].name : NULL, c->at.line
        };
        json_array_append_new(list, contract_json(&contradiction, &view));
    }
    return list;
}

static json_t *of_notices(const void *x)
{
    const struct logs *l = ((const struct report_doctor *)x)->d->logs;
    json_t *object = json_object();
    for (int i = 0; i < NOTICES; i++)
        if (l->notices.of[i].n)
            json_object_set_new(object, logs_notice_text((enum logs_notice)i),
                                json_integer(l->notices.of[i].n));
    return object;
}

static const char *kind_of(const struct doctor_cause *c)
{
    static const char *const names[] = { [DOCTOR_HEALTHY] = "as_described",
                                         [DOCTOR_UNKNOWN] = "nothing_known",
                                         [DOCTOR_KNOWN] = "known" };
    return names[c->kind];
}

static json_t *cause_kind(const void *cause)
{
    return json_string(kind_of(cause));
}

static json_t *cause_names(const void *cause)
{
    const struct doctor_cause *c = cause;
    json_t *list = json_array();
    for (int i = 0; i < 2 && c->of[i]; i++)
        json_array_append_new(list, json_string(c->of[i]->name));
    return list;
}

static json_t *cause_strengths(const void *cause)
{
    const struct doctor_cause *c = cause;
    json_t *list = json_array();
    for (int i = 0; i < 2 && c->of[i]; i++)
        json_array_append_new(list, json_real(c->strength[i]));
    return list;
}

/* clang-format off */
static const struct contract_member cause_rows[] = {
    CONTRACT_MADE("kind", TEXT, cause_kind, "\"known\"; \"as_described\": the run is as its job says; \"nothing_known\" explains it."),
    CONTRACT_MADE("hypotheses", LIST, cause_names, "Names of the rows, of two a pair; none of the other kinds.", .items = CONTRACT_TEXT),
    CONTRACT_MADE("strengths", LIST, cause_strengths, "Of each, the most probable; 1 where a hypothesis has none.", .items = CONTRACT_REAL),
    CONTRACT_AT("posterior", REAL, doctor_cause, posterior, "Its probability; all sum to 1."),
    CONTRACT_AT("log_evidence", REAL, doctor_cause, evidence, "Natural logarithm of what the logs say in words."),
    CONTRACT_AT("seen", TEXT, doctor_cause, why, "What that is.", KNOWN),
    CONTRACT_AT("step_time_s", REAL, doctor_cause, step_s, "Predicted with it.", KNOWN),
    CONTRACT_AT("allocated_bytes", REAL, doctor_cause, allocated_B, "Likewise.", KNOWN),
    CONTRACT_AT("saves_s", REAL, doctor_cause, saves_s, "What the mend takes off a measured step; below 0: the run is faster with it."),
    CONTRACT_AT("saves_usd_per_day", REAL, doctor_cause, usd_per_day, "Likewise, of a day's price.", KNOWN),
    CONTRACT_END,
};
static const struct contract_object cause = { "cause", cause_rows };
/* clang-format on */

static json_t *of_causes(const void *x)
{
    const struct doctor_causes *c = &((const struct report_doctor *)x)->d->causes;
    return contract_list(&cause, c->of, c->n, sizeof(c->of[0]));
}

/* A class, with its causes' places in the list of causes. */
static json_t *class_causes(const void *class)
{
    const struct doctor_class *k = class;
    json_t *list = json_array();
    for (int32_t i = 0; i < k->n; i++)
        json_array_append_new(list, json_integer(k->causes[i]));
    return list;
}

/* clang-format off */
static const struct contract_member class_rows[] = {
    CONTRACT_AT("family", NAME, doctor_class, family, "What its most probable cause is about.", .names = doctor_family_names),
    CONTRACT_AT("separate", BOOL, doctor_class, apart, "Whether the logs separate its cause from all others."),
    CONTRACT_AT("posterior", REAL, doctor_class, posterior, "Sum of its causes."),
    CONTRACT_MADE("causes", LIST, class_causes, "Places in the list of causes, from 0.", .items = CONTRACT_INT64),
    CONTRACT_END,
};
static const struct contract_object class = { "class", class_rows };
/* clang-format on */

static json_t *of_classes(const void *x)
{
    const struct doctor_causes *c = &((const struct report_doctor *)x)->d->causes;
    return contract_list(&class, c->classes, c->n_classes, sizeof(c->classes[0]));
}

/* clang-format off */
static const struct contract_member rows[] = {
    CONTRACT_AT("job", TEXT, report_doctor, job, "The job that was named."),
    CONTRACT_MADE("verdict", TEXT, of_verdict, "\"normal\": the median of steady steps is within the range of 95 % of runs; \"slower\", \"faster\", or \"no_step_time\"."),
    CONTRACT_MADE("ratio", REAL, of_ratio, "The measured time of a step over the predicted.", KNOWN),
    CONTRACT_MADE("prediction", OBJECT, of_healthy, "The job as it is described.", .of = &prediction),
    CONTRACT_MADE("measured", OBJECT, of_measured, "Steps of the logs.", .of = &measured),
    CONTRACT_MADE("causes", LIST, of_causes, "What explains the time, the most probable first; none where there is no time.", .of = &cause),
    CONTRACT_MADE("classes", LIST, of_classes, "Causes that logs of these kinds do not separate are one class; likewise.", .of = &class),
    CONTRACT_MADE("timers", LIST, of_timers, "Timers of the logs.", .of = &timer),
    CONTRACT_MADE("nccl", OBJECT, of_nccl, "What NCCL says; null: no line of it.", .of = &nccl, KNOWN),
    CONTRACT_MADE("traces", LIST, of_traces, "Traces of PyTorch's profiler, of a rank each.", .of = &report_doctor_trace),
    CONTRACT_MADE("traced_shares", OBJECT, of_traced, "Of the steps of all traces, mean; null: no trace marks steps.", .of = &shares, KNOWN),
    CONTRACT_MADE("predicted_shares", OBJECT, of_untraced, "Likewise, of the job as it is described.", .of = &shares),
    CONTRACT_MADE("contradictions", LIST, of_contradictions, "What the logs state of the run and the job does not have.", .of = &contradiction),
    CONTRACT_MADE("variables", LIST, of_variables, "Variables of the environment that the logs name.", .of = &variable),
    CONTRACT_MADE("gpus", LIST, of_gpus, "What nvidia-smi says, GPU by GPU.", .of = &gpu),
    CONTRACT_MADE("notices", MAP, of_notices, "Lines of note, by what they mean, and how often each occurred.", .items = CONTRACT_INT64),
    CONTRACT_MADE("files", LIST, of_files, "What was read.", .of = &file),
    CONTRACT_END,
};
static const struct contract_object result = { "result", rows };
/* clang-format on */
const struct contract report_doctor_contract = { "urn:smsim:doctor:1",
                                                 "The result of smsim doctor --json",
                                                 { &result } };
