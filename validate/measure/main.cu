/* smsim-measure: options, and the whole of a run. */
#include "gpus.h"
#include "measure.h"
#include "output.h"
#include "sections.h"
#include "task.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_USAGE = 2, EXIT_BAD_INPUT = 3, DEVICES_MOST = 16 };

static int measure(const struct measure_options *options)
{
    struct output o;
    char why[256];
    time_t now = time(NULL);
    memset(&o, 0, sizeof(o));
    o.options = options;
    if (gpus_count(&o.n_devices, why, sizeof(why))) {
        fprintf(stderr, "smsim-measure: no GPU to measure: %s\n", why);
        return EXIT_BAD_INPUT;
    }
    o.n_devices = o.n_devices > DEVICES_MOST ? DEVICES_MOST : o.n_devices;
    strftime(o.date, sizeof(o.date), "%Y-%m-%d", gmtime(&now));
    gpus_driver(o.driver, sizeof(o.driver));
    for (int gpu = 0; gpu < o.n_devices; gpu++) {
        struct task t = {
            "device", section_device, gpu, NULL, 0, measure_now_s() + 60
        };
        if (task_run(&o, &t, task_take_device) != TASK_ENDED) {
            fprintf(stderr, "smsim-measure: gpu%d does not answer\n", gpu);
            return EXIT_BAD_INPUT;
        }
    }
    int rc = sections_run(&o);
    output_free(&o);
    return rc ? EXIT_BAD_INPUT : 0;
}

/* --- options ---------------------------------------------------------------------- */

static void print_help(void)
{
    printf("smsim-measure --out FILE [OPTION]...\n\n"
           "Measures the GPUs of this machine; smsim calibrate reads the result.\n\n"
           "  --out FILE          the result, as JSON; kept whole while it grows\n"
           "  --budget SECONDS    about how long it may take (600)\n"
           "  --sections A,B,...  only these:");
    for (int i = 0; sections_name(i); i++)
        printf(" %s", sections_name(i));
    printf(
        "\n  --model FILE        a training step of this config.json, too; may be "
        "given\n"
        "                      again, for further steps\n"
        "  --batch N           sequences on each GPU of the --model before it (4)\n"
        "  --sequence N        tokens of each, likewise (512)\n"
        "  --steps N           repetitions of each step (20)\n"
        "  --fp16              16-bit numbers are fp16 (bf16 where the GPU has it)\n");
}

static int wrong(const char *word, const char *what)
{
    fprintf(stderr, "smsim-measure: %s: %s (see --help)\n", word, what);
    return EXIT_USAGE;
}

static bool read_number(const char *text, double least, double most, double *v)
{
    char *end;
    *v = strtod(text, &end);
    return end != text && *end == '\0' && *v >= least && *v <= most;
}

static int add_step(struct measure_options *o, const char *model)
{
    if (o->n_steps == MEASURE_STEPS_MOST)
        return wrong("--model", "is given too often");
    o->steps[o->n_steps++] = { model, 4, 512 };
    return 0;
}

/* --batch and --sequence are of the step begun last. */
static int set_step(struct measure_options *o, const char *name, const char *value)
{
    double v = 0;
    if (o->n_steps == 0)
        return wrong(name, "belongs after its --model");
    struct measure_step *step = &o->steps[o->n_steps - 1];
    if (strcmp(name, "--batch") == 0 && read_number(value, 1, 1e5, &v))
        step->batch = (int64_t)v;
    else if (strcmp(name, "--sequence") == 0 && read_number(value, 8, 1e5, &v))
        step->sequence = (int64_t)v;
    else
        return wrong(name, "is no such number");
    return 0;
}

/* Words with a value; 0, or an exit code. */
static int set_option(struct measure_options *o, const char *name, const char *value)
{
    double v = 0;
    if (strcmp(name, "--out") == 0)
        o->out = value;
    else if (strcmp(name, "--model") == 0)
        return add_step(o, value);
    else if (strcmp(name, "--batch") == 0 || strcmp(name, "--sequence") == 0)
        return set_step(o, name, value);
    else if (strcmp(name, "--sections") == 0 && sections_known(value))
        o->sections = value;
    else if (strcmp(name, "--budget") == 0 && read_number(value, 1, 1e6, &v))
        o->budget_s = v;
    else if (strcmp(name, "--steps") == 0 && read_number(value, 1, 1e4, &v))
        o->timed = (int64_t)v;
    else
        return wrong(name, "no such option, or not such a value");
    return 0;
}

int main(int argc, char **argv)
{
    struct measure_options o = {};
    o.budget_s = 600;
    o.timed = 20;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            print_help();
            return 0;
        }
        if (strcmp(argv[i], "--fp16") == 0) {
            o.fp16 = true;
            continue;
        }
        if (i + 1 == argc)
            return wrong(argv[i], "needs a value");
        int rc = set_option(&o, argv[i], argv[i + 1]);
        if (rc)
            return rc;
        i++;
    }
    if (!o.out)
        return wrong("--out", "is missing");
    return measure(&o);
}
