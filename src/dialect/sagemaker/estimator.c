/* The estimator of a script. */
#include "dialect/sagemaker/sagemaker.h"

#include "base/names.h"
#include "dialect/launch/entry_points.h"
#include "dialect/python/python.h"
#include "dialect/user_script/user_script.h"

#include <inttypes.h>
#include <string.h>

/* clang-format off */
static const char *const estimators[] = {
    "Estimator", "PyTorch", "HuggingFace", "TensorFlow", "JumpStartEstimator", "ModelTrainer", NULL,
};
const char *const sagemaker_calls[] = {
    "Estimator", "PyTorch", "HuggingFace", "TensorFlow", "JumpStartEstimator", "ModelTrainer",
    "from_recipe", "from_jumpstart_config", "set_hyperparameters", "HyperparameterTuner",
    /* these train nothing, or nothing that is simulated */
    "Processor", "ScriptProcessor", "FrameworkProcessor", "PyTorchProcessor", "HuggingFaceProcessor",
    "SKLearnProcessor", "PySparkProcessor", "Transformer", "Model", "PyTorchModel", "HuggingFaceModel",
    "TensorFlowModel", "DJLModel", "JumpStartModel", "ModelBuilder", "deploy", "SKLearn", "XGBoost", "MXNet",
    "Chainer", "RLEstimator", "KMeans", "PCA", "LDA", "NTM", "LinearLearner", "FactorizationMachines",
    "RandomCutForest", "AutoML", NULL,
};
const char *const sagemaker_same[] = {
    "json_encode_hyperparameters", "dumps", "deepcopy", "Compute", "SourceCode", "Torchrun", "MPI", "SMP",
    "StoppingCondition", "CheckpointConfig", "Networking", "InstanceGroup", NULL,
};
const char *const sagemaker_objects[] = { "*image_uris.retrieve", "*get_image_uri", "*model_uris.retrieve", NULL };
const char *const sagemaker_algorithms[] = {
    "xgboost", "linear-learner", "kmeans", "knn", "pca", "lda", "ntm", "factorization-machines",
    "randomcutforest", "random-cut-forest", "forecasting-deepar", "deepar", "blazingtext", "object2vec", "ipinsights",
    "seq2seq", "image-classification", "image-classification-neo", "object-detection", "semantic-segmentation",
    "sklearn", "sparkml-serving", "chainer", "mxnet", "autogluon", "catboost", "lightgbm", NULL,
};
/* Where each positional argument goes (SageMaker Python SDK 2.2xx, estimator.py and the
 * classes of its frameworks). */
static const struct { const char *class, *names[6]; } positional[] = {
    { "Estimator", { "image_uri", "role", "instance_count", "instance_type", NULL } },
    { "PyTorch", { "entry_point", "framework_version", "py_version", "source_dir", "hyperparameters", NULL } },
    { "HuggingFace", { "py_version", "entry_point", "transformers_version", "tensorflow_version",
                       "pytorch_version", NULL } },
    { "TensorFlow", { "py_version", "framework_version", NULL } },
    { "JumpStartEstimator", { "model_id", "model_version", NULL } },
};
/* What of a file without an estimator says why there is no training in it. */
static const struct { const char *class, *why; } others[] = {
    { "*Processor", "starts a processing job" }, { "Transformer", "starts a batch transform" },
    { "*Model", "deploys a model" }, { "ModelBuilder", "deploys a model" }, { "deploy", "deploys a model" },
    { "SKLearn", "trains without GPUs" }, { "XGBoost", "trains trees" }, { "MXNet", "is MXNet's" },
    { "Chainer", "is Chainer's" }, { "RLEstimator", "is reinforcement learning" },
    { "KMeans", "is an algorithm of SageMaker's" }, { "PCA", "is an algorithm of SageMaker's" },
    { "LDA", "is an algorithm of SageMaker's" }, { "NTM", "is an algorithm of SageMaker's" },
    { "LinearLearner", "is an algorithm of SageMaker's" },
    { "FactorizationMachines", "is an algorithm of SageMaker's" },
    { "RandomCutForest", "is an algorithm of SageMaker's" }, { "AutoML", "chooses models itself" },
};
/* Arguments that distinguish a call from others of that name. */
static const char *const tokens[] = {
    "instance_type", "instance_count", "distribution", "hyperparameters", "entry_point",
    "train_instance_type", "train_instance_count", "distributions", "instance_groups", NULL,
};
static const char *const job_tokens[] = {
    "role", "instance_type", "instance_count", "image_uri", "model_data", "model_name", "entry_point",
    "framework_version", "transformers_version", "py_version", "sagemaker_session", "schema_builder", "initial_instance_count", NULL,
};
static const char *const trainer_tokens[] = {
    "compute", "source_code", "training_image", "distributed", "training_recipe", "hyperparameters",
    "model_id", NULL,
};
/* clang-format on */

