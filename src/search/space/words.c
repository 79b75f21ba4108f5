#include "search/space/words.h"

#include "base/strbuf.h"
#include "search/space/forms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct name_value placement_names[] = {
    { "DPT", 0 }, { "PDT", 1 }, { "TPD", 2 }, { "DTP", 3 }, { "PTD", 4 }, { "TDP", 5 },
    { "cluster", 0 }, { "spread", 2 }, { NULL, 0 },
};
static const struct name_value bool_names[] = {
    { "false", 0 }, { "true", 1 }, { "no", 0 }, { "yes", 1 }, { NULL, 0 },
};
static const struct name_value optimize_names[] = {
    { "memory", 0 }, { "speed", 1 }, { NULL, 0 },
};
static const struct name_value checkpoint_names[] = {
    { "none", CHECKPOINT_NONE }, { "selective", CHECKPOINT_SELECTIVE },
    { "full", CHECKPOINT_FULL }, { "operators", CHECKPOINT_OPERATORS }, { NULL, 0 },
};

/* How each field is written: by names, as a number in bounds, or as bytes. */
static const struct {
    const struct name_value *names; /* NULL: a number */
    int64_t min, max;
    bool bytes;
} kinds[SPACE_N] = {
    [SPACE_COUNT]         = { NULL, 1, CLUSTER_INSTANCES_MAX, false },
    [SPACE_GPUS]          = { NULL, 1, INSTANCE_HOST_GPUS_MAX, false },
    [SPACE_LIBRARY]       = { space_stack_names, 0, 0, false },
    [SPACE_TENSOR]        = { NULL, 1, 1 << 20, false },
    [SPACE_PIPELINE]      = { NULL, 1, 1 << 20, false },
    [SPACE_CONTEXT]       = { NULL, 1, 1 << 20, false },
    [SPACE_EXPERT]        = { NULL, 1, 1 << 20, false },
    [SPACE_DATA]          = { NULL, 1, 1 << 20, false },
    [SPACE_OPTIMIZE]      = { optimize_names, 0, 0, false },
    [SPACE_MICRO]         = { NULL, 1, 1 << 24, false },
    [SPACE_MICROBATCHES]  = { NULL, 1, 1 << 24, false },
    [SPACE_SCHEDULE]      = { parallelism_schedule_names, 0, 0, false },
    [SPACE_VIRTUAL]       = { NULL, 1, 1 << 20, false },
    [SPACE_SEQUENCE]      = { bool_names, 0, 0, false },
    [SPACE_OVERLAP]       = { bool_names, 0, 0, false },
    [SPACE_SHARDING]      = { parallelism_sharding_names, 0, 0, false },
    [SPACE_DEGREE]        = { NULL, 1, 1 << 20, false },
    [SPACE_OFFLOAD]       = { parallelism_offload_names, 0, 0, false },
    [SPACE_CHECKPOINTING] = { checkpoint_names, 0, 0, false },
    [SPACE_PLACEMENT]     = { placement_names, 0, 0, false },
    [SPACE_BUCKET]        = { NULL, 1, INT64_MAX, true },
};
/* clang-format on */

/* Reading -------------------------------------------------------------------------- */

static int bad_value(struct diags *d, const char *option, const char *field,
                     const char *word, const char *mend)
{
    bool own = strcmp(option + strspn(option, "-"), field) == 0; /* --count */
    diags_error(d, DIAG_UNKNOWN_NAME, "%s%s%s: \"%.40s\" %s", option, own ? "" : " ",
                own ? "" : field, word, mend);
    return -1;
}

/* "is none of ddp, fsdp or deepspeed (did you mean ...?)" */
static int bad_name(struct diags *d, const char *option, const char *field,
                    const char *word, const struct name_value *names)
{
    const char *near = names_nearest(names, word);
    struct strbuf b;
    strbuf_init(&b);
    if (near)
        strbuf_printf(&b, "is no value of it (did you mean \"%s\"?)", near);
    else
        strbuf_addstr(&b, "is none of ");
    for (const struct name_value *n = names; !near && n->name; n++)
        strbuf_printf(&b, "%s%s", n == names ? "" : n[1].name ? ", " : " or ", n->name);
    bad_value(d, option, field, word, strbuf_get(&b));
    strbuf_release(&b);
    return -1;
}

