/* Runs that go wrong on purpose: a job is simulated with a fault in it, its parts are
 * moved as predictions err, and what the trainer, NCCL and nvidia-smi would write is
 * written. Nothing of it is shared with the readers of logs and with the table of
 * hypotheses. */
#ifndef FAULTS_H
#define FAULTS_H

#include "base/strbuf.h"
#include "config/datadir.h"
#include "config/pointer.h"
#include "doctor/doctor.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Random numbers ------------------------------------------------------------------- */

struct chance {
    uint64_t state;
};

static double chance_share(struct chance *c)
{
    c->state = c->state * 6364136223846793005u + 1442695040888963407u;
    return (double)(c->state >> 11) / 9007199254740992.0;
}

static double chance_normal(struct chance *c)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += chance_share(c);
    return sum;
}

/* Faults --------------------------------------------------------------------------- */

enum fault_kind { FAULT_NONE, FAULT_KEYS, FAULT_KERNELS, FAULT_WAITS };

enum fault_trace { /* what it leaves in logs other than the trainer's */
                   TRACE_PLAIN,
                   TRACE_SOCKETS,
                   TRACE_NO_GDR,
                   TRACE_FEW_NICS,
                   TRACE_NARROW,
                   TRACE_PROTOCOL,
                   TRACE_ALL_SLOW,
                   TRACE_ONE_SLOW,
                   TRACE_LOADING,
                   TRACE_SYNC,
                   TRACE_OPTIMIZER
};

struct fault {
    const char *name;   /* of the answer that is right */
    const char *family; /* of the class that is */
    enum fault_kind kind;
    double by; /* kernels take so many times as long; waits of so much of the step */
    const char *keys[2][2];
    enum fault_trace trace;
};

static const struct fault faults[] = {
    { "healthy", "", FAULT_NONE, 0, { { NULL } }, TRACE_PLAIN },
    { "tcp",
      "network",
      FAULT_KEYS,
      0,
      { { "/cluster/fabric", "\"ena-tcp-25g\"" } },
      TRACE_SOCKETS },
    { "no-gpudirect",
      "network",
      FAULT_KEYS,
      0,
      { { "/cluster/fabric", "\"efa-2024-nogdr\"" } },
      TRACE_NO_GDR },
    { "slow-network",
      "network",
      FAULT_KEYS,
      0,
      { { "/cluster/network_bandwidth", "\"x0.4\"" } },
      TRACE_FEW_NICS },
    { "slow-network",
      "network",
      FAULT_KEYS,
      0,
      { { "/cluster/network_bandwidth", "\"x0.1\"" } },
      TRACE_FEW_NICS },
    { "pcie-width",
      "network",
      FAULT_KEYS,
      0,
      { { "/cluster/network_bandwidth", "\"x0.3\"" } },
      TRACE_NARROW },
    { "nccl-protocol",
      "network",
      FAULT_KEYS,
      0,
      { { "/software/environment/NCCL_PROTO", "\"LL\"" } },
      TRACE_PROTOCOL },
    { "throttled", "gpu", FAULT_KERNELS, 1.3, { { NULL } }, TRACE_ALL_SLOW },
    { "throttled", "gpu", FAULT_KERNELS, 1.8, { { NULL } }, TRACE_ALL_SLOW },
    { "slow-gpu", "gpu", FAULT_KERNELS, 1.4, { { NULL } }, TRACE_ONE_SLOW },
    { "slow-gpu", "gpu", FAULT_KERNELS, 2.2, { { NULL } }, TRACE_ONE_SLOW },
    { "data-loader", "waiting", FAULT_WAITS, 0.5, { { NULL } }, TRACE_LOADING },
    { "data-loader", "waiting", FAULT_WAITS, 1.5, { { NULL } }, TRACE_LOADING },
    { "host-bound", "waiting", FAULT_WAITS, 0.6, { { NULL } }, TRACE_PLAIN },
    { "sync-points", "waiting", FAULT_WAITS, 0.6, { { NULL } }, TRACE_SYNC },
    { "host-optimizer", "waiting", FAULT_WAITS, 0.4, { { NULL } }, TRACE_OPTIMIZER },
    { "unfused-attention",
      "job",
      FAULT_KEYS,
      0,
      { { "/training/attention", "\"unfused\"" } },
      TRACE_PLAIN },
    { "fp32",
      "job",
      FAULT_KEYS,
      0,
      { { "/training/precision", "\"fp32\"" },
        { "/training/attention", "\"memory-efficient\"" } },
      TRACE_PLAIN },
    { "recomputation",
      "job",
      FAULT_KEYS,
      0,
      { { "/training/activation_checkpointing", "\"full\"" } },
      TRACE_PLAIN },
    { "no-overlap",
      "job",
      FAULT_KEYS,
      0,
      { { "/parallelism/overlap", "false" } },
      TRACE_PLAIN },
};
enum { N_FAULTS = sizeof(faults) / sizeof(faults[0]) };

