/* smsim plan: the best degrees and placement for a job, and why. */
#include "base/clock.h"
#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/script.h"
#include "config/datadir.h"
#include "config/pointer.h"
#include "dialect/dialect.h"
#include "dialect/emit/emit_scenario.h"
#include "draw/draw.h"
#include "page/page.h"
#include "report/plan_report.h"
#include "report/report.h"
#include "search/plan/given.h"
#include "search/plan/point.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    struct option_list sets, fixes, allows, prices;
    const char *model, *instances, *count, *json, *plot, *html, *estimator;
    struct draw_look look; /* of the figure */
    int64_t batch, sequence, top, draws, seed;
    double tokens, max_cost, deadline;
    int objective, stacks, emit, risk;
    bool exhaustive, timing;
};

#define AT(m) offsetof(struct arguments, m)

/* clang-format off */
static const struct option options[] = {
    { .group = "The job",
      .name = "--model", .type = OPTION_STRING, .at = AT(model), .value = "M",
      .help = "in place of a scenario, with the four that follow" },
    { .name = "--instance", .type = OPTION_STRING, .at = AT(instances),
      .also = "--instances --instance-type --gpu --gpus --gpu-type --cluster --machine --machines --hardware",
      .value = "I[,I...]",
      .help = "instances to choose among; \"ml.\": SageMaker's prices" },
    { .name = "--count", .type = OPTION_STRING, .at = AT(count),
      .also = "--max-count --min-count --up-to --nodes --max-nodes --num-nodes --nnodes --instance-count",
      .value = "N[..M]", .help = "how many of them" },
    { .name = "--global-batch", .type = OPTION_INT, .at = AT(batch), .value = "B",
      .also = "--batch --batch-size --global-batch-size --gbs",
      .min = 1, .max = 1e9, .help = "sequences a step" },
    { .name = "--sequence-length", .type = OPTION_INT, .at = AT(sequence),
      .also = "--seq --seq-len --seq-length --seqlen --sequence --max-length --context-length --tokens-per-sequence",
      .value = "S", .min = 1, .max = 1 << 24, .help = "tokens of a sequence" },
    { .name = "--set", .type = OPTION_LIST, .at = AT(sets),
      .value = "POINTER=VALUE", .help = "change the job: /training/precision=fp16" },
    { .name = "--estimator", .type = OPTION_STRING, .at = AT(estimator),
      .value = "NAME",
      .help = "of a launch script with several: the variable that holds it" },
    { .group = "What is best",
      .name = "--objective", .type = OPTION_ENUM, .at = AT(objective),
      .value = "WHAT", .names = plan_objective_names,
      .help = "time (default), cost or memory" },
    { .name = "--tokens", .type = OPTION_REAL, .at = AT(tokens), .value = "N",
      .min = 1, .max = 1e18,
      .help = "tokens to train on, for time and cost of the job" },
    { .name = "--max-cost", .type = OPTION_REAL, .at = AT(max_cost),
      .value = "USD", .min = 1e-9, .max = 1e15, .help = "the job may cost no more" },
    { .name = "--deadline", .type = OPTION_REAL, .at = AT(deadline),
      .value = "H", .min = 1e-9, .max = 1e9, .help = "the job may take no more hours" },
    { .name = "--price", .type = OPTION_LIST, .at = AT(prices),
      .value = "I=USD/h", .help = "your own price of an instance" },
    { .name = "--risk", .type = OPTION_ENUM, .at = AT(risk), .value = "RULE",
      .names = risk_rule_names,
      .help = "order by regret: mean (default), p90, minimax; none: by the prediction" },
    { .name = "--draws", .type = OPTION_INT, .at = AT(draws), .value = "N",
      .min = 20, .max = 100000, .help = "of what predictions do not know (200)" },
    { .name = "--seed", .type = OPTION_INT, .at = AT(seed), .value = "N",
      .min = 0, .max = 1e15, .help = "of the draws (0)" },
    { .group = "Which plans",
      .name = "--fix", .type = OPTION_LIST, .at = AT(fixes),
      .value = "FIELD=V", .help = "only plans with that: tensor=8" },
    { .name = "--allow", .type = OPTION_LIST, .at = AT(allows),
      .value = "FIELD=V,V",
      .help = "only plans with one of these: library=fsdp,smp-v1" },
    { .name = "--for", .type = OPTION_BITS, .at = AT(stacks), .value = "STACK",
      .names = space_for_names,
      .help = "smp-v1, smp-v2, smddp, megatron, deepspeed, fsdp, ddp, horovod, "
              "or several: fsdp,ddp" },
    { .name = "--exhaustive", .type = OPTION_FLAG, .at = AT(exhaustive),
      .help = "simulate all that may fit" },
    { .group = "Output",
      .name = "--top", .type = OPTION_INT, .at = AT(top), .value = "K",
      .min = 1, .max = 100000, .help = "list the best so many (10)" },
    { .name = "--emit", .type = OPTION_ENUM, .at = AT(emit), .value = "AS",
      .list = dialect_emit_names,
      .help = "print the best as %s" },
    { .name = "--json", .type = OPTION_OUT, .at = AT(json), .value = "FILE",
      .help = "write the plans as JSON; - is standard output" },
    { .name = "--html", .type = OPTION_OUT, .at = AT(html), .value = "FILE",
      .help = "write the plans and their front as one page; a .json gets its data alone" },
    { .name = "--plot", .type = OPTION_OUT, .at = AT(plot), .value = "FILE",
      .help = "draw time against cost, or memory, as .svg, .png or .pdf" },
    OPTION_FIGURE_LOOK(AT(look), "--plot"),
    { .name = "--timing", .type = OPTION_FLAG, .at = AT(timing),
      .help = "say how long planning took" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "plan",
    .arguments = "SCENARIO | launch.py | pretrain.sh | ds_config.json | --model M "
                 "--instance I --count N --global-batch B --sequence-length S",
    .summary = "The fastest, cheapest or smallest way to train a model on instances that "
               "can be\nrented: degrees, placement, library and batch, simulated, and why.",
    .details =
        "Fields of --fix and --allow: count, gpus_per_instance, library, tensor, pipeline,\n"
        "context, expert, data, optimize, micro_batch_size, microbatches, schedule,\n"
        "virtual_stages, sequence_parallel, overlap_tensor, sharding, sharding_degree,\n"
        "offload, activation_checkpointing, placement, bucket_size. Of\n"
        "activation_checkpointing: none, selective, full, operators, 4 (layers of a\n"
        "group), every:4, block:2, contiguous, or modules: core_attn+moe_act.\n\n"
        "  smsim plan --model gpt3-175b --instance p4d.24xlarge --count 16..64 \\\n"
        "      --global-batch 1536 --sequence-length 2048\n"
        "  smsim plan my.json --fix tensor=8 --objective cost --emit scenario\n"
        "  smsim plan train.sh --set /cluster/instance=p5.48xlarge --count 2..8 \\\n"
        "      --html plans.html\n\n"
        "Exit code 1 says that nothing fits, or that no plan keeps the budget; 130 that\n"
        "Ctrl-C ended the search: the best so far is printed, and said to be partial.\n",
    .options = options,
    .min_positional = 0,
    .max_positional = 1,
};
/* clang-format on */

/* Ctrl-C ends the search with what it has; a signal can reach nothing but a global. */
static volatile sig_atomic_t stop_requested;
static void (*second_stop)(int); /* what the second one does: it ends the program */

static void request_stop(int sig)
{
    signal(sig, second_stop);
    stop_requested = 1;
}

/* Progress on a terminal ----------------------------------------------------------- */

/* A meter of its own for each stage. */
static void show_progress(void *arg, const struct plan_progress *p)
{
    struct cmd_progress *m = arg;
    if (p->done == 0 || m->what != p->stage)
        *m = cmd_progress_of(p->stage, 0);
    cmd_progress_show(m, p->done, p->total);
}

/* The request ---------------------------------------------------------------------- */

static int wrong(const char *what)
{
    report_linef(stderr, "smsim plan: %s (see smsim plan --help)", what);
    return EXIT_USAGE;
}

static bool writes_out(const char *file)
{
    return file && strcmp(file, "-") == 0;
}

/* Whether standard output is a file of the command's. */
static bool takes_out(const struct arguments *a)
{
    return writes_out(a->json) || writes_out(a->plot) || writes_out(a->html);
}

/* Pictures of a model have a length of their own, so that its length is asked for only
 * together with others. */
static bool lacks_others(const struct arguments *a)
{
    return !a->model || !a->instances || !a->batch;
}

/* Where no scenario is given, the options that stand for one. */
static int check_job_options(const struct arguments *a)
{
    const struct {
        bool given;
        const char *name;
    } needed[] = { { a->model, "--model" },
                   { a->instances, "--instance" },
                   { a->batch, "--global-batch" },
                   { a->sequence || !lacks_others(a), "--sequence-length" } };
    char text[200] = "give a scenario, or --model, --instance, --global-batch and "
                     "--sequence-length; missing: ";
    size_t n = sizeof(needed) / sizeof(needed[0]), lacking = 0;
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(text);
        if (!needed[i].given)
            snprintf(text + used, sizeof(text) - used, lacking++ ? ", %s" : "%s",
                     needed[i].name);
    }
    return lacking ? wrong(text) : OPTIONS_GO_ON;
}

