/* The best plan of a model on two kinds of instances, searched for in two threads, and
 * what makes both differ:
 *     cc choose.c $(pkg-config --cflags --libs smsim) -lpthread && ./a.out */
#include <smsim.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct search {
    const char *instance;
    struct smsim_plans *plans;
    struct smsim_job *best;
    struct smsim_error error;
};

static void *run(void *arg)
{
    struct search *s = arg;
    const struct smsim_plan_request request = {
        .size = sizeof(request),
        .model = "bert-large-uncased",
        .instances = s->instance,
        .count = "1",
        .global_batch = 64,
        .sequence_length = 384,
        .top = 3,
        .threads = 1,
    };
    s->plans = smsim_plan(&request, &s->error);
    if (s->plans && s->plans->n_plans) {
        const char *text = s->plans->plans[0].scenario;
        s->best = smsim_parse(text, strlen(text), s->instance, NULL, &s->error);
    }
    return NULL;
}

static void print(const struct search *s)
{
    const struct smsim_plan *p = s->plans->plans;
    for (int i = 0; i < s->plans->n_plans; i++)
        printf("%s  %d  %.4f s  %.1f samples/s  %.2f USD per million\n", p[i].instance,
               i + 1, p[i].step_time_s, p[i].samples_per_s,
               p[i].usd_per_million_samples);
}

static int compare(const struct search *a, const struct search *b)
{
    struct smsim_error error;
    struct smsim_difference *d = smsim_compare(a->best, b->best, &error);
    if (!d) {
        fprintf(stderr, "%s\n", error.text);
        return -1;
    }
    printf("%.4f s to %.4f s:\n", d->from_s, d->to_s);
    for (int i = 0; i < d->n_causes; i++)
        printf("  %-30s %+.4f s\n", d->causes[i].name, d->causes[i].step_time_s);
    smsim_difference_free(d);
    return 0;
}

int main(void)
{
    struct search searches[] = { { .instance = "p3.8xlarge" },
                                 { .instance = "p4d.24xlarge" } };
    pthread_t threads[2];
    int rc = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, &searches[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) {
        if (searches[i].best) {
            print(&searches[i]);
        } else {
            fprintf(stderr, "%s\n", searches[i].error.text);
            rc = 1;
        }
    }
    if (rc == 0)
        rc = compare(&searches[0], &searches[1]) ? 1 : 0;
    for (int i = 0; i < 2; i++) {
        smsim_job_free(searches[i].best);
        smsim_plans_free(searches[i].plans);
    }
    return rc;
}
