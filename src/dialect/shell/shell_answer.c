/* What commands print that do nothing but work on their words: the value of $( ). */
#include "dialect/shell/shell_machine.h"

#include "base/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES_MAX = 6, NUMBERS_MAX = 1000, SM_OF_BF16 = 80 };

/* One command of a pipeline; `text` is what the one before printed, NULL at first. */
struct stage {
    struct shell_machine *m;
    const char *const *w; /* words, all known */
    int n;
    const char *text;
};

/* Paths ---------------------------------------------------------------------------- */

const char *shell_path(struct arena *arena, const char *directory, const char *path)
{
    char *joined = arena_printf(arena, "%s/%s", directory, path);
    const char *s = *path == '/' ? path : joined;
    char *out = arena_alloc(arena, strlen(s) + 2, 1);
    size_t n = 0;
    bool absolute = *s == '/';
    for (size_t len; *s; s += len) {
        s += strspn(s, "/");
        len = strcspn(s, "/");
        bool up = len == 2 && strncmp(s, "..", 2) == 0;
        size_t last = n;
        while (last && out[last - 1] != '/')
            last--;
        bool has = n > last && strncmp(out + last, "..", n - last) != 0;
        if (len == 0 || (len == 1 && *s == '.'))
            continue;
        if (up && has) {
            n = last ? last - 1 : 0;
            continue;
        }
        if (n || absolute)
            out[n++] = '/';
        memcpy(out + n, s, len);
        n += len;
    }
    out[n] = '\0';
    return n ? out : absolute ? "/" : ".";
}

static const char *dirname_of(struct stage *s)
{
    const char *path = s->n > 1 ? s->w[1] : s->text;
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (!path)
        return NULL;
    return !slash          ? "."
           : slash == path ? "/"
                           : arena_strndup(s->m->arena, path, (size_t)(slash - path));
}

static const char *basename_of(struct stage *s)
{
    if (s->n < 2)
        return NULL;
    const char *slash = strrchr(s->w[1], '/'), *name = slash ? slash + 1 : s->w[1];
    size_t n = strlen(name), m = s->n > 2 ? strlen(s->w[2]) : 0;
    bool ends = m && m < n && strcmp(name + n - m, s->w[2]) == 0;
    return arena_strndup(s->m->arena, name, ends ? n - m : n);
}

static const char *same_path(struct stage *s)
{
    const char *last = s->n > 1 ? s->w[s->n - 1] : NULL;
    return last ? shell_path(s->m->arena, ".", last) : NULL;
}

static const char *directory_of(struct stage *s)
{
    return s->m->in->file ? s->m->directory : NULL;
}

/* python -c "import os; print(os.getcwd())" */
static const char *python_directory(struct stage *s)
{
    return strstr(s->w[2], "print(os.getcwd())") ? directory_of(s) : NULL;
}

/* python -c "print('A' if torch.cuda.is_bf16_supported() else 'B')": sm80 and newer
 * compute in bf16 (torch/cuda/__init__.py, PyTorch 2.4). */
static const char *python_bf16(struct stage *s)
{
    static const char *const forms[] = {
        "print('%31[^']' if torch.cuda.is_bf16_supported() else '%31[^']')",
        "print(\"%31[^\"]\" if torch.cuda.is_bf16_supported() else \"%31[^\"]\")"
    };
    char yes[32], no[32];
    const char *print = strstr(s->w[2], "print(");
    for (size_t i = 0; print && s->m->in->arch && i < 2; i++)
        if (sscanf(print, forms[i], yes, no) == 2)
            return arena_strdup(s->m->arena, s->m->in->arch >= SM_OF_BF16 ? yes : no);
    return NULL;
}

static const char *python_line(struct stage *s)
{
    if (s->n != 3 || strcmp(s->w[1], "-c") != 0)
        return NULL;
    const char *directory = python_directory(s);
    return directory ? directory : python_bf16(s);
}

/* which NAME, command -v NAME: a program is known by its name. */
static const char *program_of(struct stage *s)
{
    bool plain = s->n == 2 || (s->n == 3 && s->w[1][0] == '-');
    return plain && s->w[s->n - 1][0] != '-' ? s->w[s->n - 1] : NULL;
}

/* Text ----------------------------------------------------------------------------- */