static int check_arguments(const struct arguments *a, const struct option_list *words,
                           struct err *err)
{
    int checked = words->n ? OPTIONS_GO_ON : check_job_options(a);
    if (checked != OPTIONS_GO_ON)
        return checked;
    if (words->n && (a->model || a->sequence))
        return wrong("--model and --sequence-length are the scenario's to say");
    if (a->estimator && (words->n == 0 || !launch_is_script(words->values[0])))
        return wrong("--estimator is of launch scripts");
    if (writes_out(a->json) && writes_out(a->plot))
        return wrong("--json and --plot cannot both be standard output");
    if (a->emit && takes_out(a))
        return wrong(
            "--emit prints on standard output: give --json, --plot or --html a "
            "file");
    if (a->plot && draw_check_name(a->plot, err)) {
        report_linef(stderr, "smsim plan: --plot %s", err->text);
        return EXIT_USAGE;
    }
    if (a->risk == RISK_NONE && (a->draws || a->seed >= 0))
        return wrong("--draws and --seed are of --risk mean, p90 or minimax");
    return OPTIONS_GO_ON;
}

static struct raw_plan words_of(const struct option_list *list)
{
    return (struct raw_plan) { list->n, list->values };
}

/* A launch script as the scenario, with what is set already in it. */
struct script_job {
    struct plan_job *job;
    struct plan_request *request;
};