/* Which estimator ------------------------------------------------------------------ */

static bool has_any(const struct value *arguments, const char *const *keys)
{
    for (; *keys; keys++)
        if (value_get(arguments, *keys))
            return true;
    return false;
}

/* "ModelTrainer" of ModelTrainer(...) and of ModelTrainer.from_recipe(...). */
static const char *class_of(struct arena *arena, const struct python_call *c)
{
    const char *last = python_last_part(c->function);
    if (strncmp(last, "from_", 5) != 0 || last == c->function)
        return last;
    return python_last_part(
        arena_strndup(arena, c->function, (size_t)(last - c->function) - 1));
}

static bool is_trainer(const struct python_call *c)
{
    return strstr(c->function, "ModelTrainer") != NULL;
}

static bool is_estimator(struct arena *arena, const struct python_call *c)
{
    const char *class = class_of(arena, c);
    if (!names_listed(estimators, class))
        return false;
    return has_any(c->arguments, tokens) || strcmp(class, "JumpStartEstimator") == 0 ||
           (is_trainer(c) && has_any(c->arguments, trainer_tokens)) ||
           (strcmp(class, "Estimator") == 0 && value_get(c->arguments, "2")) ||
           c->arguments->gap > 0;
}

/* Names for what is given by position; ModelTrainer as an estimator. */
static const struct python_call *as_usual(struct arena *arena,
                                          const struct python_call *c)
{
    const char *class = class_of(arena, c);
    if (is_trainer(c))
        return sagemaker_as_estimator(arena, c);
    for (size_t i = 0; i < sizeof(positional) / sizeof(positional[0]); i++) {
        if (strcmp(positional[i].class, class) != 0)
            continue;
        for (int32_t j = 0; j < c->arguments->n; j++) {
            const char *key = c->arguments->items[j].key;
            int at = key[0] >= '0' && key[0] <= '5' && !key[1] ? key[0] - '0' : 6;
            for (int n = 0; n <= at && at < 6 && positional[i].names[n]; n++)
                if (n == at)
                    c->arguments->items[j].key = positional[i].names[n];
        }
    }
    return c;
}

/* The last one of that name; without a name, the last that is no quotation. */
static const struct python_call *choose(const struct python *p, const char *name)
{
    const struct python_call *best = NULL;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (!is_estimator(p->arena, c))
            continue;
        if (name ? c->target && strcmp(c->target, name) == 0
                 : !best || best->quoted || !c->quoted)
            best = c;
    }
    return best;
}

/* Why the program of an estimator trains nothing; NULL. */
static const char *refused_of(struct launch_context *t, const struct python_call *c)
{
    const struct value_item *it =
        value_get(as_usual(t->arena, c)->arguments, "entry_point");
    return it && it->value->kind == VALUE_STRING
               ? launch_entry_of(t, it->value->text).refused
               : NULL;
}

/* The last whose program trains, where there are several; the others are named. */
static const struct python_call *choose_training(struct launch_context *t,
                                                 const struct python *p)
{
    const struct python_call *last = choose(p, NULL), *best = NULL;
    int n = 0;
    for (int64_t i = 0; last && i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (is_estimator(p->arena, c) && (last->quoted || !c->quoted) &&
            !refused_of(t, c)) {
            best = c;
            n++;
        }
    }
    if (last && best && best != last)
        launch_note(t->l, last->line, DIAG_LEFT_OUT,
                    "%.60s(...) %s: an estimator before it is taken", last->function,
                    refused_of(t, last));
    if (n > 1)
        launch_note(t->l, best->line, DIAG_ASSUMED,
                    "the last of %d estimators is taken (give --estimator NAME for "
                    "another)",
                    n);
    return best ? best : last;
}

