#include "sweep/sweep_inputs.h"

#include "base/strbuf.h"
#include "base/xmalloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct name_value kinds[] = { { "file", INPUT_FILE },
                                           { "data", INPUT_DATA },
                                           { "program", INPUT_PROGRAM },
                                           { NULL, 0 } };

void sweep_inputs_release(struct sweep_inputs *s)
{
    for (int64_t i = 0; i < s->list.n; i++)
        free((char *)(uintptr_t)s->list.v[i].name);
    VEC_RELEASE(&s->list);
    s->n_own = 0;
}

static const char *hash_text(char text[FNV_TEXT], uint64_t hash)
{
    if (hash == INPUT_MISSING)
        return "missing";
    snprintf(text, FNV_TEXT, "%016" PRIx64, hash);
    return text;
}

/* "NAME was HASH, is HASH" */
static void add_change(struct strbuf *b, const struct input_ref *then, uint64_t now)
{
    char old[FNV_TEXT], new[FNV_TEXT];
    strbuf_printf(b, "%s%s was %s, is %s", b->len ? "; " : "", then->name,
                  hash_text(old, then->hash), hash_text(new, now));
}

int sweep_inputs_add(struct sweep_inputs *s, const struct input_ref *input,
                     struct err *err)
{
    for (int64_t i = 0; i < s->list.n; i++) {
        const struct input_ref *known = &s->list.v[i];
        if (known->kind != input->kind || strcmp(known->name, input->name) != 0)
            continue;
        if (known->hash == input->hash)
            return 0;
        struct strbuf b;
        strbuf_init(&b);
        add_change(&b, known, input->hash);
        err_set(err,
                "results of two versions would be mixed: %s (run the sweep anew, with "
                "another --out)",
                strbuf_get(&b));
        strbuf_release(&b);
        return -1;
    }
    VEC_PUSH(&s->list,
             ((struct input_ref) { input->kind, xstrdup(input->name), input->hash }));
    return 0;
}

int sweep_inputs_add_read(struct sweep_inputs *s, const struct inputs *in,
                          struct err *err)
{
    int rc = 0;
    for (int64_t i = 0; rc == 0 && i < in->list.n; i++)
        rc = sweep_inputs_add(s, &in->list.v[i], err);
    return rc;
}

int sweep_inputs_add_all(struct sweep_inputs *s, const struct sweep_inputs *from,
                         struct err *err)
{
    int rc = 0;
    for (int64_t i = 0; rc == 0 && i < from->list.n; i++)
        rc = sweep_inputs_add(s, &from->list.v[i], err);
    return rc;
}

json_t *sweep_inputs_json(const struct input_ref *input)
{
    char hash[FNV_TEXT];
    return json_pack("{s:s, s:s, s:s}", "input", input->name, "kind",
                     kinds[input->kind].name, "hash", hash_text(hash, input->hash));
}

int sweep_inputs_add_json(struct sweep_inputs *s, json_t *input, struct err *err)
{
    const char *name = json_string_value(json_object_get(input, "input"));
    const char *kind = json_string_value(json_object_get(input, "kind"));
    const char *hash = json_string_value(json_object_get(input, "hash"));
    int k;
    if (!name || !kind || !hash || names_find(kinds, kind, &k))
        return err_set(err, "not an input");
    struct input_ref in = { (enum input_kind)k, name, strtoull(hash, NULL, 16) };
    if (strcmp(hash, "missing") == 0)
        in.hash = INPUT_MISSING;
    return sweep_inputs_add(s, &in, err);
}

struct input_ref sweep_inputs_program(void)
{
    return (struct input_ref) { INPUT_PROGRAM, "the program smsim",
                                inputs_hash_now(INPUT_PROGRAM, "") };
}

int sweep_inputs_check(const struct sweep_inputs *s, const char *journal,
                       struct err *err)
{
    struct strbuf b;
    strbuf_init(&b);
    for (int64_t i = 0; i < s->list.n; i++) {
        uint64_t now = inputs_hash_now(s->list.v[i].kind, s->list.v[i].name);
        if (now != s->list.v[i].hash)
            add_change(&b, &s->list.v[i], now);
    }
    int rc = b.len == 0
                 ? 0
                 : err_set(err,
                           "%s: what its results rest on has changed: %.800s (put it "
                           "back, or choose another --out)",
                           journal, strbuf_get(&b));
    strbuf_release(&b);
    return rc;
}
