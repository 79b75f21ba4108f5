/* smsim ranks: who is which rank, and the groups that they meet in. */
#include "base/strbuf.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/script.h"
#include "layout/layout.h"
#include "report/report.h"
#include "scenario/scenario.h"

#include <inttypes.h>
#include <stdio.h>

/* clang-format off */
struct arguments {
    struct option_list sets;
    bool all;
};

#define AT(m) offsetof(struct arguments, m)

static const struct option options[] = {
    { .name = "--set", .type = OPTION_LIST, .at = AT(sets),
      .value = "POINTER=VALUE", .help = "change one value of the scenario first" },
    { .name = "--all", .type = OPTION_FLAG, .at = AT(all),
      .help = "every rank and group, however many" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "ranks",
    .arguments = "SCENARIO | launch.py | ds_config.json [OPTION]...",
    .summary = "Which instance and GPU each rank is on, and the groups it is in.",
    .details = "pp, tp and rdp are a rank's pipeline, tensor and reduced data-parallel "
               "index; dp and mp\nits place in its data-parallel and model-parallel group "
               "(SageMaker's names).\n\n"
               "  smsim ranks scenarios/bert-large-squad-2xp3.16xlarge.json\n"
               "  smsim ranks gpt3-175b-64xp4d.24xlarge\n"
               "  smsim ranks launch.py --set /cluster/count=4\n",
    .options = options,
    .min_positional = 1,
    .max_positional = 1,
};

static const struct {
    enum layout_group group;
    const char *name;
} groups[] = {
    { LAYOUT_PP, "pipeline" }, { LAYOUT_TP, "tensor" },
    { LAYOUT_RDP, "reduced data parallel" }, { LAYOUT_DP, "data parallel" },
    { LAYOUT_MP, "model parallel" },
};
/* clang-format on */

/* How much is shown without --all. */
enum { RANKS_HEAD = 16, RANKS_TAIL = 4, GROUPS_SHOWN = 8, MEMBERS_HEAD = 14 };

/* The instance of a rank, and which of its processes it is. */
static void place_rank(const struct cluster *c, int64_t rank, int64_t *instance,
                       int64_t *local, const char **name)
{
    *instance = 0;
    for (int i = 0; i < c->n_groups; i++) {
        const struct cluster_group hosts = cluster_hosts(&c->groups[i]), *g = &hosts;
        int64_t ranks = g->count * g->gpus_per_instance;
        *name = g->instance->name;
        if (rank < ranks) {
            *instance += rank / g->gpus_per_instance;
            *local = rank % g->gpus_per_instance;
            return;
        }
        rank -= ranks;
        *instance += g->count;
    }
    *local = 0;
}

static void print_ranks(const struct scenario *s, const struct layout *l, bool all)
{
    int64_t world = scenario_world(s);
    printf("%8s %8s %5s  %-16s %5s %5s %7s %7s %5s\n", "rank", "instance", "local",
           "type", "pp", "tp", "rdp", "dp", "mp");
    for (int64_t rank = 0; rank < world; rank++) {
        if (!all && rank == RANKS_HEAD && world > RANKS_HEAD + RANKS_TAIL + 1) {
            printf("%8s (%" PRId64 " more; --all shows them)\n", "...",
                   world - RANKS_HEAD - RANKS_TAIL);
            rank = world - RANKS_TAIL;
        }
        int64_t instance, local;
        const char *name = "";
        place_rank(&s->cluster, rank, &instance, &local, &name);
        printf("%8" PRId64 " %8" PRId64 " %5" PRId64 "  %-16s %5" PRId64 " %5" PRId64
               " %7" PRId64 " %7" PRId64 " %5" PRId64 "\n",
               rank, instance, local, name, layout_group_rank(l, LAYOUT_PP, rank),
               layout_group_rank(l, LAYOUT_TP, rank),
               layout_group_rank(l, LAYOUT_RDP, rank),
               layout_group_rank(l, LAYOUT_DP, rank),
               layout_group_rank(l, LAYOUT_MP, rank));
    }
}

/* "  0 4 8 ... 60": the members of the group of a rank. */
static void print_members(const struct layout *l, enum layout_group g, int64_t rank,
                          bool all)
{
    int64_t n = layout_group_size(l, g);
    printf(" ");
    for (int64_t i = 0; i < n; i++) {
        if (!all && i == MEMBERS_HEAD && n > MEMBERS_HEAD + 2) {
            printf(" ...");
            i = n - 1;
        }
        printf(" %" PRId64, layout_group_member(l, g, rank, i));
    }
    printf("\n");
}

static void print_groups(const struct layout *l, int64_t world, bool all)
{
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        enum layout_group g = groups[i].group;
        int64_t size = layout_group_size(l, g), n = world / size, shown = 0;
        printf("\n%s: %" PRId64 " group%s of %" PRId64 "\n", groups[i].name, n,
               units_plural(n), size);
        if (size == 1)
            continue; /* every rank alone */
        for (int64_t rank = 0; rank < world && (all || shown < GROUPS_SHOWN); rank++) {
            if (layout_group_rank(l, g, rank) != 0)
                continue; /* each group once: by its first member */
            print_members(l, g, rank, all);
            shown++;
        }
        if (shown < n)
            printf("  ... (%" PRId64 " more; --all shows them)\n", n - shown);
    }
}

