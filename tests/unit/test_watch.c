/* How far long work has come: reported while it runs, and without a trace in what is
 * printed. */
#include "scenario_bench.h"
#include "simulate/simulate.h"

#include <stdlib.h>

void test_watch_register(void);

struct seen {
    int64_t n, done, total;
    bool falls, ended;
};

static void look(void *arg, int64_t done, int64_t total)
{
    struct seen *s = arg;
    s->n++;
    if (done == total) {
        s->ended = true;
        return;
    }
    s->falls |= done < s->done || s->ended;
    s->done = done;
    s->total = total;
}

/* Every rank of 16 GPUs, at each fidelity, of three kinds of jobs. */
static void test_reported(void)
{
    static const char *const changes[] = {
        "library=\"fsdp\" sharding={\"strategy\":\"full\"}",
        "tensor=2 pipeline=4 /training/microbatches=8",
        "library=\"ddp\"",
    };
    for (int i = 0; i < 9; i++) {
        struct cfg_loader loader;
        struct scenario s = { 0 };
        struct simulate_result with, without;
        struct seen seen = { 0 };
        struct err err = { 0 };
        struct simulate_options how = { .network = (enum fidelity)(i % 3),
                                        .unfold = true,
                                        .mute = true };
        bench_scenario(&loader, &s, bench_gpt2, "/parallelism/", changes[i / 3]);
        CU_ASSERT_EQUAL(simulate(&without, &loader.arena, &s, &how, &err), 0);
        how.watch = (struct watch) { look, &seen };
        CU_ASSERT_EQUAL(simulate(&with, &loader.arena, &s, &how, &err), 0);
        CU_ASSERT_TRUE(seen.n > 10 && seen.ended && !seen.falls);
        CU_ASSERT_TRUE(seen.done > seen.total / 2);
        CU_ASSERT_EQUAL(with.step_time_s, without.step_time_s);
        CU_ASSERT_EQUAL(with.events, without.events);
        cfg_loader_release(&loader);
    }
}

/* What a command writes to a file that is its standard error. */
static int64_t length_of_errors(const char *command)
{
    const char *smsim = getenv("SMSIM"), *kept = "/tmp/smsim-watch.err";
    char line[400];
    snprintf(line, sizeof(line), "%s %s >/dev/null 2>%s", smsim ? smsim : "build/smsim",
             command, kept);
    CU_ASSERT_EQUAL(system(line), 0);
    FILE *f = fopen(kept, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    fclose(f);
    remove(kept);
    return n;
}

/* No terminal, no progress. */
static void test_silent(void)
{
    CU_ASSERT_EQUAL(
        length_of_errors("simulate llama2-70b-smp2-16xp5.48xlarge --unfold --json -"),
        0);
    CU_ASSERT_EQUAL(length_of_errors("collective --cluster p4d.24xlarge:256 --op "
                                     "all_reduce --bytes 1G --network chunk --json -"),
                    0);
}

void test_watch_register(void)
{
    CU_pSuite suite = CU_add_suite("watch", NULL, NULL);
    CU_add_test(suite, "long work is reported", test_reported);
    CU_add_test(suite, "and not without a terminal", test_silent);
}
