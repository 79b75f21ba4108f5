#include "calibrate/trace_fit.h"

#include "cost/kernel.h"
#include "simulate/simulate.h"

#include <math.h>
#include <string.h>

const struct name_value traced_class_names[] = {
    { "products", TRACED_PRODUCTS },
    { "fused attention", TRACED_ATTENTION },
    { "memory-bound", TRACED_STREAMS },
    { NULL, 0 },
};

/* What a step of this scenario runs on a GPU. */
struct fitting {
    const struct scenario *s;
    const struct kineto_rank *r;
    struct op_list list;
    bool staged; /* a pipeline: which layers this rank has is not known */
    bool half;
    enum dtype dtype;                    /* of most products */
    enum gpu_flash flash;                /* of its fused attention */
    double shape_s[KINETO_PRODUCTS_MAX]; /* predicted, of one of a shape, sum ... */
    double shape_n[KINETO_PRODUCTS_MAX]; /* ... over so many; 0: not joined */
};

/* Predictions ----------------------------------------------------------------------- */

static double op_s(const struct fitting *f, const struct gpu *gpu, const struct op *op)
{
    return kernel_framework_s(gpu, f->s->training.framework, f->half, op, kernel_alone);
}

static bool recomputes(const struct fitting *f, const struct op_block *b,
                       const struct op *op)
{
    switch (f->s->training.checkpointing) {
    case CHECKPOINT_NONE:
        return false;
    case CHECKPOINT_SELECTIVE: /* the core of attention, as a rule */
        return op_block_is_layer(b) && op->kind == OP_FLASH;
    default:
        return op_block_is_layer(b);
    }
}

/* How often a step runs an operator of a block. */
static double times_of(const struct fitting *f, const struct op_block *b,
                       const struct op *op)
{
    const struct training *t = &f->s->training;
    double passes = (double)(t->microbatches * t->accumulation);
    bool twice = !op->backward && recomputes(f, b, op);
    return passes * (double)b->repeat * (twice ? 2 : 1);
}

typedef void (*each_op)(void *arg, const struct op *op, double times);

static void for_each(const struct fitting *f, each_op take, void *arg)
{
    for (int32_t i = 0; i < f->list.n_blocks; i++) {
        const struct op_block *b = &f->list.blocks[i];
        for (int32_t k = 0; k < b->n_forward; k++)
            take(arg, &b->forward[k], times_of(f, b, &b->forward[k]));
        for (int32_t k = 0; k < b->n_backward; k++)
            take(arg, &b->backward[k], times_of(f, b, &b->backward[k]));
    }
}

struct class_sum {
    const struct fitting *f;
    const struct gpu *gpu;
    enum op_kind kind;
    double sum_s;
};

static void add_class(void *arg, const struct op *op, double times)
{
    struct class_sum *x = arg;
    if (op->kind == x->kind)
        x->sum_s += times * op_s(x->f, x->gpu, op);
}

static double class_s(const struct fitting *f, const struct gpu *gpu, enum op_kind kind)
{
    struct class_sum x = { f, gpu, kind, 0 };
    for_each(f, add_class, &x);
    return x.sum_s;
}

/* Shapes ---------------------------------------------------------------------------- */

/* A product, its gradients by input and by weight multiply the same three sizes. */
static void in_order(int64_t v[3], int64_t m, int64_t n, int64_t k)
{
    v[0] = m;
    v[1] = n;
    v[2] = k;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (v[j] > v[j + 1]) {
                int64_t other = v[j];
                v[j] = v[j + 1];
                v[j + 1] = other;
            }
}

static bool same_shape(const struct kineto_product *p, const struct op *op)
{
    int64_t a[3], b[3];
    in_order(a, p->m, p->n, p->k);
    in_order(b, op->m, op->n, op->k);
    return memcmp(a, b, sizeof(a)) == 0 && p->batch == op->batch;
}

struct shape_sum {
    struct fitting *f;
    const struct gpu *gpu;
};

static void add_shapes(void *arg, const struct op *op, double times)
{
    struct shape_sum *x = arg;
    const struct kineto_rank *r = x->f->r;
    if (op->kind != OP_GEMM)
        return;
    for (int64_t i = 0; i < r->products.n; i++)
        if (same_shape(&r->products.v[i], op)) {
            x->f->shape_s[i] += times * op_s(x->f, x->gpu, op);
            x->f->shape_n[i] += times;
        }
}

