/* Pipelines of Megatron-Core: chunks, which layers a stage has, gradients that its end
 * makes (megatron/training/arguments.py, megatron/core/transformer/
 * pipeline_parallel_layer_layout.py and transformer_config.py, core_v0.19.0). */
#include "dialect/megatron/megatron.h"

#include "base/strbuf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDE "/parallelism/"
#define MTP "/training/mtp_layers"

/* Chunks --------------------------------------------------------------------------- */

static void set_virtual(struct launch_context *t, int64_t n,
                        const struct value_item *it)
{
    if (n < 2)
        return;
    launch_decide(t, WIDE "virtual_stages", json_integer((json_int_t)n), it, "");
    launch_decide(t, WIDE "schedule", json_string("interleaved"), it, "");
}

static bool is_on(const struct value_item *it)
{
    return it && launch_true(it->value);
}

static void take_virtual(struct launch_context *t, const struct megatron_stages *o)
{
    const struct value_item *each = o->each, *many = o->many;
    int64_t layers = launch_number(t, "/model/num_layers", 0) + is_on(o->embedding) +
                     is_on(o->loss),
            stages = launch_number(t, WIDE "pipeline", 1), n;
    launch_hear(t, many);
    if (each && (!launch_whole(each->value, &n) || n < 1 || layers < 1))
        launch_unresolved_item(t, WIDE "virtual_stages", each, "number of layers");
    else if (each && (n > layers / stages || layers % (n * stages)))
        launch_wrong_option(t, each, DIAG_NOT_DIVISIBLE,
                            "%" PRId64 " layers are no multiple of %" PRId64
                            " stages of chunks of %" PRId64,
                            layers, stages, n);
    else if (each)
        set_virtual(t, layers / (n * stages), each);
    else if (many && launch_whole(many->value, &n) && stages > 1)
        set_virtual(t, n, many);
    else if (many && many->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, WIDE "virtual_stages", many, "number of chunks");
}

/* Layers of the first and the last stage, the others evenly. */
static void take_uneven(struct launch_context *t, const struct megatron_stages *o)
{
    const struct value_item *ends[] = { o->first, o->last };
    static const char *const keys[] = { "first", "last" };
    json_t *counts = json_object();
    for (int i = 0; i < 2; i++) {
        int64_t n;
        launch_hear(t, ends[i]);
        if (ends[i] && launch_whole(ends[i]->value, &n))
            json_object_set_new(counts, keys[i], json_integer((json_int_t)n));
        else if (ends[i] && ends[i]->value->kind == VALUE_UNKNOWN)
            launch_unresolved_item(t, WIDE "partition", ends[i], "number of layers");
    }
    if (json_object_size(counts) > 0)
        launch_decide(t, WIDE "partition", counts, o->first ? o->first : o->last, "");
    else
        json_decref(counts);
}

static void take_counted(struct launch_context *t, const struct megatron_stages *o)
{
    bool embedding = is_on(o->embedding), loss = is_on(o->loss);
    int64_t layers = launch_number(t, "/model/num_layers", 0),
            stages = launch_number(t, WIDE "pipeline", 1) *
                     launch_number(t, WIDE "virtual_stages", 1);
    launch_hear(t, o->embedding);
    launch_hear(t, o->loss);
    if (!embedding && !loss)
        return;
    if (layers > 0 && (layers + embedding + loss) % stages != 0)
        launch_wrong_option(t, embedding ? o->embedding : o->loss, DIAG_NOT_DIVISIBLE,
                            "%" PRId64 " layers with it are no multiple of %" PRId64
                            " stages",
                            layers + embedding + loss, stages);
    else
        launch_decide(t, WIDE "partition",
                      json_string(embedding && loss ? "uniform|embedding|head"
                                  : embedding       ? "uniform|embedding"
                                                    : "uniform|head"),
                      embedding ? o->embedding : o->loss, "");
}

/* Layouts -------------------------------------------------------------------------- */