/* What is known of a run: steps; memory too; and logs of NCCL, nvidia-smi, timers. */
enum fault_logs { WITH_TIMES, WITH_MEMORY, WITH_TRACE, WITH_ALL, N_FAULT_LOGS };

struct faulty_run {
    double step_s, allocated_B;
    double computes_s, waits_s; /* of it, on a GPU that is not the slow one */
    double hidden_s, sync_s; /* gradients' reduction under kernels, and in the open */
    struct doctor_prediction healthy;
};

/* Parts of a step as predictions err: kernels by 6 %, each kind of communication by
 * comm_sd, memory by 5 %, and the whole by 5 %, standard deviations of the logarithm.
 * Published steps of network-bound jobs that served no fit lie from -7 to +15 % of the
 * prediction in four cases of five (docs/validation/ranges.md), a deviation of 9 %: with
 * 10 % of their communication, shipped jobs have 10 %. */
static const double fault_comm_sd = 0.1;

/* Of the whole alone, as published steps that served no fit err: a tenth beyond each end of
 * what is stated of the job (docs/validation/ranges.md, "The shape of errors"). */
static const double fault_as_published = -1;

static double published_error(const struct doctor_prediction *p, struct chance *c)
{
    double end = log(p->tenth_s[chance_share(c) < 0.5] / p->step_s);
    return exp(-end * log(1 - chance_share(c)) / log(5));
}

static double moved_step(const struct doctor_prediction *p, struct chance *c,
                         double comm_sd, struct faulty_run *r)
{
    double *computes_s = &r->computes_s, *waits_s = &r->waits_s;
    bool published = comm_sd == fault_as_published;
    double kernels = published ? 1 : exp(0.06 * chance_normal(c)), step_s = p->step_s;
    const double *t = p->parts_s;
    *computes_s =
        kernels * (t[CATEGORY_COMPUTE] + t[CATEGORY_RECOMPUTE] + t[CATEGORY_OPTIMIZER]);
    *waits_s = t[CATEGORY_OTHER] + t[CATEGORY_INPUT_WAIT] + t[CATEGORY_OFFLOAD_EXPOSED];
    for (int i = 0; i < CATEGORY_N; i++) {
        bool hidden = i == CATEGORY_DATA_COMM_HIDDEN;
        bool is_kernel = i == CATEGORY_COMPUTE || i == CATEGORY_RECOMPUTE ||
                         i == CATEGORY_OPTIMIZER || i == CATEGORY_PIPELINE_BUBBLE;
        double factor =
            is_kernel || published ? kernels : exp(comm_sd * chance_normal(c));
        if (i == CATEGORY_DATA_COMM_EXPOSED)
            r->sync_s = factor * p->parts_s[i];
        if (hidden)
            r->hidden_s = factor * p->parts_s[i];
        if (!hidden)
            step_s += p->parts_s[i] * (factor - 1);
    }
    step_s = fmax(step_s, 0.2 * p->step_s);
    double all = published ? published_error(p, c) : exp(0.05 * chance_normal(c));
    *computes_s = fmin(*computes_s, step_s) * all;
    *waits_s = fmin(*waits_s * all, step_s * all - *computes_s);
    r->sync_s *= all;
    r->hidden_s = fmin(r->hidden_s * all, *computes_s);
    return step_s * all;
}

/* A fault, or two at once; the second is NULL of one. */
struct faulty {
    const struct fault *of[2];
};

