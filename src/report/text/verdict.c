/* The verdict on a step in one line: whether it fits, how long it takes, and what
 * binds. */
#include "base/terminal.h"
#include "base/units.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>

/* What a part does to a step: "71 % waits for gradients". */
static const char *const part_verbs[CATEGORY_N] = {
    [CATEGORY_COMPUTE] = "computes",
    [CATEGORY_RECOMPUTE] = "recomputes activations",
    [CATEGORY_REFERENCE] = "runs the reference",
    [CATEGORY_TENSOR_COMM] = "waits for tensor-parallel communication",
    [CATEGORY_PIPELINE_COMM] = "waits for pipeline messages",
    [CATEGORY_PIPELINE_BUBBLE] = "is pipeline bubble",
    [CATEGORY_CONTEXT_COMM] = "waits for context-parallel communication",
    [CATEGORY_EXPERT_COMM] = "waits for experts' tokens",
    [CATEGORY_DATA_COMM_EXPOSED] = "waits for gradients",
    [CATEGORY_OPTIMIZER] = "updates parameters",
    [CATEGORY_OFFLOAD_EXPOSED] = "waits for offloaded states",
    [CATEGORY_INPUT_WAIT] = "waits for input",
    [CATEGORY_OTHER] = "waits for the host",
};

/* "fits with 4 GiB left" */
static void fit_text(char *out, size_t size, const struct report_verdict *v)
{
    char text[UNITS_TEXT_MAX];
    units_bytes_text(text, fabs((double)(v->capacity_B - v->peak_B)));
    if (v->fits)
        snprintf(out, size,
                 v->near_limit ? "may not fit: %s left" : "fits with %s left", text);
    else
        snprintf(out, size,
                 v->near_limit ? "does not fit by %s, within the error"
                               : "does not fit: %s too much",
                 text);
}

void report_verdict_print(FILE *out, const struct report_verdict *v)
{
    char fit[96], time[UNITS_TEXT_MAX], range[UNITS_RANGE_MAX], line[320];
    enum category part = simulate_binding(v->parts_s, v->step_time_s);
    fit_text(fit, sizeof(fit), v);
    units_time_range_text(range, v->range_s, v->step_time_s);
    snprintf(line, sizeof(line), "%s; %s a step (%s), of which %.0f %% %s", fit,
             units_time_text(time, v->step_time_s), range,
             100 * v->parts_s[part] / v->step_time_s, part_verbs[part]);
    report_verdict_line(out, v->fits, line);
}

void report_verdict_line(FILE *out, bool good, const char *line)
{
    fputs(terminal_style(out, good ? TERMINAL_STRONG : TERMINAL_WRONG), out);
    report_wrap(out, "", "    ", line);
    fputs(terminal_style(out, TERMINAL_PLAIN), out);
}

void report_verdict_text(FILE *out, const struct simulate_result *r)
{
    const struct memory_result *m = &r->memory;
    report_verdict_print(out, &(struct report_verdict) {
                                  .fits = m->fits,
                                  .near_limit = m->near_limit,
                                  .peak_B = m->peak_B,
                                  .capacity_B = m->capacity_B,
                                  .step_time_s = r->step_time_s,
                                  .range_s = r->range_s,
                                  .parts_s = r->parts_s,
                              });
}