enum { LAYOUT_MAX = 1 << 16 };

/* What is repeated: "(tt|)" or one letter; 0: nothing is. */
static size_t repeated(const char *at, const char **body, size_t *n)
{
    size_t len = strcspn(at, ")");
    bool group = *at == '(' && at[len] == ')';
    *body = group ? at + 1 : at;
    *n = group ? len - 1 : 1;
    return group ? len + 1 : 1;
}

/* "Ett|(tt|)*2L" without commas, groups and counts: "Ett|tt|tt|L". false: it has
 * another form, or is too long. */
static bool unroll(struct strbuf *out, const char *text)
{
    while (*text) {
        const char *body;
        size_t n, taken = repeated(text, &body, &n);
        unsigned long times = 1;
        char *end = NULL;
        text += taken;
        if (*text == '*') {
            times = strtoul(text + 1, &end, 10);
            if (end == text + 1)
                return false;
            text = end;
        }
        if (times > LAYOUT_MAX || n * times > LAYOUT_MAX - out->len)
            return false;
        for (unsigned long i = 0; i < times; i++)
            strbuf_printf(out, "%.*s", (int)n, body);
    }
    return true;
}

static bool expand(struct strbuf *out, const char *text)
{
    struct strbuf plain, groups;
    strbuf_init(&plain);
    strbuf_init(&groups);
    for (; *text; text++)
        if (!strchr(",\\", *text)) /* a shell's within a list of arguments */
            strbuf_addch(&plain, *text);
    /* first groups, then the counts of letters that were in them */
    bool ok = unroll(&groups, strbuf_get(&plain)) && unroll(out, strbuf_get(&groups));
    strbuf_release(&plain);
    strbuf_release(&groups);
    return ok;
}

/* A list of lists of words, as recipes have them, as letters. */
static bool as_letters(struct strbuf *out, const struct value *list)
{
    static const struct dialect_word words[] = {
        { "embedding", "E" }, { "decoder", "t" }, { "mtp", "m" },
        { "loss", "L" },      { NULL, NULL },
    };
    for (int32_t i = 0; i < list->n; i++) {
        const struct value *stage = list->items[i].value;
        if (stage->kind != VALUE_LIST)
            return false;
        if (i > 0)
            strbuf_addch(out, '|');
        for (int32_t k = 0; k < stage->n; k++) {
            const char *text = stage->items[k].value->text;
            const struct dialect_word *w = words;
            while (text && w->word && strcmp(w->word, text) != 0)
                w++;
            if (!text || !w->word || out->len > LAYOUT_MAX)
                return false;
            strbuf_addstr(out, w->value);
        }
    }
    return true;
}

/* Layers that predict further tokens: how many, on which part; not all on one. */
struct further {
    int64_t n, part;
    bool split;
};

/* Layers of each chunk; NULL: the embedding is not in the first or the loss not in the
 * last, or a letter is another. */
static json_t *counts_of(const char *text, struct further *mtp)
{
    json_t *counts = json_array();
    int64_t n = 0;
    bool ok = strchr(text, 'E') && strchr(text, 'L');
    for (const char *c = text; ok; c++) {
        bool first = json_array_size(counts) == 0, last = !strchr(c, '|');
        if (*c == '|' || !*c) {
            json_array_append_new(counts, json_integer((json_int_t)n));
            n = 0;
        }
        if (!*c)
            return counts;
        n += *c == 't';
        if (*c == 'm') {
            mtp->split |= mtp->n++ > 0 && mtp->part != (int64_t)json_array_size(counts);
            mtp->part = (int64_t)json_array_size(counts);
        }
        ok = strchr("EtmL|", *c) && (*c != 'E' || first) && (*c != 'L' || last);
    }
    json_decref(counts);
    return NULL;
}

