/* The step of a job, and of the same on twice as many instances:
 *     cc step.c $(pkg-config --cflags --libs smsim) && ./a.out JOB [POINTER=VALUE]... */
#include <smsim.h>

#include <stdio.h>

static void print(const struct smsim_step *s)
{
    printf("%6lld GPUs  %8.4f s a step (%.4f to %.4f)  %10.1f samples/s  %5.1f GiB of "
           "%.1f%s\n",
           (long long)s->gpus, s->step_time_s, s->range_s[0], s->range_s[1],
           s->samples_per_s, (double)s->peak_bytes / (1 << 30),
           (double)s->capacity_bytes / (1 << 30), s->fits ? "" : ": does not fit");
}

static int simulate(const struct smsim_job *job, struct smsim_error *error)
{
    struct smsim_step *step = smsim_simulate(job, NULL, error);
    if (!step)
        return -1;
    print(step);
    smsim_step_free(step);
    return 0;
}

int main(int argc, char **argv)
{
    struct smsim_error error;
    const char *const twice[] = { "/cluster/count=4", NULL };
    if (argc < 2) {
        fprintf(stderr, "usage: %s JOB [POINTER=VALUE]...\n", argv[0]);
        return 2;
    }
    struct smsim_job *job =
        smsim_load(argv[1], (const char *const *)(argv + 2), &error);
    int rc = job ? simulate(job, &error) : -1;
    struct smsim_job *wide = rc == 0 ? smsim_changed(job, twice, &error) : NULL;
    if (wide)
        rc = simulate(wide, &error);
    if (!wide || rc)
        fprintf(stderr, "%s\n", error.text);
    smsim_job_free(wide);
    smsim_job_free(job);
    return wide && rc == 0 ? 0 : 1;
}