static const char *echo(struct stage *s)
{
    const char *text = "";
    int first = 1;
    while (first < s->n && s->w[first][0] == '-' &&
           strspn(s->w[first] + 1, "neE") == strlen(s->w[first] + 1) && s->w[first][1])
        first++;
    for (int i = first; i < s->n; i++)
        text = arena_printf(s->m->arena, "%s%s%s", text, i > first ? " " : "", s->w[i]);
    return text;
}

static const char *print(struct stage *s)
{
    return shell_printf(s->m, s->w, s->n);
}

static int64_t count(const char *text, bool lines)
{
    int64_t n = 0;
    const char *ends = lines ? "\n" : " \t\n";
    for (const char *s = text + strspn(text, ends); *s; s += strspn(s, ends)) {
        s += strcspn(s, ends);
        n++;
    }
    return n;
}

static const char *word_count(struct stage *s)
{
    bool lines = s->n == 2 && strcmp(s->w[1], "-l") == 0,
         words = s->n == 2 && strcmp(s->w[1], "-w") == 0;
    if (!s->text || (!lines && !words))
        return NULL;
    return arena_printf(s->m->arena, "%" PRId64, count(s->text, lines));
}

/* awk -F',' '{print NF}': how many fields a line has. */
static const char *count_fields(struct stage *s)
{
    static const char *const counts[] = { "{print NF}", "{ print NF }", "{print NF;}",
                                          "{print NF }", NULL };
    int i = 1;
    char by = '\0';
    if (s->n > 1 && strncmp(s->w[1], "-F", 2) == 0) {
        const char *given = s->w[1][2] || s->n < 3 ? s->w[1] + 2 : s->w[2];
        i = s->w[1][2] ? 2 : 3;
        by = given[0] && !given[1] ? given[0] : '\0';
        if (!by)
            return NULL;
    }
    if (!s->text || s->n != i + 1 || !names_listed(counts, s->w[i]) ||
        strchr(s->text, '\n'))
        return NULL;
    int64_t n = *s->text != '\0';
    for (const char *c = s->text; by && *c; c++)
        n += *c == by;
    return arena_printf(s->m->arena, "%" PRId64, by ? n : count(s->text, false));
}

static const char *translate(struct stage *s)
{
    return s->text ? shell_translate(s->m, s->w, s->n, s->text) : NULL;
}

/* cut -d, -f1 */
static const char *cut(struct stage *s)
{
    char by = '\t';
    long field = 0;
    for (int i = 1; i < s->n; i++) {
        bool joined = s->w[i][0] == '-' && s->w[i][1] && s->w[i][2];
        const char *value = joined ? s->w[i] + 2 : i + 1 < s->n ? s->w[i + 1] : "";
        if (strncmp(s->w[i], "-d", 2) == 0)
            by = value[0];
        else if (strncmp(s->w[i], "-f", 2) == 0)
            field = strspn(value, "0123456789") == strlen(value)
                        ? strtol(value, NULL, 10)
                        : 0;
        i += !joined;
    }
    if (!s->text || field < 1 || !by || strchr(s->text, '\n'))
        return NULL;
    const char *c = s->text;
    for (long i = 1; i < field && c; i++) {
        c = strchr(c, by);
        c = c ? c + 1 : NULL;
    }
    const char *end = c ? strchr(c, by) : NULL;
    return !c ? (strchr(s->text, by) ? "" : s->text)
              : arena_strndup(s->m->arena, c, end ? (size_t)(end - c) : strlen(c));
}

static const char *edit_stream(struct stage *s)
{
    bool named = s->n == 3 && strcmp(s->w[1], "-e") == 0;
    return s->text && (s->n == 2 || named) ? shell_sed(s->m, s->w[s->n - 1], s->text)
                                           : NULL;
}

static const char *first_lines(struct stage *s)
{
    bool one = s->n == 2 ? strcmp(s->w[1], "-1") == 0 || strcmp(s->w[1], "-n1") == 0
                         : s->n == 3 && strcmp(s->w[1], "-n") == 0 &&
                               strcmp(s->w[2], "1") == 0;
    return s->text && one ? arena_strndup(s->m->arena, s->text, strcspn(s->text, "\n"))
                          : NULL;
}

/* Numbers -------------------------------------------------------------------------- */

