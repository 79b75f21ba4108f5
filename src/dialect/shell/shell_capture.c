/* $(if [ ... ]; then echo A; else echo B; fi), $([ ... ] && echo A || echo B) and $(name)
 * of a function: what statements print, where all that do are echo, printf and cat
 * (shell_output.c); and what they start. */
#include "dialect/shell/shell_machine.h"

/* Whether statements are what is there, and no command whose words say all. */
static bool is_statements(const struct shell_machine *m)
{
    static const char *const words[] = { "if", "case", "[", "[[", "test", NULL };
    for (const char *const *w = words; *w; w++)
        if (shell_word_at(m, *w))
            return true;
    for (int64_t i = 0; i < m->functions.n; i++)
        if (shell_word_at(m, m->functions.v[i].name))
            return true;
    return false;
}

/* Whether a job is started: job=$(sbatch train.slurm), whose number is not known. */
static bool is_started(const struct shell_machine *m)
{
    static const char *const starters[] = { "sbatch",    "srun",       "torchrun",
                                            "deepspeed", "accelerate", "mpirun",
                                            "mpiexec",   "aprun",      "jsrun",
                                            NULL };
    for (const char *const *w = starters; *w; w++)
        if (shell_word_at(m, *w))
            return true;
    return false;
}

bool shell_capture(struct shell_machine *m, struct shell_cursor command,
                   struct shell_text *out)
{
    struct shell_cursor here = m->at;
    struct shell_capture *outer = m->capture, own = { .mode = m->mode };
    m->at = command;
    shell_skip_lines(m);
    bool is = is_statements(m), starts = !is && is_started(m);
    if (is || starts) {
        int64_t notes = m->out->notes.n;
        struct shell_subshell *inner = shell_subshell_begin(m);
        own.lost = starts;
        m->capture = starts ? NULL : &own;
        shell_list(m, NULL);
        m->capture = outer;
        shell_subshell_end(m, inner);
        m->out->notes.n = own.lost ? notes : m->out->notes.n;
    }
    m->at = here;
    bool known = is && !own.lost && !m->failed;
    int32_t n = own.text.n;
    while (n && own.text.v[n - 1].c == '\n')
        n--;
    struct shell_text all = { .v = own.text.v, .n = n };
    if (known)
        shell_append(m, out, &all);
    shell_text_release(&own.text);
    return known;
}