static const struct fault *fault_that(const struct faulty *f, enum fault_trace leaves)
{
    for (int i = 0; i < 2; i++)
        if (f->of[i] && f->of[i]->trace == leaves)
            return f->of[i];
    return NULL;
}

static void change_keys(json_t *tree, const struct faulty *f)
{
    struct err err = { 0 };
    if (fault_that(f, TRACE_FEW_NICS) || fault_that(f, TRACE_SOCKETS) ||
        fault_that(f, TRACE_NO_GDR))
        json_object_del(json_object_get(tree, "cluster"), "fabric");
    for (int k = 0; k < 2 && f->of[k]; k++)
        for (int i = 0; i < 2 && f->of[k]->keys[i][0]; i++)
            pointer_set(tree, f->of[k]->keys[i][0],
                        json_loads(f->of[k]->keys[i][1], JSON_DECODE_ANY, NULL), &err);
}

static void change_parts(struct doctor_prediction *p, const struct fault *f)
{
    double kernels = p->parts_s[CATEGORY_COMPUTE] + p->parts_s[CATEGORY_RECOMPUTE];
    if (f->kind == FAULT_KERNELS) {
        p->step_s += (f->by - 1) * kernels;
        p->parts_s[CATEGORY_COMPUTE] += (f->by - 1) * kernels;
    }
    if (f->kind == FAULT_WAITS) {
        p->parts_s[CATEGORY_OTHER] += f->by * p->step_s;
        p->step_s *= 1 + f->by;
    }
}

/* What a job does with faults in it, as it is simulated; false: it has no such fault. */
static bool fault_simulate(struct doctor_prediction *p, struct doctor_predictor *by,
                           const json_t *job, const struct faulty *f)
{
    struct err err = { 0 };
    json_t *tree = json_deep_copy(job);
    change_keys(tree, f);
    bool ran = doctor_predict(p, by, tree, &err) == 0;
    json_decref(tree);
    for (int k = 0; ran && k < 2 && f->of[k]; k++) {
        ran = f->of[k]->family[0] != 'n' || p->facts.outside >= 0;
        change_parts(p, f->of[k]);
    }
    return ran;
}

/* Whether a run differs from another by 10 % of the time or of the memory. */
static bool fault_shows(const struct doctor_prediction *with,
                        const struct doctor_prediction *without)
{
    return with->step_s / without->step_s - 1 >= 0.1 ||
           fabs(with->allocated_B / without->allocated_B - 1) >= 0.1;
}

/* Each fault shows: alone, and of two in addition to the other. */
static bool all_show(const struct doctor_prediction *p, struct doctor_predictor *by,
                     const json_t *job, const struct faulty *f,
                     const struct doctor_prediction *healthy)
{
    for (int k = 0; k < 2 && f->of[k]; k++) {
        struct doctor_prediction one;
        const struct faulty alone = { { f->of[k], NULL } };
        bool ran = fault_simulate(&one, by, job, &alone);
        if (!ran || (f->of[k]->kind != FAULT_NONE && !fault_shows(&one, healthy)) ||
            (f->of[1] && !fault_shows(p, &one)))
            return false;
    }
    return true;
}

/* The run of a job with faults; false: it has no such fault, or one that does not
 * show. */
static bool fault_run(struct faulty_run *r, struct doctor_predictor *by,
                      const json_t *job, const struct faulty *f, double comm_sd,
                      struct chance *c)
{
    struct err err = { 0 };
    struct doctor_prediction p;
    if (doctor_predict(&r->healthy, by, job, &err) || !fault_simulate(&p, by, job, f) ||
        !all_show(&p, by, job, f, &r->healthy))
        return false;
    r->step_s = moved_step(&p, c, comm_sd, r);
    const struct fault *one = fault_that(f, TRACE_ONE_SLOW);
    if (one)
        r->computes_s /= one->by;
    r->allocated_B = p.allocated_B * exp(0.05 * chance_normal(c));
    return true;
}

/* What is written ------------------------------------------------------------------ */

