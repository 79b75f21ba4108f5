/* Faults on purpose (faults.h): which hypothesis comes first, what the logs separate, and
 * that probabilities are such. tests/bench/bench_doctor.c does it over all jobs. */
#include "faults.h"

#include "doctor/signature.h"

#include <CUnit/CUnit.h>

void test_doctor_register(void);

/* A diagnosis of a job's fault with all logs; false: the job has no such fault. */
struct diagnosis {
    struct cfg_loader files;
    struct doctor_predictor by;
    struct logs logs;
    struct doctor d;
};

static struct diagnosis *diagnose_faults(const char *job, const struct faulty *f,
                                         enum fault_logs with, double slower)
{
    struct diagnosis *x = xmalloc(sizeof(*x));
    struct chance chance = { 99 };
    struct faulty_run r;
    cfg_loader_init(&x->files);
    doctor_predictor_init(&x->by, &x->files);
    struct cfg root = cfg_parse(&x->files, "job.json", job, strlen(job));
    CU_ASSERT_PTR_NOT_NULL_FATAL(root.json);
    if (!fault_run(&r, &x->by, root.json, f, fault_comm_sd, &chance)) {
        doctor_predictor_release(&x->by);
        cfg_loader_release(&x->files);
        free(x);
        return NULL;
    }
    r.step_s *= slower;
    fault_diagnose(&x->d, &x->logs, &x->by, root.json, &r, f, with, &chance);
    return x;
}

static struct diagnosis *diagnose(const char *job, const struct fault *f,
                                  enum fault_logs with, double slower)
{
    const struct faulty one = { { f, NULL } };
    return diagnose_faults(job, &one, with, slower);
}

static void release(struct diagnosis *x)
{
    logs_release(&x->logs);
    doctor_predictor_release(&x->by);
    cfg_loader_release(&x->files);
    free(x);
}

/* Probabilities of causes and of classes sum to 1, in order; each cause is in one
 * class. */
static void check_sums(const struct doctor_causes *c)
{
    double causes = 0, classes = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < c->n; i++) {
        causes += c->of[i].posterior;
        CU_ASSERT_TRUE(i == 0 || c->of[i].posterior <= c->of[i - 1].posterior);
    }
    for (int32_t i = 0; i < c->n_classes; i++) {
        classes += c->classes[i].posterior;
        n += c->classes[i].n;
    }
    CU_ASSERT_DOUBLE_EQUAL(causes, 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(classes, 1, 1e-9);
    CU_ASSERT_EQUAL(n, c->n);
}

/* With all logs, the right class is among the first three in nine of ten runs, and the
 * first in six of seven. */
static void test_faults(void)
{
    static const int jobs[] = { 0, 4, 6 };
    int n = 0, first = 0, three = 0;
    for (size_t j = 0; j < sizeof(jobs) / sizeof(jobs[0]); j++)
        for (int f = 1; f < N_FAULTS; f++) {
            struct diagnosis *x =
                diagnose(fault_jobs[jobs[j]], &faults[f], WITH_ALL, 1);
            if (!x)
                continue;
            int place = fault_place(&x->d, &faults[f]);
            n++;
            first += place == 1;
            three += place >= 1 && place <= 3;
            check_sums(&x->d.causes);
            release(x);
        }
    CU_ASSERT_TRUE(n >= 25);
    CU_ASSERT_TRUE(first >= 0.85 * n);
    CU_ASSERT_TRUE(three >= 0.9 * n);
    if (first < 0.85 * n || three < 0.9 * n)
        printf("of %d faults, %d first, %d among three\n", n, first, three);
}

/* A trace separates slow kernels from waiting for the host, which times alone do not. One
 * slow GPU elsewhere is as a slow network to a trace of one rank. */
