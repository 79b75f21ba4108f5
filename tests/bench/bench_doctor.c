/* How well smsim doctor names faults: every fault over all jobs, from the step times
 * alone, with memory, and with all logs. bench_doctor SEEDS [SD] prints the table of
 * docs/validation/doctor.md, of so many draws of each, with communication that errs by SD
 * (0.1; -1: steps err as a whole, as published ones do); without an argument, how long one diagnosis takes. */
#include "../unit/faults.h"

#include "base/clock.h"

#include <stdlib.h>

enum { NAMES = 40, UNKNOWN = NAMES - 2, HEALTHY = NAMES - 1, HEALTHY_DRAWS = 10 };

/* How far communication errs. */
static double comm_sd;

struct tally {
    int n, first, three, normal;
    int own_first, own_three; /* the cause itself, not its class */
    int pair_first;           /* two causes are the first answer */
    double members, tried;    /* hypotheses of the right class; all */
    int answers[NAMES];
};

static struct tally tallies[N_FAULT_LOGS][N_FAULTS];

/* Two at once. */
struct pair_tally {
    int n, both_three, one_first, both_own;
};
static struct pair_tally pair_tallies[N_FAULT_LOGS][N_FAULTS][N_FAULTS];

static int answer_of(const struct doctor *d)
{
    const struct doctor_cause *c = &d->causes.of[d->causes.classes[0].causes[0]];
    if (c->kind != DOCTOR_KNOWN)
        return c->kind == DOCTOR_HEALTHY ? HEALTHY : UNKNOWN;
    return (int)(c->of[0] - hypotheses);
}

static void count_class(struct tally *t, const struct doctor *d, const struct fault *f)
{
    int32_t class = fault_class(d, f);
    for (int32_t i = 0; i < d->causes.n; i++) {
        const struct doctor_cause *c = &d->causes.of[i];
        if (c->kind != DOCTOR_KNOWN || c->of[1])
            continue;
        t->tried++;
        t->members += c->class[0] == class;
    }
}

static void count(struct tally *t, const struct doctor *d, const struct fault *f)
{
    int place = fault_place(d, f), own = fault_own_place(d, f);
    t->n++;
    t->first += place == 1;
    t->three += place >= 1 && place <= 3;
    t->own_first += own == 1;
    t->own_three += own >= 1 && own <= 3;
    t->normal += d->verdict == DOCTOR_NORMAL;
    t->pair_first += d->causes.of[d->causes.classes[0].causes[0]].of[1] != NULL;
    t->answers[answer_of(d)]++;
    count_class(t, d, f);
}

static void count_pair(struct pair_tally *t, const struct doctor *d,
                       const struct faulty *f)
{
    int place[2] = { fault_place(d, f->of[0]), fault_place(d, f->of[1]) };
    int own[2] = { fault_own_place(d, f->of[0]), fault_own_place(d, f->of[1]) };
    t->n++;
    t->both_three += place[0] && place[0] <= 3 && place[1] && place[1] <= 3;
    t->both_own += own[0] && own[0] <= 3 && own[1] && own[1] <= 3;
    t->one_first += place[0] == 1 || place[1] == 1;
}

/* One run of faults, by each kind of logs. */
static void run_faults(struct doctor_predictor *by, const json_t *job, int a, int b,
                       struct chance *chance)
{
    const struct faulty f = { { &faults[a], b >= 0 ? &faults[b] : NULL } };
    struct faulty_run r;
    if (!fault_run(&r, by, job, &f, comm_sd, chance))
        return;
    for (int with = 0; with < N_FAULT_LOGS; with++) {
        struct doctor *d = xmalloc(sizeof(*d));
        struct logs l;
        fault_diagnose(d, &l, by, job, &r, &f, (enum fault_logs)with, chance);
        if (d->causes.n && b < 0)
            count(&tallies[with][a], d, &faults[a]);
        if (d->causes.n && b >= 0)
            count_pair(&pair_tallies[with][a][b], d, &f);
        logs_release(&l);
        free(d);
    }
}