static const char *calculate(struct shell_machine *m, const char *text)
{
    struct shell_text t = { 0 };
    int64_t v = 0;
    int32_t why = 0;
    if (!text || strspn(text, "0123456789+-*/% ()\n") != strlen(text) ||
        strlen(text) > 200)
        return NULL;
    shell_add_string(m, &t, text, (struct shell_char) { .line = 1 });
    bool known = shell_calculate(m, &t, &v, &why);
    shell_text_release(&t);
    return known ? arena_printf(m->arena, "%" PRId64, v) : NULL;
}

static const char *expression(struct stage *s)
{
    return s->n > 1 ? calculate(s->m, echo(s)) : NULL;
}

static const char *basic(struct stage *s)
{
    return calculate(s->m, s->text);
}

static const char *sequence(struct stage *s)
{
    long ends[3] = { 1, 1, 1 };
    for (int i = 1; i < s->n && i < 4; i++) {
        char *end;
        ends[i - 1] = strtol(s->w[i], &end, 10);
        if (*end || end == s->w[i])
            return NULL;
    }
    long from = s->n > 2 ? ends[0] : 1, step = s->n > 3 ? ends[1] : 1,
         to = ends[s->n > 3   ? 2
                   : s->n > 2 ? 1
                              : 0];
    const char *text = "";
    if (s->n < 2 || s->n > 4 || step < 1 || from < -NUMBERS_MAX || to > NUMBERS_MAX)
        return NULL;
    for (long i = from; i <= to; i += step)
        text = arena_printf(s->m->arena, "%s%s%ld", text, i > from ? "\n" : "", i);
    shell_works(s->m, (int64_t)strlen(text));
    return text;
}

/* scontrol show hostnames LIST: a line a node. */
static const char *node_names(struct stage *s)
{
    const char *text = "";
    if (s->n < 3 || strcmp(s->w[1], "show") != 0 ||
        strncmp(s->w[2], "hostname", 8) != 0 || s->m->in->nodes > NUMBERS_MAX)
        return NULL;
    for (int64_t i = 1; i <= s->m->in->nodes; i++)
        text =
            arena_printf(s->m->arena, "%s%snode%" PRId64, text, i > 1 ? "\n" : "", i);
    shell_works(s->m, (int64_t)strlen(text));
    return *text ? text : NULL;
}

/* Files ---------------------------------------------------------------------------- */

static const char *query(struct stage *s)
{
    return shell_query(s->m, s->w, s->n, s->text);
}

static const char *whole_file(struct stage *s)
{
    const char *text = s->n == 2 ? shell_file_text(s->m, s->w[1]) : NULL;
    return text && !shell_works(s->m, (int64_t)strlen(text)) ? text : NULL;
}

/* sort, sort -u and uniq, of what comes before or of the one file that they name. */
static const char *lines_of(struct stage *s, bool sorts)
{
    bool option = s->n > 1 && s->w[1][0] == '-',
         only = option && strcmp(s->w[1], "-u") == 0;
    int file = 1 + option;
    const char *text = s->n > file ? shell_file_text(s->m, s->w[file]) : s->text;
    return !text || s->n > file + 1 || (option && !(sorts && only))
               ? NULL
               : shell_lines(s->m, text, sorts, !sorts || only);
}

static const char *sorted_lines(struct stage *s)
{
    return lines_of(s, true);
}

static const char *unique_lines(struct stage *s)
{
    return lines_of(s, false);
}

/* Pipelines ------------------------------------------------------------------------ */