static void take_layout(struct launch_context *t, const struct megatron_stages *o)
{
    const struct value_item *it = o->layout;
    const struct value *v = it->value;
    int64_t stages = launch_number(t, WIDE "pipeline", 1);
    struct further mtp = { 0 };
    struct strbuf text;
    strbuf_init(&text);
    bool read = v->kind == VALUE_STRING ? expand(&text, v->text)
                                        : v->kind == VALUE_LIST && as_letters(&text, v);
    json_t *counts = read ? counts_of(strbuf_get(&text), &mtp) : NULL;
    int64_t n = (int64_t)json_array_size(counts);
    if (v->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, WIDE "partition", it, "layout of stages");
    else if (!counts)
        launch_wrong_option(t, it, DIAG_UNKNOWN_NAME,
                            "it is no layout that is simulated: letters E, t, m and L, "
                            "the embedding in the first stage and the loss in the last "
                            "(\"Et*3|(tt|)*29,m|L\")");
    else if (mtp.split || (launch_has(t, MTP) && mtp.n != launch_number(t, MTP, 0)))
        launch_wrong_option(t, it, DIAG_CONTRADICTION,
                            "its letters m are not the %" PRId64
                            " layers of multi-token prediction on one stage",
                            launch_number(t, MTP, 0));
    else if (n % stages != 0)
        launch_wrong_option(t, it, DIAG_NOT_DIVISIBLE,
                            "its %" PRId64 " stages are no multiple of "
                            "--pipeline-model-parallel-size %" PRId64,
                            n, stages);
    else if (stages > 1) {
        if (mtp.n > 0 && !launch_has(t, MTP))
            launch_decide(t, MTP, json_integer((json_int_t)mtp.n), it, "");
        if (mtp.n > 0 && mtp.part < n - 1)
            launch_decide(t, WIDE "mtp_part", json_integer((json_int_t)mtp.part), it,
                          "");
        set_virtual(t, n / stages, it);
        launch_decide(t, WIDE "partition", json_incref(counts), it, "");
    }
    json_decref(counts);
    strbuf_release(&text);
}

/* transformer_config.py raises where two of them say how layers are divided. */
static bool contradicts(struct launch_context *t, const struct megatron_stages *o)
{
    const struct value_item *uneven = o->first ? o->first : o->last,
                            *counted = is_on(o->embedding) ? o->embedding
                                       : is_on(o->loss)    ? o->loss
                                                           : NULL,
                            *other = uneven ? uneven : counted;
    if (o->layout && !other)
        other = o->each;
    if (!other || (!o->layout && !(uneven && counted)))
        return false;
    launch_wrong_option(t, o->layout ? o->layout : counted, DIAG_CONTRADICTION,
                        "%s says what each stage has, too (keep one)", other->key);
    return true;
}

/* All of it ------------------------------------------------------------------------ */

static void take_deferral(struct launch_context *t, const struct megatron_stages *o)
{
    int64_t limit;
    if (!is_on(o->defers))
        return;
    launch_decide(t, WIDE "defer_embedding_wgrad", json_true(), o->defers, "");
    if (o->limit && launch_whole(o->limit->value, &limit) && limit > 0)
        launch_decide(t, WIDE "wgrad_deferral_limit", json_integer((json_int_t)limit),
                      o->limit, "");
    launch_hear(t, o->limit);
}

/* One that is off says nothing. */
static void leave_out(struct launch_context *t, const struct value_item **it)
{
    if (!*it || !launch_is_off((*it)->value))
        return;
    launch_hear(t, *it);
    *it = NULL;
}

void megatron_take_stages(struct launch_context *t, const struct megatron_stages *given)
{
    struct megatron_stages o = *given;
    const struct value_item **all[] = { &o.each, &o.many,      &o.first, &o.last,
                                        &o.loss, &o.embedding, &o.layout };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        leave_out(t, all[i]);
    take_deferral(t, &o);
    if (contradicts(t, &o))
        return;
    if (o.layout) {
        take_layout(t, &o);
        launch_hear(t, o.many);
        return;
    }
    take_virtual(t, &o);
    take_uneven(t, &o);
    take_counted(t, &o);
}