static int read_int(const char *word, int64_t *v)
{
    char *end;
    errno = 0;
    *v = strtoll(word, &end, 10);
    return end == word || *end || errno ? -1 : 0;
}

/* One word as a value of the field. */
static int read_value(enum space_field f, const char *word, int64_t *v, struct diags *d,
                      const char *option)
{
    const char *field = names_of(space_field_names, (int)f), *why = NULL;
    double bytes;
    int named;
    if (kinds[f].names) {
        if (names_find(kinds[f].names, word, &named) == 0) {
            *v = named;
            return 0;
        }
        if (f == SPACE_CHECKPOINTING && space_form_read(word, v) == 0)
            return 0;
        return bad_name(d, option, field, word, kinds[f].names);
    }
    if (kinds[f].bytes) {
        if (units_parse(word, UNIT_BYTES, &bytes, &why) == 0 && bytes >= 1 &&
            bytes < 1e13) {
            *v = (int64_t)bytes;
            return 0;
        }
        return bad_value(d, option, field, word, why ? why : "is out of bounds");
    }
    if (read_int(word, v) == 0 && *v >= kinds[f].min && *v <= kinds[f].max)
        return 0;
    char mend[96];
    snprintf(mend, sizeof(mend), "is no whole number from %" PRId64 " to %" PRId64,
             (int64_t)kinds[f].min, (int64_t)kinds[f].max);
    return bad_value(d, option, field, word, mend);
}

static int add_value(struct space *s, enum space_field f, int64_t v, struct diags *d,
                     const char *option)
{
    for (int32_t i = 0; i < s->n[f]; i++)
        if (s->values[f][i] == v)
            return 0;
    if (s->n[f] == SPACE_VALUES_MAX) {
        diags_error(d, DIAG_OUT_OF_RANGE,
                    "%s %s: more than %d values (narrow the range)", option,
                    names_of(space_field_names, (int)f), SPACE_VALUES_MAX);
        return -1;
    }
    s->values[f][s->n[f]++] = v;
    return 0;
}

/* "8" or "4..32" */
static int read_word(struct space *s, enum space_field f, char *word, struct diags *d,
                     const char *option)
{
    char *dots = kinds[f].names || kinds[f].bytes ? NULL : strstr(word, "..");
    int64_t from, to;
    if (dots)
        *dots = '\0';
    if (read_value(f, word, &from, d, option))
        return -1;
    to = from;
    if (dots && read_value(f, dots + 2, &to, d, option))
        return -1;
    if (to < from)
        return bad_value(d, option, names_of(space_field_names, (int)f), dots + 2,
                         "ends a range that runs downwards");
    for (int64_t v = from; v <= to; v++)
        if (add_value(s, f, v, d, option))
            return -1;
    return 0;
}

static int read_field(const char *text, int *f, struct diags *d, const char *option)
{
    char name[64];
    const char *eq = strchr(text, '=');
    size_t len = eq ? (size_t)(eq - text) : strlen(text);
    snprintf(name, sizeof(name), "%.*s", (int)(len < 60 ? len : 60), text);
    if (!eq || !eq[1]) {
        diags_error(d, DIAG_MISSING,
                    "%s %s: has no value (write for example \"tensor=8\")", option,
                    name);
        return -1;
    }
    if (names_find(space_field_names, name, f) == 0 && *f != SPACE_INSTANCE)
        return 0;
    if (strcmp(name, "instance") == 0) {
        diags_error(d, DIAG_REFUSED_KEY,
                    "%s instance: instances are named by --instance", option);
        return -1;
    }
    const char *near = names_nearest(space_field_names, name);
    diags_error(d, DIAG_UNKNOWN_NAME, "%s %s: plans have no such field%s%s%s", option,
                name, near ? " (did you mean \"" : "", near ? near : "",
                near ? "\"?)" : "");
    return -1;
}

