/* What one simulation of a whole step costs, folded, files not counted: GPT-3 175B on
 * 512 GPUs (target 40 ms), a trillion parameters on 3,072 (100 ms), and each with ten
 * times the data parallelism (at most 1.2 times as long). Seconds, never asserted. */
#include "scenario/scenario.h"
#include "simulate/simulate.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static double clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char gpt3[] =
    "{ 'model': 'gpt3-175b', 'cluster': { 'instance': 'p4de.24xlarge', 'count': 64 },"
    "  'training': { 'sequence_length': 2048, 'micro_batch_size': 1, 'microbatches': "
    "192,"
    "                'precision': 'fp16', 'activation_checkpointing': 'full',"
    "                'vocab_padding': 1024 },"
    "  'parallelism': { 'tensor': 8, 'pipeline': 8, 'virtual_stages': 3,"
    "                   'schedule': 'interleaved' } }";

static const char trillion[] =
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 128, 'n_embd': 25600, 'n_head': 160,"
    "             'vocab_size': 51200, 'n_positions': 2048 },"
    "  'cluster': { 'instance': 'p4de.24xlarge', 'count': 384 },"
    "  'training': { 'sequence_length': 2048, 'micro_batch_size': 1, 'microbatches': "
    "512,"
    "                'precision': 'fp16', 'activation_checkpointing': 'full' },"
    "  'parallelism': { 'tensor': 8, 'pipeline': 64 } }";

static void bench(const char *name, const char *text, const char *change)
{
    enum { RUNS = 5 };
    struct cfg_loader loader;
    struct scenario s;
    struct simulate_options options = { .network = FIDELITY_FLOW };
    struct simulate_result r;
    struct err err = { 0 };
    double best_s = 1e9;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, name, text, strlen(text));
    if ((change && cfg_set(root, change)) || scenario_read(&s, &loader, root)) {
        diags_print_errors(&loader.diags, stderr);
        cfg_loader_release(&loader);
        return;
    }
    for (int i = 0; i < RUNS; i++) {
        struct arena arena;
        arena_init(&arena);
        double from_s = clock_s();
        if (simulate(&r, &arena, &s, &options, &err))
            fprintf(stderr, "%s\n", err.text);
        double took_s = clock_s() - from_s;
        best_s = took_s < best_s ? took_s : best_s;
        arena_release(&arena);
    }
    printf("%s: %.4f s, %llu events\n", name, best_s, (unsigned long long)r.events);
    cfg_loader_release(&loader);
}

int main(void)
{
    bench("gpt3_175b_512_gpus", gpt3, NULL);
    bench("gpt3_175b_5120_gpus", gpt3, "/cluster/count=640");
    bench("1t_3072_gpus", trillion, NULL);
    bench("1t_30720_gpus", trillion, "/cluster/count=3840");
    return 0;
}