static int init_job(struct cfg_loader *loader, struct cfg root, void *arg)
{
    struct script_job *s = arg;
    json_t *count = pointer_get(root.json, "/cluster/count");
    if (s->request->instances && !s->request->count && json_is_integer(count))
        s->request->count =
            arena_printf(&loader->arena, "%" PRId64, /* as many as it has */
                         (int64_t)json_integer_value(count));
    s->request->scenario = root;
    s->request->script = true;
    plan_given_script(s->request, &loader->diags);
    s->request->sets = (struct raw_plan) { 0 };
    return plan_job_init(s->job, loader, s->request);
}

/* The instances to choose among replace the one that the script leaves open, and their
 * number the one that it does not say. */
static int take_instance(struct cfg root, void *arg)
{
    const struct arguments *a = arg;
    struct err err = { 0 };
    struct cfg cluster = cfg_get(root, "cluster");
    if (cfg_present(cfg_get(cluster, "groups")))
        return 0;
    if (a->count && !cfg_present(cfg_get(cluster, "count")))
        pointer_set(root.json, "/cluster/count",
                    json_integer(strtoll(a->count, NULL, 10)), &err);
    if (!a->instances)
        return 0;
    json_t *first = json_stringn(a->instances, strcspn(a->instances, ","));
    json_object_del(cluster.json, "gpus_per_instance"); /* the plan's to choose */
    return pointer_set(root.json, "/cluster/instance", first, &err);
}

