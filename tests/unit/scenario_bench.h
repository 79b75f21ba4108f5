/* Scenarios with changes, and what their programs send: 
 * on. */
#ifndef TESTS_SCENARIO_BENCH_H
#define TESTS_SCENARIO_BENCH_H

#include "step/reps.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

/* A small GPT-2 on 16 GPUs, which any degrees cut evenly. */
static const char bench_gpt2[] =
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 8, 'n_embd': 512, 'n_head': 16,"
    "             'vocab_size': 8192, 'n_positions': 256 },"
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 2, 'precision': "
    "'fp16' } }";

/* Replicas vary slowest, so that stages lie in a node and replicas on others, whatever
 * the library's own order of ranks. */
static inline void bench_keep_order(struct cfg root)
{
    struct cfg p = cfg_get(root, "parallelism");
    if (!cfg_present(cfg_get(root, "distribution")) &&
        !(cfg_present(p) && cfg_present(cfg_get(p, "placement"))))
        CU_ASSERT_EQUAL_FATAL(cfg_set(root, "/parallelism/placement=DPT"), 0);
}

/* Reads the text with `changes`: pointer=value, separated by blanks; without a leading
 * slash the pointer is of the section ("/parallelism/"). `files` lends what it makes of
 * files (NULL: nobody does). The tree it was read from. */
static inline struct cfg bench_scenario_of(struct cfg_loader *loader,
                                           struct cfg_loader *files, struct scenario *s,
                                           const char *text, const char *section,
                                           const char *changes)
{
    char copy[1024], *save = NULL;
    cfg_loader_init(loader);
    loader->shared = files;
    struct cfg root = cfg_parse(loader, "text", text, strlen(text));
    CU_ASSERT_FATAL(strlen(changes) < sizeof(copy));
    snprintf(copy, sizeof(copy), "%s", changes);
    for (char *t = strtok_r(copy, " ", &save); t; t = strtok_r(NULL, " ", &save)) {
        char one[sizeof(copy) + 64];
        snprintf(one, sizeof(one), "%s%s", *t == '/' ? "" : section, t);
        CU_ASSERT_EQUAL_FATAL(cfg_set(root, one), 0);
    }
    bench_keep_order(root);
    int rc = scenario_read(s, loader, root);
    if (rc)
        diags_print_errors(&loader->diags, stderr);
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    return root;
}

static inline struct cfg bench_scenario(struct cfg_loader *loader, struct scenario *s,
                                        const char *text, const char *section,
                                        const char *changes)
{
    return bench_scenario_of(loader, NULL, s, text, section, changes);
}

/* The text is refused, and some message has these words. */
static inline void bench_refused(const char *text, const char *message)
{
    struct cfg_loader loader;
    struct scenario s;
    bool found = false;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "text", text, strlen(text));
    CU_ASSERT_EQUAL(scenario_read(&s, &loader, root), -1);
    for (int64_t k = 0; k < loader.diags.n && !found; k++)
        found = strstr(loader.diags.v[k].text, message) != NULL;
    if (!found)
        diags_print_errors(&loader.diags, stderr);
    CU_ASSERT(found);
    cfg_loader_release(&loader);
}

/* Sizes of the collectives of one kind, over the ranks of all stages. */
static inline double bench_comm_B(struct cfg_loader *loader, const struct scenario *s,
                                  enum channel channel, enum coll_op op)
{
    struct reps reps;
    struct err err = { 0 };
    const struct reps_options how = { .detail = true };
    double sum = 0;
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &loader->arena, s, &how, &err), 0);
    for (int32_t i = 0; i < reps.n_steps; i++) {
        const struct program *p = &reps.steps[i].program;
        CU_ASSERT_EQUAL(p->repeat.extra, 0);
        for (int64_t k = 0; k < p->tasks.n; k++) {
            int32_t comm = p->tasks.v[k].comm;
            if (comm >= 0 && p->comms.v[comm].channel == channel &&
                p->comms.v[comm].request.op == op)
                sum += p->comms.v[comm].request.size_B;
        }
    }
    reps_release(&reps);
    return sum;
}

#endif
