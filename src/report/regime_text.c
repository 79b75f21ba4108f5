/* Errors by regime: the table of `smsim validate`, and the shipped file. */
#include "base/file.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void report_regimes_text(FILE *out, const struct regime_line *lines, int32_t n,
                         const struct regime_coverage *c)
{
    fputs("\nTimes by regime, all sources together\n", out);
    fprintf(out, "%-16s %-23s %5s %6s %5s %8s %8s %7s\n", "GPU", "framework", "nodes",
            "tensor", "n", "mean |e|", "median", "bias");
    for (int32_t i = 0; i < n; i++) {
        const struct regime_line *l = &lines[i], *before = i ? l - 1 : NULL;
        bool same_gpu = before && strcmp(l->gpu, before->gpu) == 0;
        bool same = same_gpu && strcmp(l->framework, before->framework) == 0;
        fprintf(out,
                "%-16.16s %-23.23s %5" PRId64 " %6" PRId64 " %5" PRId64
                " %6.1f %% %6.1f %% %+5.1f %%\n",
                same_gpu ? "" : l->gpu, same ? "" : l->framework, l->nodes, l->tensor,
                l->stats.n, 100 * l->stats.mean_abs, 100 * l->stats.median_abs,
                100 * l->stats.bias);
    }
    if (c->n)
        fprintf(out,
                "%.0f %% of %" PRId64 " rows lie within the range stated of them, %.0f "
                "%% where their source is left out\n",
                100.0 * (double)c->within / (double)c->n, c->n,
                100.0 * (double)c->within_without / (double)c->n);
}

void report_held_out_text(FILE *out, const struct regime_coverage *c)
{
    if (c->n)
        fprintf(out,
                "Of %" PRId64
                " rows that no prediction was fitted to, %.0f %% lie within the "
                "range stated of them\n",
                c->n, 100.0 * (double)c->within / (double)c->n);
}

/* Members but "cells", then these, one a line. */
static void write_regime(FILE *out, json_t *regime)
{
    json_t *head = json_copy(regime), *cells = json_object_get(regime, "cells");
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

int report_regimes_write(json_t *tree, const char *path, struct err *err)
{
    struct file_out file;
    if (file_out_open(&file, path, err))
        return -1;
    fputs(
        "{\n"
        "  \"comment\": \"Errors of predicted step times by regime, of the tables in "
        "validate/data; made by `make regimes`. A cell: nodes, tensor, pipeline, log2 "
        "of a microbatch's tokens, log2 of parameters, rows, mean error, 10th and "
        "90th percentile, one of the rows\",\n  \"regimes\": [\n",
        file.stream);
    json_t *regimes = json_object_get(tree, "regimes");
    for (size_t i = 0; i < json_array_size(regimes); i++) {
        if (i)
            fputs(",\n", file.stream);
        write_regime(file.stream, json_array_get(regimes, i));
    }
    fputs("\n  ]\n}\n", file.stream);
    return file_out_commit(&file, err);
}