static void write_steps(struct strbuf *out, const struct faulty_run *r,
                        struct chance *c)
{
    for (int i = 1; i <= 40; i++) {
        double t = r->step_s * exp(0.01 * chance_normal(c));
        if (i == 1)
            t *= 4;
        if (i == 21) {
            strbuf_addstr(out, "saving checkpoint at iteration 20 to /fsx/run\n");
            t *= 2;
        }
        strbuf_printf(
            out,
            " [2026-01-01 00:00:00] iteration %8d/    1000 | consumed samples: "
            "%12d | elapsed time per iteration (ms): %.1f | learning rate: "
            "1.0E-05 | global batch size: %5.0f | lm loss: 2.0E+00 |\n",
            i, i, t * 1e3, r->healthy.samples);
    }
}

static void write_nccl(struct strbuf *out, const struct faulty_run *r,
                       const struct faulty *of)
{
    const struct doctor_facts *f = &r->healthy.facts;
    const char *net = fault_that(of, TRACE_SOCKETS) ? "Socket"
                      : f->outside == FABRIC_EFA    ? "Libfabric"
                      : f->outside == FABRIC_TCP    ? "Socket"
                                                    : "IB";
    bool gdr = strcmp(net, "Socket") != 0 && !fault_that(of, TRACE_NO_GDR);
    strbuf_addstr(out, "NCCL version 2.21.5+cuda12.4\n");
    for (int i = 0; i < 8; i++) {
        strbuf_printf(out, "n0:%d:%d [%d] NCCL INFO Channel %02d/0 : %d[%d] -> %d[%d] ",
                      i + 10, i + 90, i, i, i, i, i + 1, i + 1);
        strbuf_addstr(out, "via P2P/CUMEM/read\n");
        if (f->outside >= 0)
            strbuf_printf(
                out,
                "n0:%d:%d [%d] NCCL INFO Channel %02d/0 : 7[7] -> 8[0] [send] "
                "via NET/%s/0%s\n",
                i + 10, i + 90, i, i, net, gdr ? "/GDRDMA" : "");
    }
    if (f->outside == FABRIC_EFA && !fault_that(of, TRACE_SOCKETS))
        strbuf_printf(
            out,
            "n0:1:2 [0] NCCL INFO NET/OFI Selected Provider is efa (found %d "
            "nics)\n",
            (int)(fault_that(of, TRACE_FEW_NICS) ? (f->nics + 1) / 2 : f->nics));
}

static void write_call(struct strbuf *out, const char *category, const char *name,
                       double from, double to, int id)
{
    strbuf_printf(out,
                  "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"tid\":1,\"ts\":%.3f,"
                  "\"dur\":%.3f,\"args\":{\"correlation\":%d}},",
                  category, name, from, to - from, id);
}

/* What the host does while the GPU waits, to a time: of two faults, one after the
 * other. */
static void write_waits(struct strbuf *out, const struct faulty *of, double waits,
                        double computes, double to, int id)
{
    double sum = 0, at = to - waits;
    for (int k = 0; k < 2 && of->of[k]; k++)
        sum += of->of[k]->kind == FAULT_WAITS ? of->of[k]->by : 0;
    for (int k = 0; k < 2 && of->of[k]; k++) {
        const struct fault *f = of->of[k];
        double end = f->kind == FAULT_WAITS ? at + waits * f->by / sum : at;
        if (f->trace == TRACE_LOADING)
            write_call(out, "user_annotation", "enumerate(DataLoader)#x.__next__", at,
                       end, id);
        if (f->trace == TRACE_OPTIMIZER)
            write_call(out, "user_annotation", "Optimizer.step#AdamW.step", at, end,
                       id);
        if (f->trace == TRACE_SYNC)
            write_call(out, "cuda_runtime", "cudaStreamSynchronize", at - computes,
                       at + 0.01 * waits, id);
        at = end;
    }
}

/* A trace of three steps: kernels, of which the first hides some of the reduction, a
 * collective and a gap, one after the other. */
