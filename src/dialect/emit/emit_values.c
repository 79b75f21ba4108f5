/* What several writers share: words of a shell, variables, torchrun. */
#include "dialect/emit/emit_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void emit_word(struct strbuf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./=:,+@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        strbuf_addstr(out, word);
        return;
    }
    strbuf_addch(out, '\'');
    for (; *word; word++)
        if (*word == '\'')
            strbuf_addstr(out, "'\\''");
        else
            strbuf_addch(out, *word);
    strbuf_addch(out, '\'');
}

void emit_exports(struct strbuf *out, const struct scenario *s)
{
    struct cfg all = s->software.environment;
    for (void *it = cfg_first(all); it; it = cfg_next(all, it)) {
        const char *value = json_string_value(cfg_member(all, it).json);
        if (!value)
            continue;
        strbuf_printf(out, "export %s=", cfg_key(it));
        emit_word(out, value);
        strbuf_addch(out, '\n');
    }
}

int emit_torchrun(struct strbuf *out, const struct scenario *s, const char *script,
                  struct err *err)
{
    const struct cluster *c = &s->cluster;
    if (!cluster_is_uniform(c))
        return err_set(err, "torchrun starts as many processes on every instance, and "
                            "the cluster has unlike groups (--emit scenario has them)");
    strbuf_printf(out, "torchrun --nnodes %" PRId64 " --nproc_per_node %d %s",
                  c->n_hosts, (int)cluster_hosts(&c->groups[0]).gpus_per_instance,
                  script);
    return 0;
}

int emit_tree(struct strbuf *out, const struct emit_source *e, struct err *err)
{
    char *text = json_dumps(e->root.json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    (void)err;
    strbuf_printf(out, "%s\n", text);
    free(text);
    return 0;
}