static void test_traces(void)
{
    static const int jobs[] = { 0, 4, 6 };
    static const char *const names[] = { "throttled", "host-bound" };
    int n = 0, class_first = 0, first[N_FAULT_LOGS] = { 0 };
    for (size_t j = 0; j < sizeof(jobs) / sizeof(jobs[0]); j++)
        for (int f = 1; f < N_FAULTS; f++)
            for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
                if (strcmp(faults[f].name, names[k]) != 0 || faults[f].by == 1.3)
                    continue;
                n++;
                for (int with = WITH_TIMES; with <= WITH_TRACE; with++) {
                    struct diagnosis *x = diagnose(fault_jobs[jobs[j]], &faults[f],
                                                   (enum fault_logs)with, 1);
                    CU_ASSERT_PTR_NOT_NULL_FATAL(x);
                    first[with] += fault_own_place(&x->d, &faults[f]) == 1;
                    class_first +=
                        with == WITH_TRACE && fault_place(&x->d, &faults[f]) == 1;
                    release(x);
                }
            }
    CU_ASSERT_TRUE(n >= 6);
    CU_ASSERT_TRUE(class_first >= 0.8 * n);
    CU_ASSERT_TRUE(first[WITH_TRACE] > first[WITH_TIMES]);
    if (class_first < 0.8 * n || first[WITH_TRACE] <= first[WITH_TIMES])
        printf("of %d: times %d, trace %d, its class %d\n", n, first[WITH_TIMES],
               first[WITH_TRACE], class_first);
}

/* The host's calls in a trace say which of its parts is late; hidden collectives, that
 * gradients are reduced during backward. */
static void test_host_parts(void)
{
    static const char *const names[] = { "sync-points", "host-optimizer", "data-loader",
                                         "host-bound" };
    int n = 0, first = 0;
    for (int f = 1; f < N_FAULTS; f++)
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            if (strcmp(faults[f].name, names[k]) != 0)
                continue;
            struct diagnosis *x = diagnose(fault_jobs[4], &faults[f], WITH_TRACE, 1);
            CU_ASSERT_PTR_NOT_NULL_FATAL(x);
            n++;
            first += fault_own_place(&x->d, &faults[f]) == 1;
            for (int32_t i = 0; i < x->d.causes.n; i++) {
                const struct doctor_cause *c = &x->d.causes.of[i];
                if (!c->of[1] && c->of[0] && strcmp(c->of[0]->name, "no-overlap") == 0)
                    CU_ASSERT_TRUE(c->evidence < 0);
            }
            release(x);
        }
    CU_ASSERT_EQUAL(n, 5);
    CU_ASSERT_EQUAL(first, n);
    if (first != n)
        printf("of %d parts of the host, %d first\n", n, first);
}

/* Two faults at once: with all logs, both are among the first three answers. */
static void test_pairs(void)
{
    static const char *const pairs[][2] = { { "tcp", "throttled" },
                                            { "slow-gpu", "data-loader" },
                                            { "tcp", "data-loader" },
                                            { "throttled", "recomputation" },
                                            { "pcie-width", "host-bound" } };
    int n = 0, both = 0;
    for (int j = 0; j < N_FAULT_JOBS; j += 2)
        for (size_t k = 0; k < sizeof(pairs) / sizeof(pairs[0]); k++) {
            struct faulty two = { { NULL } };
            for (int f = N_FAULTS - 1; f > 0; f--)
                for (int s = 0; s < 2; s++)
                    if (strcmp(faults[f].name, pairs[k][s]) == 0)
                        two.of[s] = &faults[f];
            struct diagnosis *x = diagnose_faults(fault_jobs[j], &two, WITH_ALL, 1);
            if (!x)
                continue;
            int a = fault_place(&x->d, two.of[0]), b = fault_place(&x->d, two.of[1]);
            n++;
            both += a >= 1 && a <= 3 && b >= 1 && b <= 3;
            check_sums(&x->d.causes);
            release(x);
        }
    CU_ASSERT_TRUE(n >= 8);
    CU_ASSERT_TRUE(both >= 0.8 * n);
    if (n < 8 || both < 0.8 * n)
        printf("of %d pairs, both of %d among three\n", n, both);
}

static const struct doctor_cause *first_of(const struct diagnosis *x)
{
    return &x->d.causes.of[x->d.causes.classes[0].causes[0]];
}

