/* Steps that were run, compared with those predicted, as JSON. */
#include "report/compare.h"
#include "config/contract.h"
#include "model/ops.h"

#include <math.h>

static const struct name_value program_names[] = {
    { "smsim-measure", MEASURED_OWN },
    { "pytorch-eager", MEASURED_EAGER },
    { "pytorch-compiled", MEASURED_COMPILED },
    { NULL, 0 },
};

/* What is not there is null. */
struct pair {
    double measured, predicted, error;
};

static struct pair pair_of(struct compared c)
{
    return (struct pair) { c.measured > 0 ? c.measured : (double)NAN,
                           c.predicted > 0 ? c.predicted : (double)NAN,
                           compared_error(c) };
}

struct operator
{
    struct pair pair;
    struct compared_op op;
};

/* clang-format off */
#define KNOWN .flags = CONTRACT_MAY_NULL
#define LACKS .flags = CONTRACT_MAY_LACK
#define PAIR(tag, at)                                                                         \
    CONTRACT_AT("measured", REAL, tag, at measured, "Seconds, or bytes.", KNOWN),             \
    CONTRACT_AT("predicted", REAL, tag, at predicted, "Seconds, or bytes.", KNOWN),           \
    CONTRACT_AT("error", REAL, tag, at error, "The signed error, as a fraction of what was measured.", KNOWN)

static const struct contract_member pair_rows[] = { PAIR(pair, ), CONTRACT_END };
static const struct contract_object pair = { "pair", pair_rows };

static const struct contract_member operator_rows[] = {
    PAIR(operator, pair.),
    CONTRACT_AT("name", TEXT, operator, op.name, "As in the operator list.", KNOWN),
    CONTRACT_AT("backward", BOOL, operator, op.backward, "Whether it is one of backward."),
    CONTRACT_AT("count", INT64, operator, op.count, "Of a step."),
    CONTRACT_END,
};
static const struct contract_object operator_contract = { "operator", operator_rows };

static const struct contract_member statistics_rows[] = {
    CONTRACT_AT("n", INT64, stats, n, "Values compared."),
    CONTRACT_AT("median_abs_error", REAL, stats, median_abs, "Median of |error|.", KNOWN),
    CONTRACT_AT("mean_abs_error", REAL, stats, mean_abs, "Mean of |error|.", KNOWN),
    CONTRACT_AT("max_abs_error", REAL, stats, max_abs, "The largest |error|.", KNOWN),
    CONTRACT_AT("bias", REAL, stats, bias, "Mean of the signed errors.", KNOWN),
    CONTRACT_END,
};
static const struct contract_object statistics = { "statistics", statistics_rows };
/* clang-format on */

/* --- a step ------------------------------------------------------------------------ */

struct step {
    struct measured_step s;
    struct comparison c;
    const char *failed; /* it was predicted, and not measured */
};

static bool is_there(const struct step *x)
{
    return !x->c.error && !x->failed;
}

/* Not there where there is nothing to compare. */
static json_t *pair_json(const struct step *x, struct compared c)
{
    const struct pair p = pair_of(c);
    return is_there(x) ? contract_json(&pair, &p) : NULL;
}

static json_t *operators(const void *step)
{
    const struct step *x = step;
    if (!is_there(x))
        return NULL;
    json_t *list = json_array();
    for (int32_t i = 0; i < x->c.n_ops; i++) {
        const struct compared_op *o = &x->c.ops[i];
        const struct operator one = {
            pair_of((struct compared) { o->measured_s, o->predicted_s }), *o
        };
        json_array_append_new(list, contract_json(&operator_contract, &one));
    }
    return list;
}

static json_t *forward(const void *step)
{
    const struct step *x = step;
    return x->c.n_ops ? pair_json(x, x->c.forward) : NULL;
}

static json_t *backward(const void *step)
{
    const struct step *x = step;
    return x->c.n_ops ? pair_json(x, x->c.backward) : NULL;
}

static json_t *errors(const void *step)
{
    const struct step *x = step;
    return is_there(x) && x->c.n_ops ? contract_json(&statistics, &x->c.stats) : NULL;
}

static json_t *misplaced(const void *step)
{
    const struct step *x = step;
    return is_there(x) && x->c.n_ops ? json_real(x->c.misplaced) : NULL;
}

static json_t *optimizer(const void *step)
{
    const struct step *x = step;
    return pair_json(x, x->c.update);
}

static json_t *communication(const void *step)
{
    const struct step *x = step;
    return pair_json(x, x->c.communication);
}

static json_t *step_time(const void *step)
{
    const struct step *x = step;
    return pair_json(x, x->c.time);
}

static json_t *memory(const void *step)
{
    const struct step *x = step;
    return pair_json(x, x->c.memory);
}

static json_t *reserved(const void *step)
{
    const struct step *x = step;
    return pair_json(x, x->c.reserved);
}

