/* How fast planning is: `name: value unit` lines. Feasibility and scores on one core,
 * then whole plans on all. */
#include "search/plan.h"
#include "search/score/score.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double clock_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

struct bench {
    const char *name, *instances, *count;
};

static const struct bench benches[] = {
    { "gpt3_175b_4096_a100", "dgx-a100-80gb", "512" },
    { "gpt3_175b_512_a100", "dgx-a100-80gb", "64" },
    { "gpt3_175b_up_to_64_p4d", "p4d.24xlarge", "1..64" },
};

static void rates(const char *name, const struct plan_job *job)
{
    int64_t n = space_slices(&job->space), checked = 0, points = 0;
    double start_s = clock_s();
    for (int64_t i = 0; i < n; i++) {
        struct space_iter it;
        space_iter_init(&it, &job->space, i);
        while (space_next(&it))
            points++;
        checked += it.checked;
    }
    double check_s = clock_s() - start_s;
    struct scorer *scorer = scorer_new(job);
    for (int pass = 0; pass < 2; pass++) { /* the second finds its tables made */
        start_s = clock_s();
        for (int64_t i = 0; i < n; i++) {
            struct space_iter it;
            struct score score;
            space_iter_init(&it, &job->space, i);
            while (space_next(&it))
                scorer_point(scorer, &it.p, (double)INFINITY, &score);
        }
        printf("%s_scores%s: %.4g configurations/s\n", name, pass ? "" : "_cold",
               (double)points / (clock_s() - start_s));
    }
    scorer_free(scorer);
    printf("%s_points: %lld\n", name, (long long)points);
    printf("%s_feasibility: %.4g checks/s\n", name, (double)checked / check_s);
}

static int run(const struct bench *b)
{
    struct cfg_loader loader;
    struct plan_job job;
    struct plan_outcome out;
    struct err err = { 0 };
    static const char *const sets[] = { "/training/attention=fused-softmax" };
    const struct plan_request request = { .model = "gpt3-175b",
                                          .instances = b->instances,
                                          .count = b->count,
                                          .global_batch = 1536,
                                          .sequence = 2048,
                                          .sets = { 1, sets } };
    const struct plan_options options = { .listed = 10, .simulate_most = 100 };
    cfg_loader_init(&loader);
    double start_s = clock_s();
    clock_t start = clock();
    int rc = plan_job_init(&job, &loader, &request);
    if (rc == 0)
        rc = plan_search(&out, &loader.arena, &job, &options, &err);
    if (rc == 0) {
        printf("%s: %.3f s for %lld points, %lld simulated\n", b->name,
               clock_s() - start_s, (long long)out.evaluated, (long long)out.simulated);
        printf("%s_cpu: %.3f s of all cores\n", b->name,
               (double)(clock() - start) / CLOCKS_PER_SEC);
        rates(b->name, &job);
    } else {
        diags_print_errors(&loader.diags, stderr);
        fprintf(stderr, "%s: %s\n", b->name, err.text);
    }
    plan_job_release(&job);
    cfg_loader_release(&loader);
    return rc;
}

int main(void)
{
    struct rusage usage;
    int rc = 0;
    for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
        rc |= run(&benches[i]);
    getrusage(RUSAGE_SELF, &usage);
    printf("plan_peak_memory: %.4g MiB\n", (double)usage.ru_maxrss / 1024);
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