static int load_script(struct plan_job *job, struct cfg_loader *loader,
                       const struct arguments *a, const char *name,
                       struct plan_request *r)
{
    bool quiet = a->emit || takes_out(a);
    const struct script_options how = {
        .sets = &a->sets,
        .estimator = a->estimator,
        .log = quiet ? stderr : stdout,
        .prepare = take_instance,
        .arg = (void *)(uintptr_t)a,
    };
    struct script_job s = { job, r };
    struct cfg root;
    return script_read(&root, loader, name, &how, init_job, &s);
}

/* The stacks whose plans a dialect can say, as bits; 0: any. */
static uint32_t stacks_of(int how)
{
    int bits;
    const struct dialect *d = dialect_emitted(how);
    const char *stacks = d ? d->emit.stacks : NULL;
    return stacks && names_find(space_for_names, stacks, &bits) == 0 ? (uint32_t)bits
                                                                     : 0;
}

static int load_job(struct plan_job *job, struct cfg_loader *loader,
                    const struct arguments *a, const struct option_list *words)
{
    const struct dialect *d = dialect_emitted(a->emit);
    struct plan_request r = {
        .model = a->model,
        .instances = a->instances,
        .count = a->count,
        .global_batch = a->batch,
        .sequence = a->sequence,
        .tokens = a->tokens,
        .estimator = d && d->emit.sagemaker,
        .stacks = a->stacks ? a->stacks : (int)stacks_of(a->emit),
        .sets = words_of(&a->sets),
        .fixes = words_of(&a->fixes),
        .allows = words_of(&a->allows),
        .prices = words_of(&a->prices),
    };
    const char *name = words->n ? words->values[0] : "";
    if (launch_is_script(name))
        return load_script(job, loader, a, name, &r);
    if (words->n) {
        r.scenario = cmd_scenario(loader, name, NULL);
        if (!r.scenario.json)
            return -1;
    }
    return plan_job_init(job, loader, &r);
}

/* Output --------------------------------------------------------------------------- */

/* A plan as a scenario, in that dialect; -1: it has no words for it. */
static int emit_plan(const struct plan_job *job, const struct plan_entry *e,
                     const struct dialect_emit *how, struct err *err)
{
    struct scenario s;
    struct emitted text;
    struct cfg_loader *loader = job->loader;
    struct cfg root = cfg_from_tree(loader, "plan", plan_point_json(job, &e->point));
    if (scenario_read(&s, loader, root))
        return err_set(err, "the plan cannot be read");
    if (emit_scenario(&text, how, &s, root, err))
        return -1;
    emit_print(&text, how->name);
    emit_release(&text);
    return 0;
}

/* The best plan that the dialect can say; the reason for passing over others is
 * printed. */
static int emit(const struct plan_report *r, const struct arguments *a)
{
    const struct dialect_emit *how = &dialect_emitted(a->emit)->emit;
    char printed[sizeof(((struct err *)0)->text)] = "";
    for (int32_t i = 0; i < r->outcome->n_entries; i++) {
        struct err err = { 0 };
        if (emit_plan(r->job, &r->outcome->entries[i], how, &err) == 0)
            return 0;
        if (strcmp(printed, err.text) != 0)
            report_linef(stderr, "smsim plan: --emit %s: plan %d: %s", how->name,
                         (int)i + 1, err.text);
        memcpy(printed, err.text, sizeof(printed));
    }
    return EXIT_UNFIT;
}

/* The result as JSON, and as a page. */
static int write_trees(const struct plan_report *r, const struct arguments *a,
                       struct err *err)
{
    if (!a->json && !a->html)
        return 0;
    json_t *tree = report_plan_json(r);
    char *title = xasprintf("Plans for %s", r->job->model.label);
    int rc = a->json ? report_json_write(tree, a->json, err) : 0;
    if (rc == 0 && a->html)
        rc = page_write(page_data("plan", title, tree), a->html, err);
    json_decref(tree);
    free(title);
    return rc;
}

