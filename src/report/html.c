#include "report/html.h"

#include "report/figure_job.h"
#include "report/figure_step_data.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

static const char style[] =
    "body{font-family:" DRAW_FAMILIES ";max-width:780px;margin:2em auto;padding:0 1em;"
    "color:#222;line-height:1.4}"
    "pre{background:#f6f6f6;padding:1em;overflow-x:auto;font-size:13px}"
    "svg{max-width:100%;height:auto;margin:1em 0}";

static void text(FILE *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '<')
            fputs("&lt;", out);
        else if (*s == '&')
            fputs("&amp;", out);
        else
            fputc(*s, out);
    }
}

static void summary(FILE *out, const struct scenario *s,
                    const struct simulate_result *r,
                    const struct campaign_result *beyond)
{
    char *words = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&words, &n);
    if (!memory)
        return;
    report_step_text(memory, s, r, beyond);
    fclose(memory);
    fputs("<pre>", out);
    text(out, words);
    fputs("</pre>\n", out);
    free(words);
}

/* One figure under its title; its text is released. */
static void figure(FILE *out, const char *title, struct strbuf *svg, int rc)
{
    const char *body = rc ? NULL : strstr(strbuf_get(svg), "<svg");
    fprintf(out, "<h2>%s</h2>\n%s\n", title, body ? body : "");
    strbuf_release(svg);
}

static int figures(FILE *out, const struct step_figures *f, const struct scenario *s,
                   const struct simulate_result *r, struct err *err)
{
    static const char *const titles[STEP_FIGURES] = {
        [STEP_TIMELINE] = "What happens when",
        [STEP_MEMORY] = "Memory over time",
        [STEP_STAGES] = "Memory of the stages",
        [STEP_BREAKDOWN] = "Where the time goes",
        [STEP_USAGE] = "What is busy when",
    };
    static const char *const prefixes[STEP_FIGURES] = { "time-", "memory-", "stages-",
                                                        "parts-", "usage-" };
    for (int i = 0; i < STEP_FIGURES; i++) {
        struct strbuf svg;
        if (i == STEP_STAGES && r->memory.n_stages == 1)
            continue;
        strbuf_init(&svg);
        int rc = figure_step_svg(f, (enum step_figure)i, s, r, prefixes[i], &svg, err);
        figure(out, titles[i], &svg, rc);
        if (rc)
            return -1;
    }
    return 0;
}

static int job_figure(FILE *out, const struct scenario *s,
                      const struct campaign_result *beyond, struct err *err)
{
    struct strbuf svg;
    if (!beyond || !beyond->job.given)
        return 0;
    strbuf_init(&svg);
    int rc = figure_job_svg(s, &beyond->job, "job-", &svg, err);
    figure(out, "The whole job", &svg, rc);
    return rc;
}

static void folded_json(FILE *out, const char *title, const json_t *tree)
{
    char *words = json_dumps(tree, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    fprintf(out, "<details><summary>%s</summary><pre>", title);
    text(out, words ? words : "");
    fputs("</pre></details>\n", out);
    free(words);
}

int html_write(const struct step_figures *f, const struct scenario *s,
               const struct simulate_result *r, const struct campaign_result *beyond,
               const json_t *scenario, const char *path, struct err *err)
{
    struct file_out file;
    char *title = figure_step_title("A training step", s);
    int rc = file_out_open(&file, path, err);
    if (rc == 0) {
        FILE *out = file.stream;
        fputs(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>",
            out);
        text(out, title);
        fprintf(out, "</title><style>%s</style></head>\n<body><h1>", style);
        text(out, title);
        fputs("</h1>\n", out);
        summary(out, s, r, beyond);
        rc = figures(out, f, s, r, err);
        if (rc == 0)
            rc = job_figure(out, s, beyond, err);
        json_t *result = report_step_json(s, r, beyond);
        folded_json(out, "The result as JSON", result);
        json_decref(result);
        if (scenario)
            folded_json(out, "The scenario", scenario);
        fputs("</body></html>\n", out);
        if (rc == 0)
            rc = file_out_commit(&file, err);
        else
            file_out_abandon(&file);
    }
    free(title);
    return rc;
}
