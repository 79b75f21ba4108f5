/* Gradients of the training step against differences of its loss: check-step
 * CONFIG.json... For every weight, or table of weights, the loss a little way along the
 * gradient and against it must differ by what the gradient says. bf16 leaves a few
 * percent. */
#include "cuda_bf16.h"
#include "step_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <map>
#include <string>
#include <vector>

static const double change = 0.04;   /* of the loss, that is tried for */
static const double tolerance = 0.1; /* of the change, */
static const double noise = 0.003;   /* beside what rounding does to the loss */
static const double farthest = 0.3;  /* of the weights' size */

struct check {
    struct measure m;
    struct step_plan plan;
    struct step_run run;
    std::vector<double> gradients;
};

static __nv_bfloat16 *weights(struct check *c)
{
    return (__nv_bfloat16 *)c->run.weights;
}

/* Operators up to the loss, or all of them; -1 where one fails. */
static int run_ops(struct check *c, bool all, double *loss)
{
    for (int i = 0; i < c->plan.n_ops; i++) {
        TRY(step_run_op(&c->m, &c->run, &c->plan.ops[i]));
        if (!all && c->plan.ops[i].kind == STEP_LOSS)
            break;
    }
    return step_run_loss(&c->m, &c->run, loss);
}

/* Larger weights than those of a training's beginning, and norms that are not all one:
 * so gradients are not small by chance. */
static void spread_weights(struct check *c)
{
    for (int64_t i = 0; i < c->plan.n_weights; i++)
        weights(c)[i] = __float2bfloat16_rn(3 * __bfloat162float(weights(c)[i]));
    for (int64_t i = 0; i < c->plan.n_ones; i++)
        for (int64_t k = 0; k < c->plan.ones[2 * i + 1]; k++)
            weights(c)[c->plan.ones[2 * i] + k] =
                __float2bfloat16_rn(1 + 0.3f * sinf((float)k));
}

/* The offsets of weights, by the operators that use them first. */
static std::map<int64_t, std::string> find_weights(const struct step_plan *p)
{
    std::map<int64_t, std::string> found;
    for (int i = 0; i < p->n_ops; i++)
        for (int k = 0; k < 2; k++)
            if (p->ops[i].weight[k] >= 0)
                found.insert({ p->ops[i].weight[k], p->ops[i].name });
    return found;
}

/* Moves weights from..to - 1 by `step` times their gradients; what the loss should
 * change by then. */
static double move(struct check *c, const std::vector<__nv_bfloat16> &old, int64_t from,
                   double step)
{
    double predicted = 0;
    for (size_t i = 0; i < old.size(); i++) {
        size_t at = (size_t)from + i;
        double was = (double)__bfloat162float(old[i]), g = c->gradients[at];
        weights(c)[at] = __float2bfloat16_rn((float)(was + step * g));
        predicted += g * ((double)__bfloat162float(weights(c)[at]) - was);
    }
    return predicted;
}

/* Weights from..to - 1: 0 where their gradient is right. */
static int check_weights(struct check *c, const char *name, int64_t from, int64_t to)
{
    std::vector<__nv_bfloat16> old(weights(c) + from, weights(c) + to);
    double gradient = 0, size = 0, ahead, behind;
    for (size_t i = 0; i < old.size(); i++) {
        double w = (double)__bfloat162float(old[i]), g = c->gradients[(size_t)from + i];
        gradient += g * g;
        size += w * w;
    }
    double step = fmin(change / 2 / gradient, farthest * sqrt(size / gradient));
    double predicted = move(c, old, from, step);
    TRY(run_ops(c, false, &ahead));
    predicted -= move(c, old, from, -step);
    TRY(run_ops(c, false, &behind));
    memcpy(weights(c) + from, old.data(), old.size() * sizeof(old[0]));
    double seen = ahead - behind;
    if (fabs(seen - predicted) <= tolerance * predicted + noise)
        return 0;
    fprintf(stderr, "%s: along the gradient of %s the loss changes by %g, not %g\n",
            c->m.step->model, name, seen, predicted);
    return -1;
}

static int check_gradients(struct check *c)
{
    double loss, again;
    spread_weights(c);
    TRY(run_ops(c, true, &loss));
    TRY(run_ops(c, false, &again));
    if (loss != again)
        return measure_fail(&c->m, "the same forward gives %g, then %g", loss, again);
    for (int64_t i = 0; i < c->plan.n_weights; i++)
        c->gradients.push_back(
            (double)__bfloat162float(((__nv_bfloat16 *)c->run.gradients)[i]));
    std::map<int64_t, std::string> found = find_weights(&c->plan);
    int wrong = 0;
    for (auto it = found.begin(); it != found.end(); ++it) {
        auto next = std::next(it);
        int64_t to = next == found.end() ? c->plan.n_weights : next->first;
        wrong += check_weights(c, it->second.c_str(), it->first, to) != 0;
    }
    return wrong ? measure_fail(&c->m, "%d of %zu gradients are wrong", wrong,
                                found.size())
                 : 0;
}

static int check_model(struct check *c, const char *file)
{
    struct measure_step step = { file, 2, 16 };
    struct step_model model;
    c->m.step = &step;
    TRY(measure_open(&c->m));
    TRY(step_model_read(&c->m, &model, file));
    TRY(step_plan_make(&c->m, &c->plan, &model, DTYPE_BF16));
    TRY(step_run_make(&c->m, &c->run, &c->plan, 100));
    int rc = check_gradients(c);
    step_run_free(&c->run);
    step_plan_free(&c->plan);
    measure_close(&c->m);
    return rc;
}

int main(int argc, char **argv)
{
    int rc = 0;
    for (int i = 1; i < argc; i++) {
        struct check c = {};
        if (check_model(&c, argv[i])) {
            fprintf(stderr, "%s: %s\n", argv[i], c.m.error);
            rc = 1;
        }
    }
    return rc;
}
