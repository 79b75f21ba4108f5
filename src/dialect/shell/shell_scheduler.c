/* Lines of a job for its scheduler: #SBATCH of SLURM, and what lines of others say of
 * nodes and GPUs, in SLURM's words: #PBS (PBS Professional 2022.1, Torque 6), #BSUB
 * (Spectrum LSF 10.1), #PJM (Fujitsu's), and Grid Engine's #$ with the whole nodes
 * of ABCI and of TSUBAME 4. */
#include "dialect/shell/shell_machine.h"

#include <ctype.h>
#include <string.h>

typedef VEC(struct shell_word) line_words;

const char *const shell_endings[] = { ".sh",  ".bash", ".slurm", ".sbatch",
                                      ".job", ".sub",  NULL };

/* The number after the last of such a key in a line, "select=4:ngpus=8"; its length; 0:
 * there is none, or several chunks are added. */
static size_t number_after(const char *line, size_t n, const char *key, const char **at)
{
    size_t k = strlen(key), digits = 0;
    for (size_t i = 0; i + k < n && line[i] != '+'; i++) {
        bool starts = i && strchr(" \t:,\"'=", line[i - 1]);
        if (!starts || strncmp(line + i, key, k) != 0)
            continue;
        *at = line + i + k;
        digits = strspn(*at, "0123456789");
        bool whole = digits && !isalpha((unsigned char)(*at)[digits]);
        digits = whole ? digits : 0;
    }
    return memchr(line, '+', n) ? 0 : digits;
}

static void push(struct arena *arena, line_words *to, const char *text, size_t n,
                 int64_t line)
{
    VEC_PUSH(to,
             ((struct shell_word) {
                 .text = arena_strndup(arena, text, n), .line = line, .column = 1 }));
}

/* What a line of another scheduler says, as options of SLURM's. */
static void take_other(struct arena *arena, line_words *to, const char *s, int64_t line)
{
    static const struct {
        const char *mark, *key, *option;
    } rows[] = {
        { "#PBS", "select=", "--nodes" },
        { "#PBS", "nodes=", "--nodes" },
        { "#PBS", "ngpus=", "--gpus-per-node" },
        { "#PBS", "gpus=", "--gpus-per-node" },
        { "#PBS", "mpiprocs=", "--ntasks-per-node" },
        { "#BSUB", "-nnodes ", "--nodes" },
        { "#BSUB", "num=", "--gpus-per-node" },
        { "#PJM", "node=", "--nodes" },
        { "#$", "rt_F=", "--nodes" },
        { "#$", "rt_AF=", "--nodes" },
        { "#$", "rt_HF=", "--nodes" },
        { "#$", "node_f=", "--nodes" },
    };
    size_t n = strcspn(s, "\r\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t mark = strlen(rows[i].mark);
        const char *at = NULL;
        if (strncmp(s, rows[i].mark, mark) != 0 || !strchr(" \t", s[mark]))
            continue;
        size_t digits = number_after(s, n, rows[i].key, &at);
        if (!digits)
            continue;
        push(arena, to, rows[i].option, strlen(rows[i].option), line);
        push(arena, to, at, digits, line);
    }
}

struct raw_shell shell_directives(struct arena *arena, const char *text)
{
    static const char mark[] = "#SBATCH";
    line_words words = { 0 };
    int64_t line = 0;
    for (const char *s = text; s && words.n < SHELL_WORDS_MAX; s = strchr(s, '\n')) {
        s += *s == '\n';
        line++;
        if (*s != '#')
            continue;
        if (strncmp(s, mark, sizeof(mark) - 1) != 0) {
            take_other(arena, &words, s, line);
            continue;
        }
        const char *w = s + sizeof(mark) - 1;
        for (w += strspn(w, " \t"); *w && !strchr("\r\n#", *w); w += strspn(w, " \t")) {
            size_t n = strcspn(w, " \t\r\n");
            VEC_PUSH(&words, ((struct shell_word) { .text = arena_strndup(arena, w, n),
                                                    .line = line,
                                                    .column = w - s + 1 }));
            w += n;
        }
    }
    struct raw_shell out = { .n = (int32_t)words.n };
    out.v = ARENA_ARRAY(arena, words.n + 1, struct shell_word);
    if (words.n)
        memcpy(out.v, words.v, (size_t)words.n * sizeof(*words.v));
    VEC_RELEASE(&words);
    return out;
}
