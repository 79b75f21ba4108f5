/* Errors by applicability domain: the table of `smsim validate`, and the shipped file. */
#include "base/file.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void report_applicability_text(FILE *out, const struct applicability_line *lines,
                               int32_t n, const struct applicability_coverage *c)
{
    fputs("\nTimes by applicability domain, all sources together\n", out);
    fprintf(out, "%-16s %-21s %5s %3s %5s %8s %8s %7s\n", "GPU", "framework", "nodes",
            "tp", "n", "mean |e|", "median", "bias");
    for (int32_t i = 0; i < n; i++) {
        const struct applicability_line *l = &lines[i], *before = i ? l - 1 : NULL;
        bool same_gpu = before && strcmp(l->gpu, before->gpu) == 0;
        bool same = same_gpu && strcmp(l->framework, before->framework) == 0;
        fprintf(out,
                "%-16.16s %-21.21s %5" PRId64 " %3" PRId64 " %5" PRId64
                " %6.1f %% %6.1f %% %+5.1f %%\n",
                same_gpu ? "" : l->gpu, same ? "" : l->framework, l->nodes, l->tensor,
                l->stats.n, 100 * l->stats.mean_abs, 100 * l->stats.median_abs,
                100 * l->stats.bias);
    }
    if (c->n)
        fprintf(out,
                "%.0f %% of %" PRId64 " rows lie within the range stated of them\n"
                "(%.0f %% where their source is left out)\n",
                100.0 * (double)c->within / (double)c->n, c->n,
                100.0 * (double)c->within_without / (double)c->n);
}

void report_held_out_text(FILE *out, const struct applicability_coverage *c)
{
    if (c->n)
        fprintf(out,
                "Of %" PRId64
                " rows that no prediction was fitted to, %.0f %% lie within the "
                "range stated of them\n",
                c->n, 100.0 * (double)c->within / (double)c->n);
}

/* Members but "cells", then these, one a line. */
static void write_domain(FILE *out, json_t *domain)
{
    json_t *head = json_copy(domain), *cells = json_object_get(domain, "cells");
    json_object_del(head, "cells");
    char *text = json_dumps(head, JSON_REAL_PRECISION(6));
    fprintf(out, "    %.*s, \"cells\": [", (int)strlen(text) - 1, text);
    for (size_t i = 0; i < json_array_size(cells); i++) {
        fputs(i ? ",\n      " : "\n      ", out);
        json_dumpf(json_array_get(cells, i), out,
                   JSON_COMPACT | JSON_REAL_PRECISION(6));
    }
    fputs(" ]}", out);
    free(text);
    json_decref(head);
}

int report_applicability_write(json_t *tree, const char *path, struct err *err)
{
    struct file_out file;
    if (file_out_open(&file, path, err))
        return -1;
    fputs("{\n"
          "  \"comment\": \"Errors of predicted step times by applicability domain, of "
          "the tables in "
          "validate/data; made by `make applicability`. A cell: nodes, tensor, "
          "pipeline, log2 "
          "of a microbatch's tokens, log2 of parameters, rows, mean error, 10th and "
          "90th percentile, one of the rows\",\n  \"applicability\": [\n",
          file.stream);
    json_t *domains = json_object_get(tree, "applicability");
    for (size_t i = 0; i < json_array_size(domains); i++) {
        if (i)
            fputs(",\n", file.stream);
        write_domain(file.stream, json_array_get(domains, i));
    }
    fputs("\n  ]\n}\n", file.stream);
    return file_out_commit(&file, err);
}