/* Of one family, the slower of two is what is seen; of one fault, one strength. */
static bool may_be_both(int a, int b)
{
    const struct fault *x = &faults[a], *y = &faults[b];
    bool again = (a > 0 && strcmp(faults[a - 1].name, x->name) == 0) ||
                 strcmp(faults[b - 1].name, y->name) == 0;
    bool one_family = strcmp(x->family, y->family) == 0 && x->family[0] != 'j';
    return !again && !one_family && x->kind != FAULT_NONE;
}

static void run_job(struct cfg_loader *files, const json_t *job, int seeds,
                    struct chance *chance)
{
    struct doctor_predictor by;
    doctor_predictor_init(&by, files);
    for (int f = 0; f < N_FAULTS; f++)
        for (int s = 0; s < (f ? seeds : HEALTHY_DRAWS * seeds); s++)
            run_faults(&by, job, f, -1, chance);
    for (int a = 0; a < N_FAULTS; a++)
        for (int b = a + 1; b < N_FAULTS; b++)
            for (int s = 0; s < seeds && may_be_both(a, b); s++)
                run_faults(&by, job, a, b, chance);
    doctor_predictor_release(&by);
}

static const char *answer_name(int i)
{
    return i == HEALTHY   ? "as described"
           : i == UNKNOWN ? "nothing known"
                          : hypotheses[i].name;
}

static void print_fault(int f)
{
    const struct tally *all = &tallies[WITH_ALL][f];
    int shown = 0;
    char strength[24] = "";
    if (faults[f].by > 0)
        snprintf(strength, sizeof(strength), " %g", faults[f].by);
    if (tallies[0][f].n == 0)
        return;
    if (faults[f].keys[0][1] && strchr(faults[f].keys[0][1], 'x') && f != 1)
        snprintf(strength, sizeof(strength), " %.6s", faults[f].keys[0][1] + 1);
    printf("| %s%.*s | %d |", faults[f].name, (int)strcspn(strength, "\""), strength,
           tallies[0][f].n);
    for (int with = 0; with < N_FAULT_LOGS; with++) {
        const struct tally *t = &tallies[with][f];
        printf(" %.0f, %.0f |", 100.0 * t->first / t->n, 100.0 * t->three / t->n);
    }
    for (int i = 0; i < NAMES; i++)
        if (all->answers[i] * 20 >= all->n)
            printf("%s %s %.0f", shown++ ? "," : "", answer_name(i),
                   100.0 * all->answers[i] / all->n);
    printf(" |\n");
}

static const char *const logs_names[] = { "times", "times and memory", "and a trace",
                                          "all logs" };

static void add_tally(struct tally *sum, const struct tally *t)
{
    sum->n += t->n;
    sum->first += t->first;
    sum->three += t->three;
    sum->own_first += t->own_first;
    sum->own_three += t->own_three;
    sum->normal += t->normal;
    sum->pair_first += t->pair_first;
    sum->members += t->members;
    sum->tried += t->tried;
}

static void print_sums(void)
{
    printf("| logs | class first | among three | cause itself first | among three | a "
           "pair "
           "first | hypotheses of the class, of all | faults called normal | healthy "
           "called normal | healthy: as described first "
           "|\n|---|---|---|---|---|---|---|---|"
           "---|---|\n");
    for (int with = 0; with < N_FAULT_LOGS; with++) {
        struct tally sum = { 0 };
        const struct tally *h = &tallies[with][0];
        for (int f = 1; f < N_FAULTS; f++)
            add_tally(&sum, &tallies[with][f]);
        double n = sum.n / 100.0;
        printf("| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.1f of %.1f | %.0f | %.0f | "
               "%.0f |\n",
               logs_names[with], sum.first / n, sum.three / n, sum.own_first / n,
               sum.own_three / n, sum.pair_first / n, sum.members / sum.n,
               sum.tried / sum.n, sum.normal / n, 100.0 * h->normal / h->n,
               100.0 * h->first / h->n);
    }
}

static double percent(int part, int n)
{
    return n ? 100.0 * part / n : 0;
}