static void write_trace(struct strbuf *out, const struct faulty_run *r,
                        const struct faulty *of, struct chance *c)
{
    double at = 1e12;
    strbuf_addstr(out, "{\"schemaVersion\":1,\"traceEvents\":[");
    for (int i = 0; i < 3; i++) {
        double by = 1e6 * exp(0.01 * chance_normal(c)), computes = r->computes_s * by,
               waits = r->waits_s * by, step = r->step_s * by;
        write_call(out, "user_annotation",
                   i ? i > 1 ? "ProfilerStep#2" : "ProfilerStep#1" : "ProfilerStep#0",
                   at, at + step, -1);
        for (int k = 0; k < 3; k++)
            write_call(out, "cuda_runtime", "cudaLaunchKernel", at - 1, at, 4 * i + k);
        write_call(out, "kernel", "nvjet_x", at, at + computes, 4 * i);
        write_call(out, "kernel", "ncclDevKernel_AllReduce", at, at + r->hidden_s * by,
                   4 * i + 1);
        write_call(out, "kernel", "ncclDevKernel_AllReduce", at + computes,
                   at + fmax(computes, step - waits), 4 * i + 2);
        at += step;
        write_waits(out, of, waits, computes, at, 4 * i + 3);
    }
    strbuf_addstr(out, "{}]}");
}

static void take_trace(struct logs *l, const char *text)
{
    struct kineto *k = kineto_new();
    struct kineto_rank rank;
    kineto_feed(k, text, strlen(text));
    kineto_end(k, &rank);
    kineto_free(k);
    VEC_PUSH(&l->traces, rank);
}

/* Samples of the utilization: gaps that are shorter than a sample are hidden in part. */
static int used_percent(double waits, double hidden, struct chance *c)
{
    double used = 1 - waits * hidden + 0.08 * chance_normal(c);
    return (int)(100 * fmax(fmin(used, 1), 0.01));
}

static void write_smi(struct strbuf *out, const struct faulty_run *r,
                      const struct faulty *f, struct chance c)
{
    double hidden = 0.75 + 0.25 * chance_share(&c), waits = r->waits_s / r->step_s;
    strbuf_addstr(out, "index, clocks.current.sm [MHz], clocks.max.sm [MHz], "
                       "utilization.gpu [%], clocks_throttle_reasons.active, "
                       "pcie.link.width.current, pcie.link.width.max\n");
    for (int k = 0; k < 8; k++)
        for (int g = 0; g < 8; g++) {
            bool slow = fault_that(f, TRACE_ALL_SLOW) ||
                        (fault_that(f, TRACE_ONE_SLOW) && g == 3);
            int lanes = fault_that(f, TRACE_NARROW) && g == 5 ? 8 : 16;
            strbuf_printf(out, "%d, %d MHz, 1980 MHz, %d %%, 0x%016x, %d, 16\n", g,
                          (slow ? 1100 : 1700) + 5 * k, used_percent(waits, hidden, &c),
                          slow ? 4 : 0, lanes);
        }
}

static void write_timers(struct strbuf *out, const struct faulty_run *r,
                         const struct faulty *of)
{
    const struct fault *f = fault_that(of, TRACE_LOADING);
    double loading = f ? f->by / (1 + f->by) : 0.004;
    strbuf_printf(out,
                  "(min, max) time across ranks (ms):\n    batch-generator "
                  "................: (%.2f, %.2f)\n    all-grads-sync "
                  ".................: (%.2f, %.2f)\n",
                  0.9 * loading * r->step_s * 1e3, loading * r->step_s * 1e3,
                  0.9 * r->sync_s * 1e3, r->sync_s * 1e3);
}

/* The diagnosis of what a run writes. */
static void fault_diagnose(struct doctor *d, struct logs *l,
                           struct doctor_predictor *by, const json_t *job,
                           const struct faulty_run *r, const struct faulty *f,
                           enum fault_logs with, struct chance *c)
{
    struct strbuf text;
    struct err err = { 0 };
    strbuf_init(&text);
    if (with >= WITH_MEMORY)
        strbuf_printf(
            &text,
            "[Rank 0] (after 1 iterations) memory (MB) | allocated: 1.0 | max "
            "allocated: %.2f | reserved: 1.0\n",
            r->allocated_B / 0x1p20);
    write_steps(&text, r, c);
    if (with == WITH_ALL) {
        if (fault_that(f, TRACE_PROTOCOL))
            strbuf_addstr(&text, "n0:10:90 [0] NCCL INFO NCCL_PROTO set by environment "
                                 "to LL\n");
        write_nccl(&text, r, f);
        write_smi(&text, r, f, *c);
        write_timers(&text, r, f);
    }
    logs_init(l);
    VEC_PUSH(&l->files, ((struct logs_file) { .name = "run.log" }));
    char *at = text.s;
    while (at && *at) {
        char *end = strchr(at, '\n');
        *end = '\0';
        logs_line(l, at, (size_t)(end - at));
        at = end + 1;
    }
    logs_end(l);
    if (with == WITH_TRACE) {
        text.len = 0;
        write_trace(&text, r, f, c);
        take_trace(l, text.s);
    }
    if (doctor_judge(d, by, job, l, &err))
        d->causes.n = 0;
    strbuf_release(&text);
}