/* clang-format off */
static const struct contract_member step_rows[] = {
    CONTRACT_AT("file", TEXT, step, s.file, "The file of measurements."),
    CONTRACT_AT("model", TEXT, step, s.model, "The model."),
    CONTRACT_AT("program", NAME, step, s.program, "What ran the step.", .names = program_names),
    CONTRACT_AT("precision", NAME, step, s.precision, "The precision.", .names = op_precision_names),
    CONTRACT_AT("attention", NAME, step, s.attention, "The kernels of attention.", .names = op_attention_names),
    CONTRACT_AT("framework", TEXT, step, c.framework, "The profile that it was predicted with.", KNOWN),
    CONTRACT_AT("gpus", INT64, step, s.n_gpus, "GPUs."),
    CONTRACT_AT("batch", INT64, step, s.batch, "Sequences of a GPU."),
    CONTRACT_AT("sequence", INT64, step, s.sequence, "Tokens of a sequence."),
    CONTRACT_AT("not_predicted", TEXT, step, c.error, "Why there is no prediction; the members below are not there then.", LACKS),
    CONTRACT_AT("did_not_run", TEXT, step, failed, "Why it was not measured; the members below are not there then.", LACKS),
    CONTRACT_MADE("operators", LIST, operators, "Those that either side has.", LACKS, .of = &operator_contract),
    CONTRACT_MADE("forward_s", OBJECT, forward, "Kernels of forward.", LACKS, .of = &pair),
    CONTRACT_MADE("backward_s", OBJECT, backward, "Kernels of backward.", LACKS, .of = &pair),
    CONTRACT_MADE("operator_errors", OBJECT, errors, "Of operators that both sides have.", LACKS, .of = &statistics),
    CONTRACT_MADE("misplaced_frac", REAL, misplaced, "Of the time, what is on the wrong operator.", LACKS),
    CONTRACT_MADE("optimizer_s", OBJECT, optimizer, "Kernels of the optimizer.", LACKS, .of = &pair),
    CONTRACT_MADE("communication_exposed_s", OBJECT, communication, "What the step waits for communication.", LACKS, .of = &pair),
    CONTRACT_MADE("step_time_s", OBJECT, step_time, "Time of one training step.", LACKS, .of = &pair),
    CONTRACT_MADE("memory_bytes", OBJECT, memory, "As nvidia-smi shows it; of PyTorch live tensors.", LACKS, .of = &pair),
    CONTRACT_MADE("reserved_bytes", OBJECT, reserved, "Of PyTorch's caching allocator.", LACKS, .of = &pair),
    CONTRACT_END,
};
static const struct contract_object step_contract = { "step", step_rows };
/* clang-format on */

/* --- the result ---------------------------------------------------------------------- */

struct steps {
    struct comparisons all;
    const struct diags *warnings;
    bool complete;
};

static json_t *failures(const void *result)
{
    const struct measured *m = ((const struct steps *)result)->all.measured;
    json_t *list = json_array();
    for (int64_t i = 0; i < m->failures.n; i++)
        json_array_append_new(list, json_string(m->failures.v[i]));
    return list;
}

static json_t *steps(const void *result)
{
    const struct comparisons *all = &((const struct steps *)result)->all;
    json_t *list = json_array();
    for (int64_t i = 0; i < all->n; i++) {
        const struct comparison *c = &all->v[i];
        const struct step x = { *c->step, *c, c->error ? NULL : c->step->failed };
        json_array_append_new(list, contract_json(&step_contract, &x));
    }
    return list;
}

static json_t *warnings(const void *result)
{
    return diags_json(((const struct steps *)result)->warnings);
}

/* clang-format off */
static const struct contract_member rows[] = {
    CONTRACT_AT("device", TEXT, steps, all.device, "The GPU that ran.", KNOWN),
    CONTRACT_AT("date", TEXT, steps, all.date, "The day of the measurement.", KNOWN),
    CONTRACT_AT("driver", TEXT, steps, all.driver, "The driver.", KNOWN),
    CONTRACT_AT("gpu", TEXT, steps, all.gpu, "The file of the GPU that steps were predicted with."),
    CONTRACT_AT("fitted_to_kernels", INT64, steps, all.n_kernels, "Kernels of the same file that the GPU was fitted to."),
    CONTRACT_AT("instance", TEXT, steps, all.instance, "The instance that steps were predicted on."),
    CONTRACT_AT("complete", BOOL, steps, complete, "Whether the measurement ended by itself."),
    CONTRACT_MADE("failures", LIST, failures, "What could not be measured.", .items = CONTRACT_TEXT),
    CONTRACT_MADE("steps", LIST, steps, "One for each step that was run.", .of = &step_contract),
    CONTRACT_AT("operator_errors", OBJECT, steps, all.operators, "Of all operators.", .of = &statistics),
    CONTRACT_AT("step_errors", OBJECT, steps, all.steps, "Of all step times.", .of = &statistics),
    CONTRACT_AT("memory_errors", OBJECT, steps, all.memory, "Of all peaks.", .of = &statistics),
    CONTRACT_MADE("warnings", LIST, warnings, "What was warned of.", .of = &diag_contract),
    CONTRACT_END,
};
static const struct contract_object result = { "result", rows };
/* clang-format on */
const struct contract report_compare_contract = {
    "urn:smsim:measured:1",
    "The result of smsim validate --measured --json, and of --device",
    { &result }
};

json_t *report_compare_json(const struct comparisons *all, const struct diags *found)
{
    const struct steps x = { *all, found, !all->measured->incomplete };
    return contract_result(&report_compare_contract, &x);
}
