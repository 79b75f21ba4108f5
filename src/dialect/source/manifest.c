#include "dialect/source/manifest.h"

#include "base/names.h"
#include "base/strbuf.h"
#include "dialect/source/manifest_hyperpod.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 30, PODS_MAX = 1 << 20 };

/* A container, or a TrainJob's trainer. */
struct found {
    const struct value *container;
    int64_t line;
    struct manifest_count pods, gpus;
    const char *other;
    int rank; /* what it runs: 2 a starter, 1 Python or a shell, 0 something, -1 nothing */
};

static const char *text_of(const struct value *v)
{
    return v && v->kind == VALUE_STRING ? v->text : NULL;
}

/* A whole number, also in quotes. */
static int64_t number_of(const struct value *v)
{
    int64_t n = v && v->kind == VALUE_INT      ? v->integer
                : v && v->kind == VALUE_STRING ? strtoll(v->text, NULL, 10)
                                               : 0;
    return n > 0 && n <= PODS_MAX ? n : 0;
}

/* A count, or what is to be put in its place: "$NUM_NODES" of a template. */
static struct manifest_count count_of(const struct value *v)
{
    struct manifest_count c = { number_of(v), v ? v->line : 0, NULL };
    const char *text = text_of(v);
    c.open = c.n == 0 && text && *text && strcmp(text, "0") != 0 ? text : NULL;
    return c;
}

static bool is_manifest(const struct value *document)
{
    return text_of(value_member(document, "apiVersion")) &&
           text_of(value_member(document, "kind"));
}

/* Containers ----------------------------------------------------------------------- */

/* How likely a container is the one that trains, by its words. */
static int rank_of(const struct value *container)
{
    static const char *const starters[] = {
        "torchrun", "hyperpodrun", "torch.distributed", "deepspeed", "accelerate",
        "mpirun",   "mpiexec",     "horovodrun",        NULL
    };
    static const char *const keys[] = { "command", "args" };
    int rank = -1;
    for (size_t k = 0; k < 2; k++) {
        const struct value *words = value_member(container, keys[k]);
        for (int32_t i = 0; words && words->kind == VALUE_LIST && i < words->n; i++) {
            const char *w = text_of(words->items[i].value);
            rank = rank < 0 ? 0 : rank;
            for (const char *const *s = starters; w && *s; s++)
                rank = strstr(w, *s) ? 2 : rank;
            if (w && rank < 1 && (strstr(w, "python") || strstr(w, ".py")))
                rank = 1;
        }
    }
    return rank;
}

static void take_devices(struct found *f, const struct value *resources)
{
    static const char *const others[] = { "amd.com/gpu",
                                          "aws.amazon.com/neuron",
                                          "aws.amazon.com/neuroncore",
                                          "google.com/tpu",
                                          "habana.ai/gaudi",
                                          "gpu.intel.com/i915",
                                          NULL };
    static const char *const keys[] = { "limits", "requests" };
    for (size_t i = 0; i < 2; i++) {
        const struct value *of = value_member(resources, keys[i]),
                           *gpus = value_member(of, "nvidia.com/gpu");
        if (gpus && !f->gpus.n && !f->gpus.open)
            f->gpus = count_of(gpus);
        for (const char *const *o = others; *o; o++)
            f->other = value_member(of, *o) ? *o : f->other;
    }
}

struct walk {
    struct manifest *m;
    struct arena *arena;
    struct found best;
    struct manifest_count pods; /* with GPUs, of the whole document */
};

static bool asked(const struct manifest_count *c)
{
    return c->n || c->open;
}

static void meet(struct walk *w, const struct value *container,
                 struct manifest_count pods)
{
    struct found f = { .container = container,
                       .line = container->line,
                       .pods = pods,
                       .rank = rank_of(container) };
    take_devices(&f, value_member(container, "resources"));
    take_devices(&f, value_member(container, "resourcesPerNode"));
    bool better = !w->best.container || f.rank > w->best.rank ||
                  (f.rank == w->best.rank && f.gpus.n > w->best.gpus.n);
    if (asked(&f.gpus)) {
        w->pods.n += pods.n;
        w->pods.line = w->pods.line ? w->pods.line : pods.line;
        w->pods.open = w->pods.open ? w->pods.open : pods.open;
    }
    const struct manifest_count gpus = asked(&f.gpus) ? f.gpus : w->best.gpus;
    const char *other = f.other ? f.other : w->best.other;
    if (better)
        w->best = f;
    if (!asked(&w->best.gpus)) /* MPI's launcher has none, its workers have */
        w->best.gpus = gpus;
    w->best.other = other;
}