/* What is right -------------------------------------------------------------------- */

/* The class of a fault's hypothesis; -1: it was not tried. */
static int32_t fault_class(const struct doctor *d, const struct fault *f)
{
    for (int32_t i = 0; i < d->causes.n; i++) {
        const struct doctor_cause *c = &d->causes.of[i];
        if (c->kind == DOCTOR_KNOWN && !c->of[1] &&
            strcmp(c->of[0]->name, f->name) == 0)
            return c->class[0];
    }
    return -1;
}

static bool class_names(const struct doctor *d, const struct doctor_class *k,
                        const struct fault *f)
{
    if (f->kind == FAULT_NONE)
        return d->causes.of[k->causes[0]].kind == DOCTOR_HEALTHY;
    int32_t class = fault_class(d, f);
    return class >= 0 && (k->of[0] == class || (k->of[0] >= 0 && k->of[1] == class));
}

/* The place of the first class that names the fault, from 1; 0: none does. A class of
 * two faults names both. */
static int fault_place(const struct doctor *d, const struct fault *f)
{
    for (int32_t i = 0; i < d->causes.n_classes; i++)
        if (class_names(d, &d->causes.classes[i], f))
            return i + 1;
    return 0;
}

/* The place of the first cause that names the fault itself, from 1; 0: none does. */
static int fault_own_place(const struct doctor *d, const struct fault *f)
{
    for (int32_t i = 0; i < d->causes.n; i++)
        for (int k = 0; k < 2; k++) {
            const struct hypothesis *h = d->causes.of[i].of[k];
            if (h && strcmp(h->name, f->name) == 0)
                return i + 1;
        }
    return 0;
}

/* Jobs: the shipped ones, and others of usual kinds. */
static const char *const fault_jobs[] = {
    "{'model':'llama2-7b','cluster':{'instance':'p4d.24xlarge','count':4},'training':{"
    "'sequence_length':4096,'micro_batch_size':1,'precision':'bf16'},'parallelism':{"
    "'library':'fsdp'}}",
    "{'model':'llama2-7b','cluster':{'instance':'p5.48xlarge','count':8},'training':{"
    "'sequence_length':4096,'micro_batch_size':2,'precision':'bf16'},'parallelism':{"
    "'library':'fsdp'}}",
    "{'model':'llama2-7b','cluster':{'instance':'p4d.24xlarge','count':8},'training':{"
    "'sequence_length':2048,'micro_batch_size':2,'precision':'bf16'},'parallelism':{"
    "'library':'deepspeed','sharding':{'strategy':'full'}}}",
    "{'model':'llama2-70b','cluster':{'instance':'p5.48xlarge','count':16},'training':{"
    "'sequence_length':4096,'micro_batch_size':1,'global_batch_size':256,'precision':"
    "'bf16'},'parallelism':{'library':'megatron','tensor':8,'pipeline':4}}",
    "{'model':'gpt2-xl','cluster':{'instance':'p4d.24xlarge','count':2},'training':{"
    "'sequence_length':1024,'micro_batch_size':4,'precision':'amp_bf16'}}",
    "{'model':'bert-large-uncased','cluster':{'instance':'p3dn.24xlarge','count':8},"
    "'training':{'sequence_length':512,'micro_batch_size':4,'precision':'amp_fp16'}}",
    "{'model':'llama2-70b','cluster':{'instance':'p5.48xlarge','count':16},'training':{"
    "'sequence_length':4096,'micro_batch_size':1,'precision':'bf16',"
    "'activation_checkpointing':'full'},'parallelism':{'library':'fsdp'}}",
};
enum { N_FAULT_JOBS = sizeof(fault_jobs) / sizeof(fault_jobs[0]) };

#endif