int space_allow(struct space *s, struct arena *arena, struct diags *diags,
                const char *option, const char *text, bool fix)
{
    int f;
    if (read_field(text, &f, diags, option))
        return -1;
    const char *name = names_of(space_field_names, f);
    int64_t *before = s->values[f];
    int32_t n_before = s->given[f] ? s->n[f] : 0;
    s->values[f] = ARENA_ARRAY(arena, SPACE_VALUES_MAX, int64_t);
    s->n[f] = 0;
    char *words = arena_strdup(arena, strchr(text, '=') + 1), *save = NULL;
    for (char *w = strtok_r(words, ",", &save); w; w = strtok_r(NULL, ",", &save))
        if (read_word(s, (enum space_field)f, w, diags, option))
            return -1;
    if (fix && s->n[f] > 1) {
        diags_error(diags, DIAG_WRONG_TYPE,
                    "%s %s: takes one value (--allow takes several)", option, name);
        return -1;
    }
    for (int32_t i = 0; i < n_before && s->n[f]; i++)
        if (n_before != s->n[f] || before[i] != s->values[f][i]) {
            diags_error(diags, DIAG_CONTRADICTION,
                        "%s %s: contradicts what was given for it before", option,
                        name);
            return -1;
        }
    s->given[f] = true;
    return 0;
}

/* What is worth trying ------------------------------------------------------------- */

static void fill(struct space *s, struct arena *arena, enum space_field f, int32_t n,
                 const int64_t *values)
{
    s->values[f] = ARENA_ARRAY(arena, n, int64_t);
    memcpy(s->values[f], values, (size_t)n * sizeof(*values));
    s->n[f] = n;
}

/* The numbers up to `most` that divide `of` (0: all). */
static void fill_divisors(struct space *s, struct arena *arena, enum space_field f,
                          int64_t most, int64_t of)
{
    s->values[f] = ARENA_ARRAY(arena, SPACE_VALUES_MAX, int64_t);
    s->n[f] = 0;
    for (int64_t v = 1; v <= most && s->n[f] < SPACE_VALUES_MAX; v++)
        if (of == 0 || of % v == 0)
            s->values[f][s->n[f]++] = v;
}

static void fill_stacks(struct space *s, struct arena *arena, uint32_t stacks)
{
    int64_t v[SPACE_STACKS_N];
    int32_t n = 0;
    for (int i = 0; i < SPACE_STACKS_N; i++)
        if (stacks >> i & 1)
            v[n++] = i;
    fill(s, arena, SPACE_LIBRARY, n, v);
}

/* Sizes at which groups of parameters are still worth sharding over: within nodes, and
 * over powers of two of them. */
static void fill_degrees(struct space *s, struct arena *arena)
{
    int64_t v[32] = { 0 };
    int32_t n = 1;
    int64_t gpus = s->instances[0].instance->n_gpus;
    for (int64_t d = gpus; d <= 512 && n < 8; d *= 2)
        if (d > 1)
            v[n++] = d;
    fill(s, arena, SPACE_DEGREE, n, v);
}

static int64_t largest_instance(const struct space *s)
{
    int64_t most = 1;
    for (int32_t i = 0; i < s->n_instances; i++)
        if (s->instances[i].instance->n_gpus > most)
            most = s->instances[i].instance->n_gpus;
    return most;
}

static void fill_micro(struct space *s, struct arena *arena)
{
    enum { MICRO_MOST = 128 };
    int64_t v[32];
    int32_t n = 0;
    for (int64_t b = 1; b <= MICRO_MOST; b *= 2) { /* 1, 2, 3, 4, 6, 8, 12, ... */
        v[n++] = b;
        if (b > 1 && b < MICRO_MOST && s->global_batch % (b / 2 * 3) == 0)
            v[n++] = b / 2 * 3;
    }
    fill(s, arena, SPACE_MICRO, n, v);
}

/* What is tried where nothing of the model or the cluster says more; of the others,
 * 0. */
static const struct choices {
    int32_t n;
    int64_t v[10];
} choices[SPACE_N] = {
    [SPACE_COUNT] = { 1, { 1 } },
    [SPACE_OPTIMIZE] = { 2, { 0, 1 } },
    [SPACE_SEQUENCE] = { 2, { 0, 1 } },
    [SPACE_OVERLAP] = { 2, { 0, 1 } },
    [SPACE_SCHEDULE] = { 10,
                         { SCHEDULE_1F1B, SCHEDULE_INTERLEAVED, SCHEDULE_GPIPE,
                           SCHEDULE_ZB_H1, SCHEDULE_SMP_INTERLEAVED,
                           SCHEDULE_SMP_SIMPLE, SCHEDULE_LOOPED_BFS,
                           SCHEDULE_ZB_INTERLEAVED, SCHEDULE_ZB_V,
                           SCHEDULE_DUALPIPE_V } },
    [SPACE_VIRTUAL] = { 7, { 1, 2, 3, 4, 6, 8, 12 } },
    [SPACE_SHARDING] = { 4, { 0, 1, 2, 3 } },
    [SPACE_CHECKPOINTING] = { 3, { 0, 1, 2 } },
    [SPACE_PLACEMENT] = { 3, { 0, 1, 2 } },
    [SPACE_BUCKET] = { 2, { 0, 100 << 20 } },
};