/* Of the trace's products that are joined, as often as they ran: predicted; measured. */
static double shapes_s(struct fitting *f, const struct gpu *gpu, double *measured_s,
                       int64_t *n_shapes)
{
    struct shape_sum x = { f, gpu };
    double sum_s = 0, kept = (double)f->r->n_kept;
    memset(f->shape_s, 0, sizeof(f->shape_s));
    memset(f->shape_n, 0, sizeof(f->shape_n));
    for_each(f, add_shapes, &x);
    *measured_s = 0;
    *n_shapes = 0;
    for (int64_t i = 0; i < f->r->products.n; i++) {
        const struct kineto_product *p = &f->r->products.v[i];
        if (f->shape_n[i] <= 0)
            continue;
        sum_s += f->shape_s[i] / f->shape_n[i] * (double)p->count / kept;
        *measured_s += p->time_s / kept;
        (*n_shapes)++;
    }
    return sum_s;
}

/* One factor ------------------------------------------------------------------------ */

/* What a class takes with a factor on its rate. */
struct scaled {
    struct fitting *f;
    const struct gpu *base;
    enum traced_class class;
    enum traced_join join;
};

static void scale_class(struct gpu *gpu, const struct fitting *f,
                        enum traced_class class, double by)
{
    if (class == TRACED_PRODUCTS)
        gpu->gemm[f->dtype].sustained *= by;
    if (class == TRACED_ATTENTION)
        for (int backward = 0; backward < 2; backward++)
            gpu->flash_frac[f->flash][backward] *= by;
    if (class == TRACED_STREAMS)
        gpu->stream_frac *= by;
}

static double scaled_s(const struct scaled *x, double by)
{
    static const enum op_kind kinds[] = { OP_GEMM, OP_FLASH, OP_STREAM };
    struct gpu gpu = *x->base;
    double measured;
    int64_t n;
    scale_class(&gpu, x->f, x->class, by);
    return x->join == TRACED_BY_SHAPE ? shapes_s(x->f, &gpu, &measured, &n)
                                      : class_s(x->f, &gpu, kinds[x->class]);
}

/* The factors that the profile's bounds leave. */
static void bounds_of(const struct gpu *gpu, const struct fitting *f,
                      enum traced_class class, double *least, double *most)
{
    const double *flash = gpu->flash_frac[f->flash];
    double v = class == TRACED_PRODUCTS  ? gpu->gemm[f->dtype].sustained
               : class == TRACED_STREAMS ? gpu->stream_frac
                                         : fmax(flash[false], flash[true]);
    double low = class == TRACED_ATTENTION ? fmin(flash[false], flash[true]) : v;
    *most = (class == TRACED_PRODUCTS ? 1.5 : 1) / v;
    *least = 0.01 / low;
}

/* The factor with which the class takes `wanted_s`; *bounded: none does. */
static double solve(const struct scaled *x, double wanted_s, bool *bounded)
{
    double least, most;
    bounds_of(x->base, x->f, x->class, &least, &most);
    *bounded = true;
    if (scaled_s(x, most) >= wanted_s)
        return most;
    if (scaled_s(x, least) <= wanted_s)
        return least;
    *bounded = false;
    for (int i = 0; i < 50; i++) {
        double middle = sqrt(least * most);
        if (scaled_s(x, middle) > wanted_s)
            least = middle;
        else
            most = middle;
    }
    return sqrt(least * most);
}

/* Terms ----------------------------------------------------------------------------- */

static void add_term(struct calibration *c, const char *group, const char *name,
                     const char *path, double value, double base, int64_t n,
                     bool bounded)
{
    VEC_PUSH(&c->terms, ((struct calibration_term) {
                            .group = group,
                            .name = name,
                            .path = path,
                            .unit = UNIT_NONE,
                            .value = value,
                            .base = base,
                            .fitted = true,
                            .why = bounded ? "at its bound" : NULL,
                            .n = n,
                        }));
}

