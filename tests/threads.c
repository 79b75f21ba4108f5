/* Four threads that simulate, change, plan and compare different jobs and a shared one at
 * the same time get what one thread gets. For TSan (make threads), with libsmsim.a. */
#include <smsim.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 3 };

static const char *const names[THREADS] = {
    "bert-large-squad-2xp3.16xlarge",
    "llama2-70b-smp2-16xp5.48xlarge",
    "gpt2-xl-smp-4xp3dn.24xlarge",
    "qwen3-30b-a3b-2xp5.48xlarge",
};

struct work {
    int index;
    const struct smsim_job *shared;
    char *own, *of_shared, *plans;
};

static void fail(const char *what, const struct smsim_error *error)
{
    fprintf(stderr, "threads: %s: %s\n", what, error->text);
    exit(1);
}

static char *step(const struct smsim_job *job)
{
    struct smsim_error error;
    struct smsim_step *s = smsim_simulate(job, NULL, &error);
    if (!s)
        fail("simulate", &error);
    char *json = strdup(s->json);
    smsim_step_free(s);
    return json;
}

static char *best(int index)
{
    struct smsim_error error;
    const struct smsim_plan_request request = {
        .size = sizeof(request),
        .model = index % 2 ? "gpt2" : "bert-large-uncased",
        .instances = index / 2 ? "p3.8xlarge" : "g5.12xlarge",
        .count = "1",
        .global_batch = 32,
        .sequence_length = 384,
        .top = 2,
        .threads = 1,
    };
    struct smsim_plans *p = smsim_plan(&request, &error);
    if (!p)
        fail("plan", &error);
    char *json = strdup(p->json);
    smsim_plans_free(p);
    return json;
}

static void *run(void *arg)
{
    struct work *w = arg;
    struct smsim_error error;
    struct smsim_job *job = smsim_load(names[w->index], NULL, &error);
    if (!job)
        fail(names[w->index], &error);
    w->own = step(job);
    w->of_shared = step(w->shared);
    w->plans = best(w->index);
    if (smsim_load("nothing", NULL, &error) || error.status != SMSIM_BAD_INPUT)
        fail("nothing", &error);
    smsim_job_free(job);
    return NULL;
}

static void release(struct work *w)
{
    free(w->own);
    free(w->of_shared);
    free(w->plans);
}

static int round_of(const struct smsim_job *shared, const struct work *alone)
{
    pthread_t threads[THREADS];
    struct work work[THREADS];
    int wrong = 0;
    for (int i = 0; i < THREADS; i++) {
        work[i] = (struct work) { .index = i, .shared = shared };
        pthread_create(&threads[i], NULL, run, &work[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        wrong += strcmp(work[i].own, alone[i].own) != 0;
        wrong += strcmp(work[i].of_shared, alone[i].of_shared) != 0;
        wrong += strcmp(work[i].plans, alone[i].plans) != 0;
        release(&work[i]);
    }
    return wrong;
}

int main(void)
{
    struct smsim_error error;
    struct work alone[THREADS];
    int wrong = 0;
    struct smsim_job *shared = smsim_load(names[0], NULL, &error);
    if (!shared)
        fail(names[0], &error);
    for (int i = 0; i < THREADS; i++) {
        alone[i] = (struct work) { .index = i, .shared = shared };
        run(&alone[i]);
    }
    for (int i = 0; i < ROUNDS; i++)
        wrong += round_of(shared, alone);
    for (int i = 0; i < THREADS; i++)
        release(&alone[i]);
    smsim_job_free(shared);
    printf("threads: %d results, %d differ\n", ROUNDS * THREADS * 3, wrong);
    return wrong != 0;
}