static void fill_instances(struct space *s, struct arena *arena)
{
    enum space_field f = SPACE_INSTANCE;
    s->values[f] = ARENA_ARRAY(arena, SPACE_INSTANCES_MAX, int64_t);
    for (s->n[f] = 0; s->n[f] < s->n_instances; s->n[f]++)
        s->values[f][s->n[f]] = s->n[f];
}

/* Short sequences gain nothing. */
static void fill_context(struct space *s, struct arena *arena)
{
    enum { LONG_SEQUENCE = 8192 };
    static const int64_t contexts[] = { 1, 2, 4, 8, 16, 32 };
    fill(s, arena, SPACE_CONTEXT, s->sequence >= LONG_SEQUENCE ? 6 : 1, contexts);
}

/* One more value, where the scenario's own is none of those that are tried. */
static void fill_own(struct space *s, struct arena *arena, enum space_field f,
                     int64_t own)
{
    int64_t v[16];
    const struct choices *c = &choices[f];
    int32_t n = c->n;
    bool there = own <= 0;
    memcpy(v, c->v, (size_t)n * sizeof(*v));
    for (int32_t i = 0; i < n; i++)
        there |= v[i] == own;
    if (!there)
        v[n++] = own;
    fill(s, arena, f, n, v);
}

void space_default(struct space *s, struct arena *arena, enum space_field f,
                   uint32_t stacks)
{
    enum { TENSOR_NODES = 2 };
    const struct choices *c = &choices[f];
    int64_t experts = s->model->mlp.experts;
    switch (f) {
    case SPACE_INSTANCE:
        fill_instances(s, arena);
        break;
    case SPACE_LIBRARY:
        fill_stacks(s, arena, stacks);
        break;
    case SPACE_TENSOR:
        fill_divisors(s, arena, f, TENSOR_NODES * largest_instance(s),
                      s->model->attention.heads);
        break;
    case SPACE_PIPELINE:
        fill_divisors(s, arena, f, s->layers, 0);
        break;
    case SPACE_CONTEXT:
        fill_context(s, arena);
        break;
    case SPACE_EXPERT:
        fill_divisors(s, arena, f, experts ? experts : 1, experts);
        break;
    case SPACE_MICRO:
        fill_micro(s, arena);
        break;
    case SPACE_DEGREE:
        fill_degrees(s, arena);
        break;
    case SPACE_CHECKPOINTING:
        fill_own(s, arena, f, s->own_form);
        break;
    case SPACE_VIRTUAL:
        fill_own(s, arena, f, s->layout.chunks);
        break;
    default: /* of gpus, data, microbatches, offloading: 0 alone, whatever there is */
        fill(s, arena, f, c->n > 0 ? c->n : 1, c->v);
    }
}

void space_defaults(struct space *s, struct arena *arena, uint32_t stacks)
{
    for (int f = 0; f < SPACE_N; f++)
        if (s->n[f] == 0)
            space_default(s, arena, (enum space_field)f, stacks);
}

char *space_value_text(const struct space *s, enum space_field f, int64_t v, char *buf,
                       size_t size)
{
    if (f == SPACE_INSTANCE)
        snprintf(buf, size, "%s", s->instances[v].name);
    else if (f == SPACE_CHECKPOINTING && v > SPACE_GROUP)
        space_form_text(v, buf, size);
    else if (kinds[f].names)
        snprintf(buf, size, "%s", names_of(kinds[f].names, (int)v));
    else if (kinds[f].bytes && v)
        units_bytes_text(buf, (double)v);
    else
        snprintf(buf, size, "%" PRId64, (int64_t)v);
    return buf;
}
