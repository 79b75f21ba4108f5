/* A program that trains nothing itself and starts what does by a shell: the commands of its
 * os.system(...) and subprocess.run(...), as a shell script. */
#include "dialect/launch/launch_commands.h"

#include "base/names.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* A piece that is not known is a variable that nobody sets, called as it is there. */
static void add_unknown(struct strbuf *b, const char *expression, size_t n)
{
    strbuf_addstr(b, "${");
    if (!n || !isalpha((unsigned char)*expression))
        strbuf_addstr(b, "unknown_");
    for (size_t i = 0; i < n; i++)
        strbuf_addch(b, isalnum((unsigned char)expression[i]) ? expression[i] : '_');
    strbuf_addstr(b, "}");
}

static const char *const starters[] = {
    "system", "run", "call", "check_call", "check_output", "Popen", "getoutput", NULL,
};

/* shlex.split(command) is the command. */
static const char *const same[] = { "split", "quote", NULL };

static bool starts_by(const struct python_call *c)
{
    static const char *const modules[] = { "os.", "subprocess." };
    const char *last = python_last_part(c->function);
    bool of = false;
    for (size_t i = 0; i < 2; i++)
        of |= strncmp(c->function, modules[i], strlen(modules[i])) == 0;
    return of && names_listed(starters, last) && !c->quoted;
}

/* Text that is known in part has {hosts[0]} for the rest. */
static void add_text(struct strbuf *b, const char *text)
{
    for (const char *s = text; *s; s++) {
        size_t n = *s == '{' && (s == text || s[-1] != '$') ? strcspn(s, "}") : 0;
        if (n && s[n]) {
            add_unknown(b, s + 1, n - 1);
            s += n;
        } else {
            strbuf_addch(b, *s);
        }
    }
}

static bool is_interpreter(const struct value *v)
{
    return v->text && strcmp(v->text, "sys.executable") == 0;
}

/* A word of a list, in quotes where a shell would split it. */
static void add_word(struct strbuf *b, const struct value *v)
{
    if (is_interpreter(v))
        strbuf_addstr(b, "python");
    else if (v->kind == VALUE_INT)
        strbuf_printf(b, "%" PRId64, v->integer);
    else if (v->kind == VALUE_REAL)
        strbuf_printf(b, "%.15g", v->real);
    else if (v->kind == VALUE_STRING && strpbrk(v->text, " \t\n'\"\\$`;&|<>(){}*?#~"))
        for (const char *s = (strbuf_addch(b, '\''), v->text);; s++) {
            strbuf_addch(b, *s ? *s : '\'');
            if (!*s)
                break;
            if (*s == '\'')
                strbuf_addstr(b, "\\''");
        }
    else if (v->kind == VALUE_STRING)
        strbuf_addstr(b, v->text);
    else if (v->text && strchr(v->text, '{'))
        add_text(b, v->text);
    else
        add_unknown(b, "", 0);
}

static void add_command(struct strbuf *b, const struct value *v)
{
    if (v->kind == VALUE_STRING)
        strbuf_addstr(b, v->text);
    else if (v->kind == VALUE_UNKNOWN && v->text && strchr(v->text, '{'))
        add_text(b, v->text);
    for (int32_t i = 0; v->kind == VALUE_LIST && i < v->n; i++) {
        strbuf_addstr(b, i ? " " : "");
        add_word(b, v->items[i].value);
    }
    strbuf_addstr(b, "\n");
}

/* os.environ["NAME"] = "value" of the text is set for all that it starts. */
static void add_environment(struct strbuf *b, const struct python *p)
{
    const struct value *all = python_name(p, PYTHON_ENVIRONMENT);
    for (int32_t i = 0; all && all->kind == VALUE_DICT && i < all->n; i++) {
        const struct value *v = all->items[i].value;
        if (v->line <= 0 || v->kind != VALUE_STRING)
            continue;
        strbuf_printf(b, "export %s=", all->items[i].key);
        add_word(b, v);
        strbuf_addstr(b, "\n");
    }
}

static const struct value *command_of(const struct python_call *c)
{
    const struct value_item *it = value_get(c->arguments, "args");
    it = it ? it : value_get(c->arguments, "0");
    it = it ? it : value_get(c->arguments, "command");
    return it && starts_by(c) ? it->value : NULL;
}

const char *launch_commands_of(struct arena *arena, const char *text,
                               const struct python_wanted *given)
{
    struct python_wanted wanted = *given;
    struct python p;
    struct err err = { 0 };
    struct strbuf b;
    bool any = false;
    if (!strstr(text, "subprocess") && !strstr(text, "os.system"))
        return NULL;
    wanted.calls = starters;
    wanted.same = same;
    strbuf_init(&b);
    if (python_read(&p, arena, text, strlen(text), &wanted, &err) == 0) {
        add_environment(&b, &p);
        for (int64_t i = 0; i < p.calls.n; i++) {
            const struct value *v = command_of(&p.calls.v[i]);
            if (v)
                add_command(&b, v);
            any |= v != NULL;
        }
    }
    const char *out = any ? arena_strdup(arena, strbuf_get(&b)) : NULL;
    strbuf_release(&b);
    python_release(&p);
    return out;
}