static void print_head(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    struct strbuf head;
    strbuf_init(&head);
    strbuf_printf(&head, "%s: %" PRId64 " rank%s, placement %s, data %" PRId64, s->name,
                  scenario_world(s), units_plural(scenario_world(s)), p->placement,
                  p->data);
    if (p->context > 1)
        strbuf_printf(&head, " x context %" PRId64 " (neighbours in D)", p->context);
    strbuf_printf(&head, " x pipeline %" PRId64 " x tensor %" PRId64, p->pipeline,
                  p->tensor);
    report_lines(stdout, strbuf_get(&head));
    strbuf_release(&head);
    report_assumed(stdout, "assumed: ", &s->assumed);
    printf("\n");
}

/* Context and expert groups: `size` ranks of a stage, `apart` from each other. */
static void print_runs(const struct layout *l, const char *name, int64_t size,
                       int64_t apart, bool all)
{
    int64_t world = l->data * l->pipeline * l->tensor, n = world / size, shown = 0;
    if (size == 1)
        return;
    printf("\n%s: %" PRId64 " group%s of %" PRId64 "\n", name, n, units_plural(n),
           size);
    for (int64_t rank = 0; rank < world && (all || shown < GROUPS_SHOWN); rank++) {
        struct layout_run run = layout_run_of(l, rank, size, apart);
        if (run.first != rank)
            continue;
        printf(" ");
        for (int64_t i = 0; i < size; i++)
            printf(" %" PRId64, layout_run_member(&run, i));
        printf("\n");
        shown++;
    }
    if (shown < n)
        printf("  ... (%" PRId64 " more; --all shows them)\n", n - shown);
}

/* Groups of experts, and the ranks that hold the same ones. */
static void print_experts(const struct layout *l, const struct parallelism *p, bool all)
{
    int64_t t = parallelism_expert_tensor(p);
    if (p->expert == 1 && !parallelism_folds_experts(p))
        return;
    print_runs(l, "expert", p->expert, t, all);
    if (parallelism_folds_experts(p))
        print_runs(l, "tensor group of experts", t, 1, all);
    print_runs(l, "same experts", parallelism_expert_replicas(p), p->expert * t, all);
}

int cmd_ranks(int argc, char **argv)
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
    cmd_warn(&loader);
    const struct parallelism *p = &s.parallel;
    struct layout l;
    layout_init(&l, p->placement, p->data * p->context, p->pipeline, p->tensor);
    print_head(&s);
    print_ranks(&s, &l, args.all);
    print_groups(&l, scenario_world(&s), args.all);
    print_runs(&l, "context", p->context, p->tensor, args.all);
    print_experts(&l, p, args.all);
    cfg_loader_release(&loader);
    return EXIT_DONE;
}