static int print(const struct plan_report *r, const struct arguments *a,
                 struct err *err)
{
    const struct plan_outcome *o = r->outcome;
    const struct draw_to to = { a->plot, a->look };
    if (a->plot && o->n_entries && figure_plan_write(r, &to, err))
        return -1;
    if (write_trees(r, a, err))
        return -1;
    if (a->plot && !o->n_entries)
        report_linef(stderr, "smsim plan: --plot %s: there is no plan to draw",
                     a->plot);
    bool quiet = takes_out(a);
    if (a->emit && o->n_entries) {
        report_assumed(stderr, "assumed: ", &r->job->assumed);
        return emit(r, a);
    }
    if (!quiet)
        report_plan_text(stdout, r);
    return 0;
}

static int search(const struct plan_job *job, const struct plan_options *o,
                  const struct arguments *a, struct arena *arena, struct err *err)
{
    double start_s = clock_s();
    struct plan_outcome out;
    struct plan_why *why = ARENA_NEW(arena, struct plan_why);
    struct plan_remedy *remedies =
        ARENA_ARRAY(arena, PLAN_REMEDIES, struct plan_remedy);
    if (plan_search(&out, arena, job, o, err))
        return -1;
    struct plan_report r = { .job = job, .options = o, .outcome = &out };
    if (out.n_entries && !a->emit && out.complete) {
        plan_why(why, job, o, &out);
        r.why = why;
    } else if (out.n_entries == 0 && out.n_over == 0 && out.complete) {
        r.n_remedies = plan_remedies(remedies, arena, job, o);
        r.remedies = remedies;
    }
    int printed = print(&r, a, err);
    if (printed)
        return printed;
    if (a->timing)
        fprintf(a->emit || takes_out(a) ? stderr : stdout,
                "\nplanned in %.3f s of wall-clock time\n", clock_s() - start_s);
    if (!out.complete)
        return EXIT_STOPPED;
    return out.n_entries ? EXIT_DONE : EXIT_UNFIT;
}

/* Enough to be sure of so many ranks, as a rule. */
static int32_t simulated_most(int32_t listed)
{
    enum { USUAL = 100, TIMES = 4 };
    return listed * TIMES > USUAL ? listed * TIMES : USUAL;
}

int cmd_plan(int argc, char **argv)
{
    struct arguments args = { .top = 10, .risk = RISK_MEAN, .seed = -1 };
    struct option_list words;
    struct err err = { 0 };
    int done = options_parse(&usage, argc, argv, &args, &words);
    if (done == OPTIONS_GO_ON)
        done = check_arguments(&args, &words, &err);
    if (done != OPTIONS_GO_ON)
        return done;

    struct cfg_loader loader;
    struct plan_job job = { 0 };
    struct cmd_progress meter = cmd_progress_of(NULL, 0);
    struct plan_options o = {
        .objective = (enum plan_objective)args.objective,
        .listed = (int32_t)args.top,
        .simulate_most = simulated_most((int32_t)args.top),
        .exhaustive = args.exhaustive,
        .risk = { .rule = (enum risk_rule)args.risk,
                  .draws = args.draws ? (int32_t)args.draws : risk_usual.draws,
                  .seed = args.seed > 0 ? args.seed : 0 },
        .max_cost_usd = args.max_cost,
        .deadline_h = args.deadline,
        .stop = &stop_requested,
        .progress = isatty(STDERR_FILENO) ? show_progress : NULL,
        .progress_arg = &meter,
    };
    cfg_loader_init(&loader);
    int code = -1;
    if (load_job(&job, &loader, &args, &words) == 0 &&
        plan_given_budget(&job, &o, &err) == 0) {
        second_stop = signal(SIGINT, request_stop);
        code = search(&job, &o, &args, &loader.arena, &err);
        signal(SIGINT, second_stop);
    }
    plan_job_release(&job);
    if (code < 0)
        return cmd_fail_json(&loader, &err, "plan", args.json);
    cmd_warn(&loader);
    cfg_loader_release(&loader);
    return code;
}
