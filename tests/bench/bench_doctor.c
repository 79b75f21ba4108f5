/* How well smsim doctor names faults: every fault over all jobs, from the step times
 * alone, with memory, and with all logs. bench_doctor SEEDS prints the table of
 * docs/validation/doctor.md, of so many draws of each; without an argument, how long one
 * diagnosis takes. */
#include "../unit/faults.h"

#include "base/clock.h"

#include <stdlib.h>

enum { NAMES = 40, UNKNOWN = NAMES - 2, HEALTHY = NAMES - 1 };

struct tally {
    int n, first, three, normal;
    int answers[NAMES];
};

static struct tally tallies[N_FAULT_LOGS][N_FAULTS];

static int answer_of(const struct doctor *d)
{
    const struct doctor_cause *c = &d->causes.of[d->causes.classes[0].causes[0]];
    if (c->kind != DOCTOR_KNOWN)
        return c->kind == DOCTOR_HEALTHY ? HEALTHY : UNKNOWN;
    return (int)(c->of[0] - hypotheses);
}

static void run_job(struct cfg_loader *files, const json_t *job, int seeds)
{
    struct doctor_predictor by;
    doctor_predictor_init(&by, files);
    struct chance chance = { 12345 };
    for (int f = 0; f < N_FAULTS; f++)
        for (int s = 0; s < seeds; s++) {
            struct faulty_run r;
            if (!fault_run(&r, &by, job, &faults[f], &chance))
                continue;
            for (int with = 0; with < N_FAULT_LOGS; with++) {
                struct tally *t = &tallies[with][f];
                struct doctor *d = xmalloc(sizeof(*d));
                struct logs l;
                fault_diagnose(d, &l, &by, job, &r, &faults[f], (enum fault_logs)with,
                               &chance);
                if (d->causes.n) {
                    int place = fault_place(d, &faults[f]);
                    t->n++;
                    t->first += place == 1;
                    t->three += place >= 1 && place <= 3;
                    t->normal += d->verdict == DOCTOR_NORMAL;
                    t->answers[answer_of(d)]++;
                }
                logs_release(&l);
                free(d);
            }
        }
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
    for (int shown = 0, i = 0; i < NAMES; i++)
        if (all->answers[i] * 20 >= all->n)
            printf("%s %s %.0f", shown++ ? "," : "", answer_name(i),
                   100.0 * all->answers[i] / all->n);
    printf(" |\n");
}

static void print_sums(void)
{
    for (int with = 0; with < N_FAULT_LOGS; with++) {
        static const char *const names[] = { "times", "times and memory", "and a trace",
                                             "all logs" };
        struct tally sum = { 0 };
        for (int f = 1; f < N_FAULTS; f++) {
            sum.n += tallies[with][f].n;
            sum.first += tallies[with][f].first;
            sum.three += tallies[with][f].three;
        }
        const struct tally *h = &tallies[with][0];
        printf("%s: first %.0f %%, among three %.0f %% of %d; healthy called normal "
               "%.0f %% of %d, \"as described\" first %.0f %%\n",
               names[with], 100.0 * sum.first / sum.n, 100.0 * sum.three / sum.n, sum.n,
               100.0 * h->normal / h->n, h->n, 100.0 * h->first / h->n);
    }
}

/* Over the shipped scenarios, and those of faults.h; the number of jobs. */
static int run_all(struct cfg_loader *files, int seeds)
{
    const char **name = datadir_list(&files->arena, "scenarios");
    int jobs = 0;
    for (; *name; name++) {
        struct cfg job = datadir_load(files, "scenarios", *name, (struct cfg) { 0 });
        if (job.json) {
            run_job(files, job.json, seeds);
            jobs++;
        }
    }
    for (int i = 0; i < N_FAULT_JOBS; i++, jobs++) {
        struct cfg job =
            cfg_parse(files, "job.json", fault_jobs[i], strlen(fault_jobs[i]));
        run_job(files, job.json, seeds);
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
    fault_run(&r, &by, job.json, &faults[1], &chance);
    double start_s = clock_s();
    fault_diagnose(d, &l, &by, job.json, &r, &faults[1], WITH_ALL, &chance);
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
    printf("%d jobs\n\n| fault | runs | times | with memory | and a trace | all logs | "
           "answers with all logs, %% |\n|---|---|---|---|---|---|---|\n",
           run_all(&files, atoi(argv[1])));
    for (int f = 0; f < N_FAULTS; f++)
        print_fault(f);
    printf("\n");
    print_sums();
    cfg_loader_release(&files);
    return 0;
}
