/* Folded is unfolded: random small jobs, drawn with a fixed seed, take the same time
 * whether one rank of a stage is simulated or each. */
#include "step_bench.h"

#include "run/groups.h"
#include "sample.h"

void test_fold_register(void);

enum { DRAWS = 1500, LEAST = 500 };

static uint64_t state;

static uint32_t draw(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

#define PICK(a) (a)[draw(sizeof(a) / sizeof((a)[0]))]

#define HEAD                                                              \
    "{'model':{'model_type':'gpt2','n_layer':8,'n_embd':512,'n_head':16," \
    "'vocab_size':8192,'n_positions':256},"                               \
    "'cluster':{'instance':'%s','count':%u},"                             \
    "'training':{'sequence_length':256,'micro_batch_size':2,'precision':'fp16'%s},"

static const int degrees[] = { 1, 1, 2, 4, 8 };
static const char *const placements[] = { "DPT", "DTP", "PDT", "PTD", "TDP", "TPD" };

static void draw_smp_v1(char *text, size_t size, const char *instance, uint32_t count)
{
    int pipeline = PICK(degrees), tensor = PICK(degrees);
    uint32_t microbatches = 1 + draw(4);
    snprintf(text, size,
             HEAD "'distribution':{'smdistributed':{'modelparallel':{'enabled':True,"
                  "'parameters':{'pipeline_parallel_degree':%d,"
                  "'tensor_parallel_degree':%d,'microbatches':%u,'ddp':True,"
                  "'placement_strategy':'%s'}}},'mpi':{'enabled':True,"
                  "'processes_per_host':%d}}}",
             instance, count, "", pipeline, tensor, microbatches, PICK(placements),
             strcmp(instance, "p3.8xlarge") == 0 ? 4 : 8);
}

static void draw_library(char *text, size_t size, const char *instance, uint32_t count)
{
    static const char *const libraries[] = {
        "'library':'ddp'",      "'library':'fsdp'",  "'library':'deepspeed'",
        "'library':'megatron'", "'library':'smp'",   "'library':'parameter-server'",
        "'library':'horovod'",  "'backend':'smddp'",
    };
    static const char *const strategies[] = { "none", "none", "optimizer", "gradients",
                                              "full" };
    char sharding[96] = "", microbatches[32];
    const char *strategy = PICK(strategies), *library = PICK(libraries);
    int tensor = PICK(degrees), pipeline = PICK(degrees), degree = PICK(degrees);
    int context = draw(3) ? 1 : PICK(degrees);
    if (strcmp(strategy, "none") != 0 && degree > 1 && draw(2))
        snprintf(sharding, sizeof(sharding),
                 ",'sharding':{'strategy':'%s','degree':%d}", strategy, degree);
    else if (strcmp(strategy, "none") != 0)
        snprintf(sharding, sizeof(sharding), ",'sharding':{'strategy':'%s'}", strategy);
    snprintf(microbatches, sizeof(microbatches), ",'microbatches':%u", 1 + draw(4));
    snprintf(text, size,
             HEAD "'parallelism':{%s,'tensor':%d,'pipeline':%d,'context':%d%s,"
                  "'placement':'%s'%s}}",
             instance, count, microbatches, library, tensor, pipeline, context,
             tensor > 1 && draw(2) ? ",'sequence_parallel':true" : "", PICK(placements),
             sharding);
}

static void draw_job(char *text, size_t size)
{
    static const char *const instances[] = { "p3.16xlarge",     "p3.16xlarge",
                                             "p3dn.24xlarge",   "p3.8xlarge",
                                             "p4d.24xlarge",    "p5.48xlarge",
                                             "h100-80gb-2x400", "g5.48xlarge" };
    const char *instance = PICK(instances);
    uint32_t count = 1 + draw(3);
    (draw(5) ? draw_library : draw_smp_v1)(text, size, instance, count);
}

/* Whether both runs could be made; jobs that the rules refuse are not. */
static bool times(const char *text, double seconds[2])
{
    struct job j;
    struct err err = { 0 };
    cfg_loader_init(&j.loader);
    struct cfg root = cfg_parse(&j.loader, "drawn", text, strlen(text));
    bool ran = scenario_read(&j.s, &j.loader, root) == 0;
    for (int unfold = 0; unfold < 2 && ran; unfold++) {
        struct simulate_result r;
        const struct simulate_options how = { .network = FIDELITY_FLOW,
                                              .unfold = unfold };
        ran = simulate(&r, &j.loader.arena, &j.s, &how, &err) == 0;
        seconds[unfold] = r.step_time_s;
    }
    job_unload(&j);
    return ran;
}

static void test_folded_jobs(void)
{
    int ran = 0;
    state = 20210708;
    for (int i = 0; i < DRAWS; i++) {
        char text[2048];
        double seconds[2];
        draw_job(text, sizeof(text));
        if (i % sample_every() || !times(text, seconds))
            continue;
        ran++;
        if (!job_near(seconds[0], seconds[1], 1e-9))
            printf("\n    %.12f s folded, %.12f unfolded: %s", seconds[0], seconds[1],
                   text);
        CU_ASSERT(job_near(seconds[0], seconds[1], 1e-9));
    }
    CU_ASSERT(ran >= LEAST / sample_every());
}

/* Whether the members of a group are those of its span, in order; of several spans, which
 * may take turns, as many. */
static bool spans_are_ranks(const struct groups *g, enum channel channel, int64_t rank)
{
    struct err err = { 0 };
    struct coll_group group;
    struct ranks ranks = groups_of(g, channel, rank);
    int64_t n = 0;
    bool same = groups_spans(g, &ranks, &group, &err) == 0;
    for (int32_t k = 0; same && k < group.n_spans; k++) {
        const struct coll_span *s = &group.spans[k];
        for (int64_t i = 0; i < s->n_instances * s->n_gpus; i++) {
            int64_t instance, at = s->first + i / s->n_gpus * s->stride;
            int32_t gpu;
            groups_place(g, ranks_member(&ranks, n++), &instance, &gpu);
            if (group.n_spans > 1)
                continue;
            same = same && instance == at && gpu == s->gpus[i % s->n_gpus] &&
                   (!g->class_of || g->class_of[at] == g->class_of[s->first]);
        }
    }
    return same && n == ranks_count(&ranks);
}

/* Groups within instances, over some and over all of them, in every placement. */
static void test_spans(void)
{
    static const enum channel channels[] = { CHANNEL_DATA, CHANNEL_TENSOR };
    for (size_t i = 0; i < 6 * 4 * 4; i++) {
        char text[600];
        struct cfg_loader loader;
        struct scenario s;
        struct groups g;
        cfg_loader_init(&loader);
        snprintf(text, sizeof(text),
                 HEAD "'parallelism':{'tensor':%d,'pipeline':%d,'placement':'%s'}}",
                 "p4d.24xlarge", 24u, "", 1 << i % 4, 1 << i / 4 % 4,
                 placements[i / 16]);
        if (scenario_read(&s, &loader, cfg_parse(&loader, "job", text, strlen(text))) ==
            0) {
            groups_init(&g, &loader.arena, &s.cluster, &s.parallel);
            for (size_t k = 0; k < 2; k++)
                for (int64_t rank = 0; rank < 192; rank += 37)
                    CU_ASSERT(spans_are_ranks(&g, channels[k], rank));
        } else
            CU_FAIL("not read");
        cfg_loader_release(&loader);
    }
}

void test_fold_register(void)
{
    CU_pSuite s = CU_add_suite("fold", NULL, NULL);
    CU_add_test(s, "folded jobs are unfolded jobs", test_folded_jobs);
    CU_add_test(s, "spans hold the ranks of their group in order", test_spans);
}