static void add_terms(struct calibration *c, const struct fitting *f,
                      enum traced_class class, const struct gpu *gpu,
                      const struct gpu *was, int64_t n, bool bounded)
{
    const char *dtype = names_of(dtype_names, f->dtype);
    if (class == TRACED_PRODUCTS)
        add_term(c, arena_printf(c->arena, "%s products", dtype), "sustained",
                 arena_printf(c->arena, "gemm/%s/sustained", dtype),
                 gpu->gemm[f->dtype].sustained, was->gemm[f->dtype].sustained, n,
                 bounded);
    for (int back = 0; back < 2 && class == TRACED_ATTENTION; back++) {
        const char *name = arena_printf(c->arena, "%s_%s_frac",
                                        names_of(gpu_flash_names, (int)f->flash),
                                        back ? "backward" : "forward");
        add_term(c, "fused attention", name, name, gpu->flash_frac[f->flash][back],
                 was->flash_frac[f->flash][back], n, bounded);
    }
    if (class == TRACED_STREAMS)
        add_term(c, "memory-bound", "stream_frac", "stream_frac", gpu->stream_frac,
                 was->stream_frac, n, bounded);
}

/* Which kernels of the trace are of a class. */
static double measured_class_s(const struct kineto_rank *r, enum traced_class class,
                               int64_t *n)
{
    static const enum kernel_class of[TRACED_CLASSES][2] = {
        [TRACED_PRODUCTS] = { KERNEL_PRODUCT, KERNEL_CLASSES },
        [TRACED_ATTENTION] = { KERNEL_ATTENTION, KERNEL_CLASSES },
        [TRACED_STREAMS] = { KERNEL_OTHER, KERNEL_SOFTMAX },
    };
    double sum_s = 0;
    *n = 0;
    for (int i = 0; i < 2; i++)
        if (of[class][i] != KERNEL_CLASSES) {
            sum_s += r->class_s[of[class][i]];
            *n += r->class_n[of[class][i]];
        }
    return sum_s;
}

/* Whether names of the trace's products say another format than the scenario's. */
static bool is_other_format(const struct fitting *f)
{
    static const enum kernel_format of[DTYPE_N] = {
        [DTYPE_FP32] = KERNEL_FP32, [DTYPE_TF32] = KERNEL_TF32,
        [DTYPE_FP16] = KERNEL_HALF, [DTYPE_BF16] = KERNEL_HALF,
        [DTYPE_FP8] = KERNEL_FP8,
    };
    double sum_s = 0, same_s = f->r->format_s[of[f->dtype]];
    for (int i = KERNEL_ANY + 1; i < KERNEL_FORMATS; i++)
        sum_s += f->r->format_s[i];
    return of[f->dtype] != KERNEL_ANY && sum_s > 0 && same_s < 0.5 * sum_s;
}

/* How a class is joined, and what is predicted of it. Shapes are used where they are of
 * a fifth of the products' time. */
static void join(struct traced_fit *fit, struct fitting *f, enum traced_class class,
                 const struct gpu *gpu)
{
    static const enum op_kind kinds[] = { OP_GEMM, OP_FLASH, OP_STREAM };
    static const double enough = 0.2;
    fit->measured_s = measured_class_s(f->r, class, &fit->n);
    if (fit->measured_s <= 0) {
        fit->why = "the trace has none";
        return;
    }
    if (class == TRACED_PRODUCTS && is_other_format(f)) {
        fit->why = "the trace's are of another format than the scenario's";
        return;
    }
    if (class == TRACED_PRODUCTS) {
        fit->was_s = shapes_s(f, gpu, &fit->joined_s, &fit->n_shapes);
        fit->join =
            fit->joined_s > enough * fit->measured_s ? TRACED_BY_SHAPE : TRACED_APART;
    }
    if (fit->join == TRACED_BY_SHAPE)
        return;
    fit->joined_s = fit->was_s = 0;
    fit->n_shapes = 0;
    if (f->staged) {
        fit->why = "of a pipeline's stage, only products whose shapes are known";
        return;
    }
    fit->was_s = class_s(f, gpu, kinds[class]);
    if (fit->was_s <= 0) {
        fit->why = "the scenario has none";
        return;
    }
    fit->join = TRACED_BY_CLASS;
    fit->joined_s = fit->measured_s;
}