/* Rows of pairs that some kind of logs finds in fewer than 80 %. */
static void print_pair(int a, int b)
{
    int n = pair_tallies[0][a][b].n, least = n;
    for (int with = 0; with < N_FAULT_LOGS; with++)
        if (pair_tallies[with][a][b].both_three < least)
            least = pair_tallies[with][a][b].both_three;
    if (least >= 0.8 * n)
        return;
    printf("| %s, %s | %d |", faults[a].name, faults[b].name, n);
    for (int with = 0; with < N_FAULT_LOGS; with++)
        printf(" %.0f |", percent(pair_tallies[with][a][b].both_three, n));
    printf("\n");
}

static void print_pairs(void)
{
    struct pair_tally sum[N_FAULT_LOGS] = { { 0 } };
    printf("\n| two at once | runs | times | with memory | and a trace | all logs |\n"
           "|---|---|---|---|---|---|\n");
    for (int a = 0; a < N_FAULTS; a++)
        for (int b = 0; b < N_FAULTS; b++) {
            print_pair(a, b);
            for (int with = 0; with < N_FAULT_LOGS; with++) {
                const struct pair_tally *t = &pair_tallies[with][a][b];
                sum[with].n += t->n;
                sum[with].both_three += t->both_three;
                sum[with].both_own += t->both_own;
                sum[with].one_first += t->one_first;
            }
        }
    for (int with = 0; with < N_FAULT_LOGS; with++)
        printf(
            "%s: both among three %.0f %%, both themselves %.0f %%, one of them first "
            "%.0f %% of %d\n",
            logs_names[with], percent(sum[with].both_three, sum[with].n),
            percent(sum[with].both_own, sum[with].n),
            percent(sum[with].one_first, sum[with].n), sum[with].n);
}

/* Over the shipped scenarios, and those of faults.h; the number of jobs. */
static int run_all(struct cfg_loader *files, int seeds)
{
    const char **name = datadir_list(&files->arena, "scenarios");
    struct chance chance = { 12345 };
    int jobs = 0;
    for (; *name; name++) {
        struct cfg job = datadir_load(files, "scenarios", *name, (struct cfg) { 0 });
        if (job.json) {
            run_job(files, job.json, seeds, &chance);
            jobs++;
        }
    }
    for (int i = 0; i < N_FAULT_JOBS; i++, jobs++) {
        struct cfg job =
            cfg_parse(files, "job.json", fault_jobs[i], strlen(fault_jobs[i]));
        run_job(files, job.json, seeds, &chance);
    }
    return jobs;
}

static void time_one(struct cfg_loader *files)
{
    struct chance chance = { 1 };
    struct faulty_run r;
    struct doctor *d = xmalloc(sizeof(*d));
    struct doctor_predictor by;
    struct logs l;
    struct cfg job = cfg_parse(files, "job.json", fault_jobs[6], strlen(fault_jobs[6]));
    doctor_predictor_init(&by, files);
    const struct faulty one = { { &faults[1], NULL } };
    fault_run(&r, &by, job.json, &one, fault_comm_sd, &chance);
    double start_s = clock_s();
    fault_diagnose(d, &l, &by, job.json, &r, &one, WITH_ALL, &chance);
    printf("one diagnosis: %.0f ms, %d jobs simulated\n", (clock_s() - start_s) * 1e3,
           (int)d->causes.n_simulated);
    logs_release(&l);
    doctor_predictor_release(&by);
    free(d);
}

int main(int argc, char **argv)
{
    struct cfg_loader files;
    cfg_loader_init(&files);
    if (argc < 2) {
        time_one(&files);
        cfg_loader_release(&files);
        return 0;
    }
    comm_sd = argc > 2 ? atof(argv[2]) : fault_comm_sd;
    printf("%d jobs\n\n| fault | runs | times | with memory | and a trace | all logs | "
           "answers with all logs, %% |\n|---|---|---|---|---|---|---|\n",
           run_all(&files, atoi(argv[1])));
    for (int f = 0; f < N_FAULTS; f++)
        print_fault(f);
    printf("\n");
    print_sums();
    print_pairs();
    cfg_loader_release(&files);
    return 0;
}