/* A RayJob's entrypoint, as a container that runs it. */
static void meet_entrypoint(struct walk *w, const struct value *entry)
{
    static const char *const starter[] = { "bash", "-c" };
    struct value *c = value_new(w->arena, VALUE_DICT, entry->line, 0),
                 *words = value_new(w->arena, VALUE_LIST, entry->line, 0);
    for (int i = 0; i < 2; i++)
        value_add(w->arena, words, NULL, entry->line,
                  value_new_string(w->arena, starter[i], entry->line, 0));
    value_add(w->arena, words, NULL, entry->line,
              value_new_string(w->arena, entry->text, entry->line, 0));
    value_add(w->arena, c, "command", entry->line, words);
    meet(w, c, (struct manifest_count) { .n = 1 });
}

static void walk(struct walk *w, const struct value *v, struct manifest_count pods,
                 int depth)
{
    static const char *const counts[] = { "replicas", "parallelism", "numNodes" };
    static const char *const types[] = { "node.kubernetes.io/instance-type",
                                         "beta.kubernetes.io/instance-type" };
    if (depth == DEPTH_MAX)
        return;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        const struct manifest_count c = count_of(value_member(v, counts[i]));
        pods = asked(&c) ? c : pods;
    }
    for (size_t i = 0; i < 2; i++)
        if (text_of(value_member(v, types[i]))) {
            w->m->instance = value_member(v, types[i])->text;
            w->m->instance_line = value_member(v, types[i])->line;
        }
    const struct value *list = value_member(v, "containers"),
                       *trainer = value_member(v, "trainer"),
                       *entry = value_member(v, "entrypoint");
    if (text_of(entry))
        meet_entrypoint(w, entry);
    for (int32_t i = 0; list && list->kind == VALUE_LIST && i < list->n; i++)
        meet(w, list->items[i].value, pods);
    if (trainer && trainer->kind == VALUE_DICT) {
        const struct manifest_count nodes = count_of(value_member(trainer, "numNodes"));
        meet(w, trainer, asked(&nodes) ? nodes : (struct manifest_count) { .n = 1 });
    }
    for (int32_t i = 0; i < v->n; i++)
        if (v->items[i].value->n && v->items[i].value != trainer &&
            v->items[i].value != list)
            walk(w, v->items[i].value, pods, depth + 1);
}

/* What it runs ---------------------------------------------------------------------- */

/* Whether "$" begins a name, which a template has for what envsubst puts there: no
 * container expands it. */
static bool begins_name(const char *s)
{
    s += s[1] == '{' ? 2 : 1;
    return isalpha((unsigned char)*s) || *s == '_';
}

/* A word in double quotes, where Kubernetes' $(NAME) is ${NAME} and nothing else but a
 * template's name is expanded; or the text of a shell in single quotes. */
static void add_word(struct strbuf *b, const char *word, bool text)
{
    strbuf_addch(b, text ? '\'' : '"');
    for (const char *s = word; *s; s++) {
        size_t n = strncmp(s, "$(", 2) == 0 ? strcspn(s + 2, ")") : 0;
        bool name = n && s[2 + n];
        for (size_t i = 0; i < n; i++)
            name &= isalnum((unsigned char)s[2 + i]) || s[2 + i] == '_';
        if (text && *s == '\'') {
            strbuf_addstr(b, "'\\''");
        } else if (!text && name) {
            strbuf_printf(b, "${%.*s}", (int)n, s + 2);
            s += n + 2;
        } else {
            if (!text && strchr("\"\\$`", *s) && !(*s == '$' && begins_name(s)))
                strbuf_addch(b, '\\');
            strbuf_addch(b, *s);
        }
    }
    strbuf_addch(b, text ? '\'' : '"');
}