/* A sum that is off by more than a factor of three is of something else. */
static void fit_class(struct traced_fit *fit, struct fitting *f,
                      enum traced_class class, struct gpu *gpu, struct calibration *c)
{
    static const double alike = 3;
    const struct gpu was = *gpu;
    bool bounded;
    join(fit, f, class, gpu);
    if (fit->join == TRACED_APART)
        return;
    double ratio = fit->joined_s / fit->was_s;
    fit->predicted_s = fit->was_s;
    if (ratio > alike || ratio < 1 / alike) {
        fit->join = TRACED_APART;
        fit->why = "too far from the prediction to be the same kernels";
        return;
    }
    const struct scaled x = { f, &was, class, fit->join };
    double by = solve(&x, fit->joined_s, &bounded);
    scale_class(gpu, f, class, by);
    fit->predicted_s = scaled_s(&x, by);
    add_terms(c, f, class, gpu, &was, fit->n, bounded);
}

/* The replay ------------------------------------------------------------------------ */

static int replay(double *step_s, double *compute_s, const struct scenario *s,
                  const struct gpu *gpu, struct arena *arena, struct err *err)
{
    const struct simulate_options options = { .network = FIDELITY_FLOW, .mute = true };
    struct simulate_result r;
    struct scenario copy = *s;
    for (int32_t i = 0; i < s->cluster.n_groups; i++) {
        struct instance *instance = ARENA_NEW(arena, struct instance);
        *instance = *s->cluster.groups[i].instance;
        instance->gpu = gpu;
        copy.cluster.groups[i].instance = instance;
    }
    if (simulate(&r, arena, &copy, &options, err))
        return -1;
    *step_s = r.step_time_s;
    *compute_s = breakdown_passes_s(r.parts_s) + r.parts_s[CATEGORY_OPTIMIZER];
    return 0;
}

struct dtype_flops {
    double of[DTYPE_N];
};

static void add_flops(void *arg, const struct op *op, double times)
{
    struct dtype_flops *x = arg;
    if (op->kind == OP_GEMM)
        x->of[op->dtype] += times * op->flops;
}

static enum dtype main_dtype(const struct fitting *f)
{
    struct dtype_flops x = { { 0 } };
    int best = 0;
    for_each(f, add_flops, &x);
    for (int i = 1; i < DTYPE_N; i++)
        best = x.of[i] > x.of[best] ? i : best;
    return (enum dtype)best;
}

struct flash_found {
    const struct fitting *f;
    const struct gpu *gpu;
    enum gpu_flash version;
};

static void note_flash(void *arg, const struct op *op, double times)
{
    struct flash_found *x = arg;
    (void)times;
    if (op->kind == OP_FLASH)
        x->version = kernel_flash_version(x->gpu, x->f->s->training.framework, op);
}

static enum gpu_flash flash_of(const struct fitting *f, const struct gpu *gpu)
{
    struct flash_found x = { f, gpu, GPU_FLASH_ANY };
    for_each(f, note_flash, &x);
    return x.version;
}

int calibrate_trace(struct traced_step *t, struct calibration *c, struct gpu *gpu,
                    const struct scenario *s, const struct kineto_rank *r,
                    struct err *err)
{
    struct fitting *f = ARENA_NEW(c->arena, struct fitting);
    const struct op_settings settings = scenario_op_settings(s);
    *t = (struct traced_step) { .step_s = r->mean.step_s,
                                .compute_s = r->mean.compute_s };
    if (r->n_kept == 0)
        return err_set(err, "the trace marks no step: profile several, and call "
                            "profiler.step() after each");
    f->s = s;
    f->r = r;
    f->staged = s->parallel.pipeline > 1;
    f->half = dtype_bytes(op_compute_dtype(s->training.precision)) <= 2;
    if (op_list_make(&f->list, c->arena, &s->model, &settings, err))
        return -1;
    f->dtype = main_dtype(f);
    f->flash = flash_of(f, gpu);
    const struct gpu was = *gpu;
    double joined_s = 0;
    for (int i = 0; i < TRACED_CLASSES; i++) {
        fit_class(&t->fits[i], f, (enum traced_class)i, gpu, c);
        joined_s += t->fits[i].join ? t->fits[i].joined_s : 0;
    }
    for (int i = 0; i < KERNEL_COPY; i++)
        t->kernels_s += r->class_s[i];
    t->joined_share = t->kernels_s > 0 ? joined_s / t->kernels_s : 0;
    return replay(&t->was_step_s, &t->was_compute_s, s, &was, c->arena, err) ||
                   replay(&t->predicted_step_s, &t->predicted_compute_s, s, gpu,
                          c->arena, err)
               ? -1
               : 0;
}