static void no_such(struct launch *l, const struct python *p, const char *name)
{
    struct strbuf b;
    strbuf_init(&b);
    for (int64_t i = 0; i < p->calls.n && b.len < 200; i++)
        if (is_estimator(p->arena, &p->calls.v[i]) && p->calls.v[i].target)
            strbuf_printf(&b, "%s%s", b.len ? ", " : "", p->calls.v[i].target);
    diags_add(&l->loader->diags, launch_diag(l, DIAG_UNKNOWN_NAME, 0, 0),
              "no estimator is assigned to \"%.60s\" (%s%s)", name,
              b.len ? "there is " : "leave --estimator out", strbuf_get(&b));
    strbuf_release(&b);
}

/* A file without an estimator: the names that its arguments usually have. */
static struct value *dict_of(struct arena *arena, int32_t cap)
{
    struct value *v = ARENA_NEW(arena, struct value);
    *v = (struct value) { .kind = VALUE_DICT, .line = 1 };
    v->items = ARENA_ARRAY(arena, cap, struct value_item);
    return v;
}

static void put(struct value *dict, const char *key, const struct value *value)
{
    if (value)
        dict->items[dict->n++] =
            (struct value_item) { key, value->line, (struct value *)value };
}

/* The last dictionary with that member, by whatever name. */
static const struct value *name_with(const struct python *p, const char *key)
{
    const struct value *found = NULL;
    for (int64_t i = 0; i < p->names.n; i++)
        if (value_get(p->names.v[i].value, "enabled") &&
            value_get(p->names.v[i].value, key))
            found = p->names.v[i].value;
    return found;
}

static const struct value *options_of(struct arena *arena, const struct python *p)
{
    const struct value *smp = name_with(p, "parameters");
    struct value *d = dict_of(arena, 2), *inner = dict_of(arena, 1);
    if (!smp)
        return NULL;
    inner->line = d->line = smp->line;
    put(inner, "modelparallel", smp);
    put(d, "smdistributed", inner);
    put(d, "mpi", name_with(p, "processes_per_host"));
    return d;
}

static const struct python_call *assume(const struct python *p)
{
    struct arena *arena = p->arena;
    struct python_call *c = ARENA_NEW(arena, struct python_call);
    enum { N_TOKENS = sizeof(tokens) / sizeof(tokens[0]) };
    *c = (struct python_call) { .function = "Estimator", .line = 1 };
    c->arguments = dict_of(arena, N_TOKENS + 1);
    for (const char *const *token = tokens; *token; token++)
        put(c->arguments, *token, python_name(p, *token));
    if (!value_get(c->arguments, "distribution"))
        put(c->arguments, "distribution", options_of(arena, p));
    if (!value_get(c->arguments, "distribution"))
        return NULL;
    c->line = value_get(c->arguments, "distribution")->value->line;
    return c;
}

/* Without any: what else it starts, which has no training; NULL. */
static const struct python_call *other_job(const struct python *p, const char **why)
{
    for (int64_t i = 0; i < p->calls.n; i++) {
        const char *class = python_last_part(p->calls.v[i].function);
        const char *path = p->calls.v[i].function;
        if (class != path ? !strstr(path, "sagemaker")
                          : !has_any(p->calls.v[i].arguments, job_tokens))
            continue; /* of another package, or of the text's own */
        for (size_t j = 0; j < sizeof(others) / sizeof(others[0]); j++) {
            const char *name = others[j].class;
            bool open = *name == '*';
            size_t n = strlen(class), m = strlen(name) - open;
            if (n >= m && (open || n == m) && strcmp(class + n - m, name + open) == 0) {
                *why = others[j].why;
                return &p->calls.v[i];
            }
        }
    }
    return NULL;
}

bool sagemaker_recognises(const struct dialect_input *in)
{
    const char *why;
    return in->estimator || choose(in->python, NULL) || assume(in->python) ||
           (!user_script_recognises(in) && other_job(in->python, &why));
}

