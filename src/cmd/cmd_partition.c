/* smsim partition: which modules the stages of a pipeline hold. */
#include "base/strbuf.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/script.h"
#include "layout/partition.h"
#include "report/report.h"
#include "scenario/stages.h"

#include <inttypes.h>
#include <stdio.h>

/* clang-format off */
struct arguments {
    struct option_list sets;
};

#define AT(m) offsetof(struct arguments, m)

static const struct option options[] = {
    { .name = "--set", .type = OPTION_LIST, .at = AT(sets),
      .value = "POINTER=VALUE", .help = "change one value of the scenario first" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "partition",
    .arguments = "SCENARIO | launch.py | ds_config.json [OPTION]...",
    .summary = "Which layers each pipeline stage holds, with its share of computation "
               "and its memory.",
    .details = "compute is the share of the step's FLOPs; parameters counts those of one "
               "GPU's stage, and\nmemory adds their gradients and optimizer states to the "
               "activations of one microbatch.\n\n"
               "  smsim partition scenarios/gpt-neox-20b-12xp4d.24xlarge.json\n"
               "  smsim partition gpt3-175b-64xp4d.24xlarge\n"
               "  smsim partition scenario.json --set /parallelism/partition=parameters\n",
    .options = options,
    .min_positional = 1,
    .max_positional = 1,
};
/* clang-format on */

static void print_part(const struct partition *p, int64_t i)
{
    const struct partition_part *part = &p->parts[i];
    char layers[64] = "-";
    if (part->n_layers > 0)
        snprintf(layers, sizeof(layers), "%" PRId64 "-%" PRId64, part->first_layer,
                 part->first_layer + part->n_layers - 1);
    printf("%6" PRId64 " %6" PRId64 " %7" PRId64 "  %-10s %7.2f%% %9.2f GiB%s%s%s\n",
           partition_stage(p->n_stages, p->folds, i), i / p->n_stages, part->n_layers,
           layers, p->compute > 0 ? 100 * part->compute / p->compute : 0,
           part->memory / (double)(1 << 30), part->has_embedding ? "  embedding" : "",
           part->has_head ? part->has_embedding ? ", " : "  " : "",
           part->has_head ? "head" : "");
}

static void print_head(const struct scenario *s, const struct partition *p)
{
    int64_t parts = p->n_stages * p->n_chunks;
    struct strbuf head;
    strbuf_init(&head);
    strbuf_printf(&head, "%s: %" PRId64 " layers on %" PRId64 " stage%s", s->name,
                  p->parts[parts - 1].first_layer + p->parts[parts - 1].n_layers,
                  p->n_stages, units_plural(p->n_stages));
    if (p->n_chunks > 1)
        strbuf_printf(&head, " of %" PRId64 " chunks", p->n_chunks);
    strbuf_printf(
        &head, ", partition \"%s\"",
        names_of(parallelism_partition_names, (int)s->parallel.stages.partition));
    if (s->parallel.stages.partition == PARTITION_SMP ||
        s->parallel.stages.partition == PARTITION_SMP_TREE)
        strbuf_printf(&head, ", memory weight %g", s->parallel.stages.memory_weight);
    report_lines(stdout, strbuf_get(&head));
    strbuf_release(&head);
}

static void print_partition(const struct scenario *s, const struct partition *p)
{
    int64_t parts = p->n_stages * p->n_chunks;
    double most = 0;
    print_head(s, p);
    report_assumed(stdout, "assumed: ", &s->assumed);
    printf("\n%6s %6s %7s  %-10s %8s %13s  %s\n", "stage", "chunk", "layers", "from-to",
           "compute", "memory", "also");
    for (int64_t i = 0; i < parts; i++)
        print_part(p, i);
    for (int64_t stage = 0; stage < p->n_stages; stage++) {
        double sum = 0;
        for (int64_t i = 0; i < p->n_chunks; i++)
            sum += p->parts[partition_part(p->n_stages, p->folds, stage, i)].compute;
        most = sum > most ? sum : most;
    }
    if (p->compute > 0)
        printf("\nthe busiest stage computes %.3f times the mean\n",
               most * (double)p->n_stages / p->compute);
}

static int run(struct cfg_loader *loader, const struct scenario *s)
{
    struct err err = { 0 };
    struct op_list list;
    struct partition p;
    struct op_settings settings = scenario_op_settings(s);
    if (op_list_make(&list, &loader->arena, &s->model, &settings, &err) ||
        stages_partition(&p, &loader->arena, s, &list, &err))
        return cmd_fail(loader, &err);
    cmd_warn(loader);
    print_partition(s, &p);
    cfg_loader_release(loader);
    return EXIT_DONE;
}

int cmd_partition(int argc, char **argv)
{
    struct arguments args = { 0 };
    struct option_list words = { 0 };
    int done = options_parse(&usage, argc, argv, &args, &words);
    if (done != OPTIONS_GO_ON)
        return done;
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    struct scenario s;
    struct cfg root;
    const struct script_options how = { .sets = &args.sets };
    if (script_scenario(&s, &root, &loader, words.values[0], &how))
        return cmd_fail(&loader, NULL);
    return run(&loader, &s);
}