struct script {
    struct strbuf b;
    int64_t line; /* of its end */
    bool shell;   /* a shell and -c were met: a text follows */
    bool any;
};

static void add_words(struct script *s, const struct value *words)
{
    for (int32_t i = 0; words && words->kind == VALUE_LIST && i < words->n; i++) {
        const struct value *v = words->items[i].value;
        const char *word = text_of(v);
        char number[32];
        if (v->kind == VALUE_INT) {
            snprintf(number, sizeof(number), "%" PRId64, v->integer);
            word = number;
        }
        if (!word)
            continue;
        if (s->any)
            strbuf_addch(&s->b, ' ');
        for (; s->line < v->line; s->line++)
            strbuf_addstr(&s->b, s->any ? "\\\n" : "\n");
        add_word(&s->b, word, s->shell);
        s->any = true;
        size_t n = strlen(word);
        s->shell = n > 1 && n < 5 && *word == '-' && word[n - 1] == 'c';
        for (const char *c = word; *c; c++)
            s->line += *c == '\n';
    }
}

static void take_variables(struct manifest *m, const struct value *env)
{
    for (int32_t i = 0; env && env->kind == VALUE_LIST && i < env->n; i++) {
        const struct value *v = env->items[i].value;
        const char *name = text_of(value_member(v, "name")),
                   *value = text_of(value_member(v, "value"));
        if (name && value && m->variables.n < 64)
            VEC_PUSH(&m->variables,
                     ((struct manifest_variable) { name, value, v->line }));
    }
}

static void take(struct manifest *m, struct arena *arena, const struct walk *w,
                 const struct value *document)
{
    const struct found *f = &w->best;
    struct script s = { .line = 1 };
    strbuf_init(&s.b);
    add_words(&s, value_member(f->container, "command"));
    add_words(&s, value_member(f->container, "args"));
    m->kind = text_of(value_member(document, "kind"));
    m->name = text_of(value_member(value_member(document, "metadata"), "name"));
    m->line = f->line;
    m->shell = s.any ? arena_printf(arena, "%s\n", strbuf_get(&s.b)) : NULL;
    m->pods = asked(&w->pods) ? w->pods : f->pods;
    m->gpus = f->gpus;
    m->other = f->other;
    take_variables(m, value_member(f->container, "env"));
    strbuf_release(&s.b);
}

/* A job of HyperPod's own or a cloud's task, as if it were a manifest. */
static bool take_job(struct manifest *m, struct arena *arena,
                     const struct value *document)
{
    struct manifest_job job;
    struct walk w = { .m = m };
    if (!manifest_hyperpod(&job, arena, document) &&
        !manifest_cloud(&job, arena, document) && !manifest_helm(&job, arena, document))
        return false;
    w.best = (struct found) { .container = job.container,
                              .line = job.container->line,
                              .pods = count_of(job.pods),
                              .gpus = count_of(job.gpus) };
    if (job.pods && !asked(&w.best.pods))
        w.best.pods.open = "";
    take(m, arena, &w, document);
    m->kind = job.kind;
    m->device = text_of(job.device);
    m->within = job.within;
    if (text_of(job.instance)) {
        m->instance = job.instance->text;
        m->instance_line = job.instance->line;
    }
    return true;
}

void manifest_read(struct manifest *m, struct arena *arena,
                   struct value *const *documents, int64_t n)
{
    struct walk best = { .m = m, .arena = arena };
    const struct value *of = NULL;
    *m = (struct manifest) { .kind = NULL };
    if (n > 0 && take_job(m, arena, documents[0]))
        return;
    for (int64_t i = 0; i < n; i++) {
        struct walk w = { .m = m, .arena = arena };
        if (!is_manifest(documents[i]))
            continue;
        walk(&w, documents[i], (struct manifest_count) { .n = 1 }, 0);
        if (w.best.container && (!of || w.best.rank > best.best.rank)) {
            best = w;
            of = documents[i];
        }
    }
    if (of)
        take(m, arena, &best, of);
}

void manifest_release(struct manifest *m)
{
    VEC_RELEASE(&m->variables);
}