static void test_healthy(void)
{
    for (int j = 0; j < N_FAULT_JOBS; j++) {
        struct diagnosis *x = diagnose(fault_jobs[j], &faults[0], WITH_ALL, 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(x);
        CU_ASSERT_EQUAL(x->d.verdict, DOCTOR_NORMAL);
        CU_ASSERT_EQUAL(first_of(x)->kind, DOCTOR_HEALTHY);
        release(x);
    }
}

/* Slower than anything known, with nothing in the logs that says why. */
static void test_unknown(void)
{
    static const double slower[] = { 25, 400 };
    for (int i = 0; i < 2; i++) {
        struct diagnosis *x = diagnose(fault_jobs[0], &faults[0], WITH_ALL, slower[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(x);
        CU_ASSERT_EQUAL(x->d.verdict, DOCTOR_SLOWER);
        CU_ASSERT_EQUAL(first_of(x)->kind, DOCTOR_UNKNOWN);
        release(x);
    }
}

/* Steps that differ are a sign of others on the network, stalls of the storage. */
static void test_spread(void)
{
    static const struct {
        const char *name;
        double p90_s;
        int64_t stalls;
        int sign;
    } cases[] = {
        { "noisy-neighbours", 1.4, 0, 1 },   { "noisy-neighbours", 1.1, 0, 0 },
        { "noisy-neighbours", 1.01, 0, -1 }, { "storage", 1.01, 6, 1 },
        { "storage", 1.01, 0, -1 },          { "storage", 1.01, 1, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct logs l;
        logs_init(&l);
        struct logs_steady s = { .n = 100, .p10_s = 1, .p90_s = cases[i].p90_s };
        s.parts[LOGS_STEADY].n = 90;
        s.parts[LOGS_STALL].n = cases[i].stalls;
        const struct doctor_prediction p = { .step_s = 1 };
        const struct doctor_view v = { &l, NULL, &s, &p };
        for (int32_t k = 0; k < n_hypotheses; k++) {
            const char *why = NULL;
            if (strcmp(hypotheses[k].name, cases[i].name) != 0)
                continue;
            double e = hypotheses[k].evidence(&v, &why);
            CU_ASSERT_EQUAL((e > 0) - (e < 0), cases[i].sign);
            CU_ASSERT_EQUAL(why != NULL, cases[i].sign > 0);
        }
        logs_release(&l);
    }
}

/* Times alone hardly separate hypotheses: they are one large class, of more families than
 * one, which memory and a trace make smaller, and NCCL's lines take apart. */
static void test_classes(void)
{
    int32_t members[N_FAULT_LOGS];
    for (int with = WITH_TIMES; with <= WITH_ALL; with++) {
        struct diagnosis *x =
            diagnose(fault_jobs[6], &faults[1], (enum fault_logs)with, 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(x);
        const struct doctor_causes *c = &x->d.causes;
        int32_t class = fault_class(&x->d, &faults[1]);
        members[with] = 0;
        for (int32_t i = 0; i < c->n; i++)
            members[with] += !c->of[i].of[1] && c->of[i].kind == DOCTOR_KNOWN &&
                             c->of[i].class[0] == class;
        CU_ASSERT_EQUAL(fault_place(&x->d, &faults[1]), 1);
        CU_ASSERT_TRUE(with != WITH_TIMES || !c->classes[0].apart);
        CU_ASSERT_TRUE(with != WITH_ALL || c->classes[0].apart);
        if (with == WITH_ALL) {
            CU_ASSERT_STRING_EQUAL(first_of(x)->of[0]->name, "tcp");
            CU_ASSERT_TRUE(first_of(x)->saves_s > 0);
            CU_ASSERT_TRUE(first_of(x)->usd_per_day > 0);
        }
        release(x);
    }
    CU_ASSERT_TRUE(members[WITH_TIMES] > 5);
    CU_ASSERT_TRUE(members[WITH_TIMES] > members[WITH_TRACE]);
    CU_ASSERT_EQUAL(members[WITH_ALL], 1);
}

/* Priors leave the greatest share to a run as described; each row has what it needs. */
static void test_rows(void)
{
    double sum = 0;
    for (int32_t i = 0; i < n_hypotheses; i++) {
        const struct hypothesis *h = &hypotheses[i];
        bool changes = h->changes[0].pointer || h->change;
        sum += h->prior;
        CU_ASSERT_TRUE(h->prior > 0 && h->text && h->check);
        CU_ASSERT_EQUAL(changes, hypothesis_is_simulated(h));
        for (int32_t k = 0; k < i; k++)
            CU_ASSERT_STRING_NOT_EQUAL(h->name, hypotheses[k].name);
    }
    CU_ASSERT_TRUE(sum < 0.7);
}

/* A variable that a log names raises the hypothesis that says what it does, of the fabric
 * that it acts on. */
static void test_variables(void)
{
    static const struct {
        const char *line, *hypothesis, *fabric;
        bool raises;
    } cases[] = {
        { "NCCL_NET=Socket", "tcp", NULL, true },
        { "NCCL_IB_DISABLE=1", "tcp", NULL, false }, /* EFA is no verbs of NCCL's */
        { "NCCL_IB_DISABLE=1", "tcp", "infiniband-ndr400", true },
        { "NCCL_IB_DISABLE=0", "tcp", "infiniband-ndr400", false },
        { "NCCL_IB_HCA=mlx5", "slow-network", "infiniband-ndr400", false },
        { "NCCL_IB_HCA=mlx5_0", "slow-network", "infiniband-ndr400", true },
        { "NCCL_NET_GDR_LEVEL=LOC", "no-gpudirect", NULL, true },
        { "FI_EFA_USE_DEVICE_RDMA=0", "no-gpudirect", NULL, true },
        { "NCCL_MAX_NCHANNELS=2", "few-channels", NULL, true },
        { "NCCL_MAX_NCHANNELS=16", "few-channels", NULL, false },
        { "NCCL_BUFFSIZE=1048576", "small-buffers", NULL, true },
        { "NCCL_BUFFSIZE=8388608", "small-buffers", NULL, false },
        { "NCCL_PROTO=LL", "nccl-protocol", NULL, true },
        { "NCCL_PROTO=^LL128", "nccl-protocol", NULL, false },
        { "NCCL_ALGO=Tree", "nccl-algorithm", NULL, true },
        { "NCCL_ALGO=Ring,Tree", "nccl-algorithm", NULL, false },
        { "NCCL_P2P_DISABLE=1", "no-nvlink", NULL, true },
        { "NCCL_NVLS_ENABLE=0", "nvls-off", NULL, true },
        { "CUDA_LAUNCH_BLOCKING=1", "host-bound", NULL, true },
    };
    struct cfg_loader files;
    struct doctor_predictor by;
    cfg_loader_init(&files);
    doctor_predictor_init(&by, &files);
    struct cfg job =
        cfg_parse(&files, "job.json", fault_jobs[6], strlen(fault_jobs[6]));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = { 0 };
        struct doctor_prediction p;
        struct logs l;
        const struct logs_steady none = { .n = 0 };
        const struct doctor_view v = { &l, NULL, &none, &p };
        const struct hypothesis *h = hypotheses;
        const char *why = NULL;
        CU_ASSERT_EQUAL_FATAL(doctor_predict(&p, &by, job.json, &err), 0);
        if (cases[i].fabric)
            p.facts.outside = FABRIC_INFINIBAND;
        logs_init(&l);
        logs_variables_read(&l.variables, cases[i].line);
        while (strcmp(h->name, cases[i].hypothesis) != 0)
            h++;
        double e = h->evidence(&v, &why);
        CU_ASSERT_EQUAL(e > 1, cases[i].raises);
        if ((e > 1) != cases[i].raises)
            printf("%s: %g\n", cases[i].line, e);
        CU_ASSERT_TRUE(!cases[i].raises || why);
        logs_release(&l);
    }
    doctor_predictor_release(&by);
    cfg_loader_release(&files);
}

/* Memory errors, repeated transfers and an older PCIe are seen of the GPU that has them. */
static void test_hardware_evidence(void)
{
    static const char *const header = "#Entity SMCLK GPUTL PCILG PCIMG RPCTR EDVTL";
    static const struct {
        const char *row, *hypothesis;
    } cases[] = {
        { "GPU 3 1980 99 4 5 0 0", "pcie-width" },
        { "GPU 3 1980 99 5 5 900 0", "pcie-width" },
        { "GPU 3 1980 99 5 5 0 2", "ecc" },
        { "GPU 3 1200 99 5 5 0 0", "slow-gpu" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct logs l;
        struct doctor_prediction p = { .step_s = 1 };
        const struct logs_steady none = { .n = 0 };
        const struct doctor_view v = { &l, NULL, &none, &p };
        char line[128];
        const char *why = NULL;
        logs_init(&l);
        strcpy(line, header);
        logs_dcgm_read(&l.smi, line);
        for (int round = 0; round < 4; round++)
            for (int g = 0; g < 8; g++) {
                snprintf(line, sizeof(line), "GPU %d 1980 99 5 5 0 0", g);
                logs_dcgm_read(&l.smi,
                               g == 3 && (round || i != 1) ? cases[i].row : line);
            }
        for (const struct hypothesis *h = hypotheses; h < hypotheses + n_hypotheses;
             h++) {
            bool of_these = strcmp(h->name, "pcie-width") == 0 ||
                            strcmp(h->name, "ecc") == 0 ||
                            strcmp(h->name, "slow-gpu") == 0;
            if (!of_these)
                continue;
            bool raised = h->evidence(&v, &why) > 1;
            CU_ASSERT_EQUAL(raised, strcmp(h->name, cases[i].hypothesis) == 0);
            if (raised != (strcmp(h->name, cases[i].hypothesis) == 0))
                printf("%s of %s\n", h->name, cases[i].row);
        }
        logs_release(&l);
    }
}

static const struct hypothesis *row_of(const char *name)
{
    for (int32_t i = 0; i < n_hypotheses; i++)
        if (strcmp(hypotheses[i].name, name) == 0)
            return &hypotheses[i];
    return NULL;
}

/* Senders and receivers of NCCL's connections; the timer of the optimizer. */
static void test_lines(void)
{
    static const struct {
        const char *line, *name;
        int sign;
    } cases[] = {
        { "h:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 8[0] [send] via NET/IB/0\n"
          "h:1:2 [0] NCCL INFO Channel 00 : 8[0] -> 0[0] [receive] via "
          "NET/IB/0/GDRDMA\n",
          "gdr-read", 1 },
        { "h:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA\n",
          "gdr-read", -1 },
        { "h:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 8[0] [send] via NET/IB/0\n",
          "no-gpudirect", 1 },
        { "h:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 8[0] [send] via NET/IB/0\n"
          "h:1:2 [0] NCCL INFO Channel 00 : 8[0] -> 0[0] [receive] via "
          "NET/IB/0/GDRDMA\n",
          "no-gpudirect", -1 },
        { "time (ms) | forward: 200 | optimizer: 500\n", "host-optimizer", 1 },
        { "time (ms) | forward: 200 | optimizer: 120\n", "host-optimizer", -1 },
        { "time (ms) | forward: 200\n", "host-optimizer", 0 },
        { "time (ms) | batch generator: 400\n", "data-loader", 1 },
    };
    const struct logs_steady s = { .n = 20, .median_s = 2, .loading_s = (double)NAN };
    const struct doctor_prediction p = { .step_s = 1,
                                         .parts_s = { [CATEGORY_OPTIMIZER] = 0.1 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct logs l;
        char text[256], *at = text, *end;
        const struct doctor_view v = { &l, NULL, &s, &p };
        const char *why = NULL;
        logs_init(&l);
        VEC_PUSH(&l.files, ((struct logs_file) { .name = "run.log" }));
        snprintf(text, sizeof(text), "%s", cases[i].line);
        for (; (end = strchr(at, '\n')); at = end + 1)
            logs_line(&l, at, (size_t)(end - at));
        double e = row_of(cases[i].name)->evidence(&v, &why);
        CU_ASSERT_EQUAL((e > 0) - (e < 0), cases[i].sign);
        CU_ASSERT_EQUAL(why != NULL, cases[i].sign != 0);
        struct doctor_prediction sharded = p;
        sharded.facts.sharding = SHARDING_OPTIMIZER; /* its timer has gathers */
        const struct doctor_view shards = { &l, NULL, &s, &sharded };
        if (strcmp(cases[i].name, "host-optimizer") == 0)
            CU_ASSERT_TRUE(row_of(cases[i].name)->evidence(&shards, &why) <= 0);
        logs_release(&l);
    }
}

/* Samples of the utilization: those before the first and after the last at work are left
 * out, as is the time of checkpoints. */
static void test_idle(void)
{
    struct logs_smi s = { .n = 0 };
    struct logs_steady steps = { .n = 20, .total_s = 100 };
    char line[64] = "index, utilization.gpu [%], clocks.sm [MHz]";
    CU_ASSERT_TRUE(logs_smi_read(&s, line));
    for (int i = 0; i < 50; i++) {
        int used = i < 5 || i >= 45 ? 0 : i % 2 ? 100 : 20;
        snprintf(line, sizeof(line), "0, %d %%, 1700 MHz", used);
        logs_smi_read(&s, line);
        snprintf(line, sizeof(line), "1, 0 %%, 210 MHz"); /* not the job's */
        logs_smi_read(&s, line);
    }
    CU_ASSERT_DOUBLE_EQUAL(doctor_idle_share(&s, &steps), 0.4, 1e-9);
    steps.parts[LOGS_AT_CHECKPOINT].lost_s = 20;
    CU_ASSERT_DOUBLE_EQUAL(doctor_idle_share(&s, &steps), 0.25, 1e-9);
    s.gpus[0].n_used = 10;
    CU_ASSERT_TRUE(isnan(doctor_idle_share(&s, &steps)));
    logs_smi_release(&s);
}

/* A job on 16 H100, and what logs state of another. */
static void test_contradictions(void)
{
    static const struct {
        const char *line, *what; /* NULL: it is the job's */
    } cases[] = {
        { "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)", "GPU" },
        { "GPU 0: NVIDIA H100 PCIe (UUID: GPU-1)", "GPU" },
        { "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)", NULL },
        { "using world size: 8, data-parallel size: 8", "ranks" },
        { "using world size: 16, data-parallel size: 16", NULL },
        { "  seq_length .......... 2048", "tokens of a sequence" },
        { "  seq_length .......... 4096", NULL },
        { "number of parameters: 6.74B", NULL }, /* vocabularies are padded */
        { "number of parameters: 13.0B", "parameters" },
        { "n0:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 32 cudaDev 0 - Init COMPLETE",
          "ranks of NCCL's largest communicator" },
        { "n0:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 4 cudaDev 0 - Init COMPLETE",
          NULL },
    };
    const struct doctor_prediction job = {
        .gpus = 16,
        .facts = { .sequence = 4096, .parameters = 6900000000, .gpu = "H100-SXM5-80GB" }
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct logs l;
        char line[128];
        logs_init(&l);
        VEC_PUSH(&l.files, ((struct logs_file) { .name = "run.log" }));
        snprintf(line, sizeof(line), "%s", cases[i].line);
        logs_line(&l, line, strlen(line));
        struct doctor_contradictions c = doctor_contradictions(&l, &job);
        CU_ASSERT_EQUAL(c.n, cases[i].what != NULL);
        if (c.n == 1 && cases[i].what)
            CU_ASSERT_STRING_EQUAL(c.of[0].what, cases[i].what);
        if (c.n != (cases[i].what != NULL))
            printf("%d contradictions: %s\n", (int)c.n, cases[i].line);
        logs_release(&l);
    }
}

void test_doctor_register(void)
{
    CU_pSuite s = CU_add_suite("doctor", NULL, NULL);
    CU_add_test(s, "traces", test_traces);
    CU_add_test(s, "parts of the host", test_host_parts);
    CU_add_test(s, "pairs", test_pairs);
    CU_add_test(s, "faults are found", test_faults);
    CU_add_test(s, "healthy runs", test_healthy);
    CU_add_test(s, "nothing known", test_unknown);
    CU_add_test(s, "steps that differ", test_spread);
    CU_add_test(s, "classes", test_classes);
    CU_add_test(s, "rows of the table", test_rows);
    CU_add_test(s, "variables", test_variables);
    CU_add_test(s, "hardware", test_hardware_evidence);
    CU_add_test(s, "lines of NCCL and timers", test_lines);
    CU_add_test(s, "utilization", test_idle);
    CU_add_test(s, "contradictions of the job", test_contradictions);
}