static void refuse(struct launch *l, const struct python_call *c, const char *why)
{
    diags_add(&l->loader->diags, launch_diag(l, DIAG_UNSUPPORTED, c->line, 0),
              "%.60s(...) %s: there is no training to simulate (give a file with "
              "an estimator or a ModelTrainer)",
              c->function, why);
}

static void add_hyper(struct launch_context *t, const struct value *v)
{
    if (t->n_hyper < LAUNCH_HYPER_MAX)
        t->hyper[t->n_hyper++] = v;
}

/* est.set_hyperparameters(a=1) goes before what the constructor was given. */
static void find_hyper(struct launch_context *t, const struct python *p)
{
    const char *target = t->call->target;
    for (int64_t i = p->calls.n; i-- > 0 && target;) {
        const struct python_call *c = &p->calls.v[i];
        size_t n = strlen(target);
        if (strncmp(c->function, target, n) == 0 &&
            strcmp(c->function + n, ".set_hyperparameters") == 0)
            add_hyper(t, c->arguments);
    }
    const struct value_item *it = value_get(t->call->arguments, "hyperparameters");
    if (it)
        add_hyper(t, it->value);
}

/* Before all others. */
static void vary(struct launch_context *t, const struct value *ranges, int64_t line)
{
    struct value *names = value_new(t->arena, VALUE_DICT, line, 0);
    if (ranges->kind != VALUE_DICT || ranges->gap) {
        names = value_new_unknown(t->arena, line, 0, "the ranges of its tuner are not");
        launch_note(
            t->l, line, DIAG_ASSUMED,
            "the tuner's ranges are not known: hyperparameters are taken as the "
            "estimator has them, though its jobs may have others");
    }
    for (int32_t i = 0; ranges->kind == VALUE_DICT && i < ranges->n; i++)
        value_add(t->arena, names, ranges->items[i].key, ranges->items[i].line,
                  value_new_unknown(t->arena, ranges->items[i].line, 0,
                                    "the tuner of line %" PRId64 " varies it", line));
    if (t->n_hyper == LAUNCH_HYPER_MAX)
        t->n_hyper--;
    memmove(t->hyper + 1, t->hyper, (size_t)t->n_hyper * sizeof(t->hyper[0]));
    t->hyper[0] = names;
    t->n_hyper++;
}

/* HyperparameterTuner(estimator, ..., hyperparameter_ranges={"lr": ...}) gives each job
 * another value of those: none of them is known, whatever the estimator has. */
static void find_ranges(struct launch_context *t, const struct python *p)
{
    static const char *const tuned[] = { "0", "estimator", "model_trainer", NULL };
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        const struct value_item *ranges =
            value_get(c->arguments, "hyperparameter_ranges");
        bool other = false;
        ranges = ranges ? ranges : value_get(c->arguments, "2");
        if (!strstr(c->function, "HyperparameterTuner") || !ranges)
            continue;
        for (const char *const *key = tuned; *key; key++) {
            const struct value_item *of = value_get(c->arguments, *key);
            for (int64_t k = 0; of && k < p->calls.n; k++)
                other |= p->calls.v[k].result == of->value &&
                         of->value != t->call->result &&
                         is_estimator(p->arena, &p->calls.v[k]);
        }
        if (!other)
            vary(t, ranges->value, c->line);
    }
}

bool sagemaker_find(struct launch_context *t, const struct dialect_input *in)
{
    struct launch *l = t->l;
    const struct python_call *c = in->estimator ? choose(in->python, in->estimator)
                                                : choose_training(t, in->python),
                             *other;
    const char *why;
    if (c) {
        l->title = arena_printf(t->arena, "%s%s%s(...): read, not run",
                                c->target ? c->target : "", c->target ? " = " : "",
                                c->function);
    } else if (in->estimator) {
        no_such(l, in->python, in->estimator);
        return false;
    } else {
        c = assume(in->python);
        if (!c && (other = other_job(in->python, &why)) != NULL) {
            refuse(l, other, why);
            return false;
        }
        l->title = "no estimator; the dictionaries alone: read, not run";
    }
    t->call = as_usual(t->arena, c);
    l->line = c->line;
    find_hyper(t, in->python);
    find_ranges(t, in->python);
    return true;
}
