/* A text of Python from its beginning to its end. */
#include "dialect/python/python.h"
#include "base/names.h"

#include "config/lenient.h"
#include "config/place.h"
#include "dialect/python/python_parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool has_prompts(const char *text)
{
    for (const char *s = text; s; s = strchr(s, '\n')) {
        s += *s == '\n';
        if (python_prompt(s))
            return true;
    }
    return false;
}

/* Calls of functions that were read where they are called come in the text's order. */
static int by_line(const void *a, const void *b)
{
    const struct python_call *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void sort_calls(struct python *p)
{
    /* few calls are out of order: insertion is stable */
    for (int64_t i = 1; i < p->calls.n; i++) {
        struct python_call c = p->calls.v[i];
        int64_t k = i;
        for (; k > 0 && by_line(&p->calls.v[k - 1], &c) > 0; k--)
            p->calls.v[k] = p->calls.v[k - 1];
        p->calls.v[k] = c;
    }
}

/* Without names that are bound to nothing any more. */
static void pack_names(struct python *p)
{
    int64_t n = 0;
    for (int64_t i = 0; i < p->names.n; i++)
        if (p->names.v[i].value)
            p->names.v[n++] = p->names.v[i];
    p->names.n = n;
}

/* Whether a text asks who it is among ranks; whether it joins them. */
struct ranks {
    bool asks, joins;
};

static void look_for_ranks(struct ranks *k, const char *text)
{
    static const char *const joins[] = { "init_process_group(",
                                         "deepspeed.init_distributed(",
                                         "DistributedDataParallel(",
                                         "DDP(",
                                         "Accelerator(",
                                         NULL };
    k->asks |= strstr(text, "RANK") || strstr(text, "WORLD_SIZE");
    k->joins |= names_within(joins, text);
}

/* Likewise the modules that the text imports from. */
static void look_for_ranks_of_modules(struct ranks *k, struct python_parser *r)
{
    enum { IMPORTS_MAX = 40 };
    const struct python_modules *m = r->wanted->modules;
    const char *path, *text;
    int n = 0;
    for (const char *s = r->lex.s; m && (s = strstr(s, "from ")) != NULL; s += 5) {
        size_t len = strcspn(s + 5, " \n");
        bool imports =
            (s == r->lex.s || s[-1] == '\n') && strncmp(s + 5 + len, " import", 7) == 0;
        if (!imports || n++ > IMPORTS_MAX)
            continue;
        text =
            m->text(m->of, r->p->arena, arena_strndup(r->p->arena, s + 5, len), &path);
        if (text && !strstr(text, "__main__"))
            look_for_ranks(k, text);
    }
}

/* Whether a program that nothing starts here is one that torchrun starts for each rank. */
static bool joins_ranks(struct python_parser *r)
{
    struct ranks k = { 0 };
    if (r->wanted->bound || r->prompts || r->wanted->gpu.world == 1 ||
        strstr(r->lex.s, "spawn("))
        return false;
    look_for_ranks(&k, r->lex.s);
    if (!k.asks || !k.joins)
        look_for_ranks_of_modules(&k, r);
    bool joins = k.asks && k.joins;
    if (joins)
        python_note(
            r, 1,
            "it joins a group of ranks: a starter (torchrun) is taken to start it "
            "on each GPU");
    return joins;
}

/* What torchrun sets for each rank of a program (torch/distributed/run.py); rank 0 is
 * read. */
static void bind_ranks(struct python_parser *r, struct value *environment)
{
    static const char name[] = "WORLD_SIZE";
    static const char *const first[] = { "RANK", "LOCAL_RANK" };
    const struct value *given = r->wanted->given;
    int64_t ranks = r->wanted->gpu.world, line = given && given->line ? given->line : 1;
    if (given ? ranks == 0 || ranks == 1 : !joins_ranks(r))
        return;
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
        python_put(r, environment, first[i], line, python_text(r, -line, "0"));
    python_put(r, environment, name, line,
               ranks > 1
                   ? python_text(r, -line, arena_printf(r->p->arena, "%" PRId64, ranks))
                   : python_unknown(r, -line,
                                    "%s is the number of ranks (--set "
                                    "/cluster/instance=NAME and /cluster/count=N)",
                                    name));
}

static void read_all(struct python_parser *r)
{
    python_bind(r, "__name__",
                python_text(r, 0, r->wanted->bound ? "__part__" : "__main__"));
    python_bind(r, "__file__", python_text(r, 0, "./__file__"));
    struct value *environment = python_new(r, VALUE_DICT, 1);
    environment->gap = 1; /* others are set outside */
    bind_ranks(r, environment);
    for (int32_t i = 0; r->wanted->environment && i < r->wanted->environment->n; i++) {
        const struct value_item *it = &r->wanted->environment->items[i];
        python_put(r, environment, it->key, it->line,
                   python_text(r, it->value->line, it->value->text));
    }
    python_bind(r, PYTHON_ENVIRONMENT, environment);
    if (r->wanted->words)
        python_bind(r, "sys.argv", python_copy(r, r->wanted->words));
    for (int32_t i = 0; r->wanted->bound && i < r->wanted->bound->n; i++)
        python_bind(r, r->wanted->bound->items[i].key,
                    r->wanted->bound->items[i].value);
    while (r->lex.i < r->lex.n && !r->limit) {
        python_lines(r, -1);
        r->in.stop = PYTHON_GOES_ON;
        if (r->lex.i < r->lex.n)
            python_notebook_line(r, true);
    }
    python_leave_quote(r);
    if (!r->wanted->bound || r->wanted->methods)
        python_inline_rest(r, r->wanted->methods);
}

int python_read(struct python *p, struct arena *arena, const char *text, size_t len,
                const struct python_wanted *wanted, struct err *err)
{
    *p = (struct python) { .arena = arena, .length = (int64_t)len, .text = text };
    size_t bad = lenient_bad_byte(text, len);
    if (len > PYTHON_TEXT_MAX_B)
        return err_set(err, "it is longer than %d MiB (give the script alone)",
                       PYTHON_TEXT_MAX_B >> 20);
    if (bad < len)
        return err_set_at(err, (int)place_of(text, bad).line, 0,
                          "the line is no text in UTF-8 (save it as such)");
    struct python_parser r = {
        .p = p,
        .read_suite = python_suite,
        .imported_load = python_imported_load,
        .foreign_call = python_foreign_call,
        .inline_call = python_inline,
        .wanted = wanted,
        .lex = { .s = text,
                 .n = len,
                 .line = 1,
                 .still = wanted->line,
                 .arena = arena },
        .prompts = has_prompts(text),
        .mark = -1,
    };
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        r.lex.i = 3;
    read_all(&r);
    sort_calls(p);
    pack_names(p);
    p->parsed = r.parsed;
    VEC_RELEASE(&r.journal);
    VEC_RELEASE(&r.functions);
    VEC_RELEASE(&r.objects);
    VEC_RELEASE(&r.foreign);
    VEC_RELEASE(&r.untaken);
    VEC_RELEASE(&r.built);
    python_release(&r.last_module.read);
    if (r.limit)
        return err_set_at(err, (int)r.lex.line, 0, "%s (give the script alone)",
                          r.limit);
    return 0;
}

void python_release(struct python *p)
{
    VEC_RELEASE(&p->names);
    VEC_RELEASE(&p->left);
    VEC_RELEASE(&p->calls);
    VEC_RELEASE(&p->modules);
    VEC_RELEASE(&p->notes);
}