static const char *run_stage(struct stage *s)
{
    static const struct {
        const char *name;
        const char *(*run)(struct stage *s);
    } rows[] = {
        { "echo", echo },
        { "printf", print },
        { "dirname", dirname_of },
        { "basename", basename_of },
        { "realpath", same_path },
        { "readlink", same_path },
        { "pwd", directory_of },
        { "wc", word_count },
        { "tr", translate },
        { "cut", cut },
        { "sed", edit_stream },
        { "head", first_lines },
        { "expr", expression },
        { "bc", basic },
        { "seq", sequence },
        { "awk", count_fields },
        { "which", program_of },
        { "command", program_of },
        { "scontrol", node_names },
        { "yq", query },
        { "jq", query },
        { "cat", whole_file },
        { "sort", sorted_lines },
        { "uniq", unique_lines },
        { "python", python_line },
        { "python3", python_line },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (s->n && strcmp(s->w[0], rows[i].name) == 0)
            return rows[i].run(s);
    return NULL;
}

const char *shell_output_of(struct shell_machine *m, const char *const *words, int n)
{
    struct stage s = { .m = m, .w = words, .n = n };
    return run_stage(&s);
}

/* The words of one command at the cursor, up to "|", "&&", ";" or the end; NULL: one is
 * not known, or something else is there. *text: what is after <<<. */
static const char *const *words_of(struct shell_machine *m, int *n, const char **text)
{
    struct shell_texts all = { 0 };
    struct shell_redirect to = { 0 };
    const char **words = NULL;
    bool known = true;
    for (shell_skip_blanks(m); !shell_ends(m) && !m->failed; shell_skip_blanks(m)) {
        int32_t before = m->at.i;
        if (shell_redirection(m, &to))
            continue;
        if (shell_word_ends(m))
            break;
        shell_read_word(m, &all, true);
        if (m->at.i == before)
            break;
    }
    if (to.has_input) {
        known &= !shell_unknown_of(m, &to.input);
        *text = shell_string(m, &to.input, false);
    }
    if (to.source.n && !shell_unknown_of(m, &to.source))
        *text = shell_file_text(m, shell_string(m, &to.source, false));
    words = ARENA_ARRAY(m->arena, all.n + 1, const char *);
    for (int32_t i = 0; i < all.n; i++) {
        known &= !shell_unknown_of(m, &all.v[i]);
        words[i] = shell_string(m, &all.v[i], false);
    }
    *n = (int)all.n;
    known &= !to.has_document;
    shell_texts_release(&all);
    shell_redirect_release(&to);
    bool nodes = *n && strcmp(words[0], "scontrol") == 0; /* of whatever list */
    return known || nodes ? words : NULL;
}

/* Commands with "|" between; their directory may change before ("cd X && pwd"). */
static const char *run_all(struct shell_machine *m)
{
    const char *text = NULL;
    for (int i = 0; i < STAGES_MAX && !m->failed; i++) {
        struct stage s = { .m = m, .text = text };
        s.w = words_of(m, &s.n, &s.text);
        if (!s.w || !s.n)
            return NULL;
        bool moves = strcmp(s.w[0], "cd") == 0 && s.n > 1 && m->in->file;
        if (moves)
            m->directory = shell_path(m->arena, m->directory, s.w[s.n - 1]);
        text = moves ? "" : run_stage(&s);
        shell_skip_blanks(m);
        if (!text || shell_ends(m))
            return moves ? NULL : text;
        bool pipe = shell_at(m, "|") && !shell_at(m, "||"), then = shell_at(m, "&&");
        if (moves ? !then && !shell_at(m, ";") : !pipe)
            return NULL;
        m->at.i += then ? 2 : 1;
        text = moves ? NULL : text;
    }
    return NULL;
}

/* getopt's words may hold what is not known. */
static bool answer_getopt(struct shell_machine *m, struct shell_text *out)
{
    struct shell_texts words = { 0 };
    struct shell_redirect to = { 0 };
    shell_skip_blanks(m);
    bool is = shell_word_at(m, "getopt");
    for (; is && !shell_ends(m) && !m->failed; shell_skip_blanks(m)) {
        int32_t before = m->at.i;
        if (shell_redirection(m, &to))
            continue;
        shell_read_word(m, &words, true);
        if (m->at.i == before)
            break;
    }
    is = is && shell_getopt(m, &words, out);
    shell_texts_release(&words);
    shell_redirect_release(&to);
    return is;
}

bool shell_answer(struct shell_machine *m, struct shell_cursor command,
                  struct shell_text *out)
{
    struct shell_cursor here = m->at;
    const char *directory = m->directory;
    if (m->mode == SHELL_SKIP || m->depth >= SHELL_DEPTH_MAX || command.i >= command.n)
        return false;
    struct shell_char place = command.v[command.i];
    m->depth++;
    m->at = command;
    bool done = answer_getopt(m, out);
    m->at = here;
    if (done || m->hooks->capture(m, command, out)) {
        m->depth--;
        return true;
    }
    m->at = command;
    const char *text = run_all(m);
    m->at = here;
    m->depth--;
    m->directory = directory;
    size_t n = text ? strlen(text) : 0;
    while (n && text[n - 1] == '\n')
        n--;
    if (text && n < SHELL_VALUE_MAX && !m->failed)
        shell_add_string(m, out, arena_strndup(m->arena, text, n), place);
    return text && n < SHELL_VALUE_MAX && !m->failed;
}
