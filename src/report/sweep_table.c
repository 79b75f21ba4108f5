#include "report/sweep_table.h"

#include "base/file.h"
#include "base/xmalloc.h"
#include "config/contract.h"
#include "config/csv.h"
#include "report/report.h"
#include "sweep/sweep_point.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DUMP = JSON_COMPACT | JSON_REAL_PRECISION(12) };

/* CSV */

/* What follows an opening quote, and the closing one. */
static void put_quoted(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

/* A cell (RFC 4180): quoted where it holds a comma, a quote or the end of a line. One
 * that a spreadsheet would run as a formula gets an apostrophe before it, which our
 * reader takes off again. */
static void put_cell(FILE *out, const char *text)
{
    if (csv_is_formula(text)) {
        fprintf(out, "\"'");
        put_quoted(out, text);
        return;
    }
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    put_quoted(out, text);
}

static void put_value(FILE *out, const json_t *v)
{
    fputc(',', out);
    if (!v || json_is_null(v))
        return;
    if (json_is_string(v)) {
        put_cell(out, json_string_value(v));
        return;
    }
    char *text = json_dumps(v, DUMP | JSON_ENCODE_ANY);
    put_cell(out, text ? text : "");
    free(text);
}

const char *report_sweep_label(const struct sweep_field *f, const json_t *v)
{
    for (size_t i = 0; f->labels && i < json_array_size(f->values); i++)
        if (json_equal(json_array_get(f->values, i), v))
            return f->labels[i];
    return NULL;
}

/* The value of an axis; one that is an object or an array goes by its label. */
static void put_axis(FILE *out, const struct sweep_field *f, const json_t *v)
{
    bool composed = json_is_object(v) || json_is_array(v);
    const char *label = composed ? report_sweep_label(f, v) : NULL;
    if (!label) {
        put_value(out, v);
        return;
    }
    fputc(',', out);
    put_cell(out, label);
}

static void put_header(FILE *out, const struct sweep *s)
{
    fputs("point", out);
    for (int32_t i = 0; i < s->n_fields; i++) {
        fputc(',', out);
        put_cell(out, s->fields[i].path);
    }
    for (int64_t i = 0; i < s->outputs.n; i++) {
        fputc(',', out);
        put_cell(out, s->outputs.v[i]);
    }
    fputs(",error\n", out);
}

static void put_row(FILE *out, const struct sweep *s, int64_t point, json_t *record)
{
    json_t *axes = json_object_get(record, "axes");
    json_t *results = json_object_get(record, "results");
    fprintf(out, "%" PRId64, point);
    for (int32_t i = 0; i < s->n_fields; i++)
        put_axis(out, &s->fields[i], json_object_get(axes, s->fields[i].path));
    for (int64_t i = 0; i < s->outputs.n; i++)
        put_value(out, json_object_get(results, s->outputs.v[i]));
    put_value(out, json_object_get(record, "error"));
    fputc('\n', out);
}

/* Summary */

static void add_warning(struct sweep_summary *sum, json_t *one)
{
    size_t i;
    json_t *known;
    json_array_foreach(sum->warnings, i, known) if (json_equal(known, one)) return;
    json_array_append(sum->warnings, one);
}

static void count(struct sweep_summary *sum, int64_t point, json_t *record)
{
    const char *error = json_string_value(json_object_get(record, "error"));
    json_t *results = json_object_get(record, "results");
    size_t i;
    json_t *text;
    sum->n_written++;
    sum->n_unfit += json_is_false(sweep_result_get(results, "/memory/fits"));
    json_array_foreach(json_object_get(record, "warnings"), i, text)
        add_warning(sum, text);
    if (!error)
        return;
    if (!sum->n_failed++) {
        sum->first_failed = point;
        sum->first_error = xstrdup(error);
    }
}

void sweep_summary_release(struct sweep_summary *sum)
{
    free(sum->first_error);
    json_decref(sum->warnings);
    *sum = (struct sweep_summary) { 0 };
}

static const char *skip_number(const char *s)
{
    return s + strspn(s, "0123456789.");
}

/* Whether two texts differ in their numbers alone. */
static bool are_alike(const char *a, const char *b)
{
    for (; *a || *b; a++, b++) {
        a = skip_number(a);
        b = skip_number(b);
        if (*a != *b)
            return false;
        if (!*a)
            return true;
    }
    return true;
}

static const char *text_of(const json_t *warnings, size_t i)
{
    const json_t *one = json_array_get(warnings, i);
    return json_string_value(json_object_get(one, "text"));
}

/* The i-th warning, and how many more are like it; nothing where one before it is. All
 * are in points.jsonl. */
static void print_warning(FILE *out, const json_t *warnings, size_t i)
{
    size_t more = 0;
    for (size_t k = 0; k < json_array_size(warnings); k++) {
        if (k == i || !are_alike(text_of(warnings, k), text_of(warnings, i)))
            continue;
        if (k < i)
            return;
        more++;
    }
    struct diag d = diag_read_json(json_array_get(warnings, i));
    report_diag(out, "warning: ", &d);
    if (more)
        fprintf(out, "    (%zu more with other numbers: points.jsonl)\n", more);
}

void report_sweep_text(FILE *out, const struct sweep *s,
                       const struct sweep_summary *sum)
{
    fprintf(out, "%" PRId64 " points", s->n_points);
    if (sum->n_excluded)
        fprintf(out, ", %" PRId64 " excluded by \"where\"", sum->n_excluded);
    if (sum->n_left_out)
        fprintf(out, ", %" PRId64 " left out once simulated", sum->n_left_out);
    fprintf(out, "; %" PRId64 " written", sum->n_written);
    if (sum->n_unfit)
        fprintf(out, ", of which %" PRId64 " do not fit in memory", sum->n_unfit);
    fputc('\n', out);
    if (sum->n_failed) {
        char *line = xasprintf("%" PRId64 " failed; first point %" PRId64 ": %s",
                               sum->n_failed, sum->first_failed, sum->first_error);
        report_wrap(out, "", "    ", line);
        free(line);
    }
    for (size_t i = 0; i < json_array_size(sum->warnings); i++)
        print_warning(out, sum->warnings, i);
}

/* Both files */

static void put_line(FILE *out, json_t *record)
{
    json_t *line = json_pack("{s:s}", "schema", sweep_point_contract.urn);
    json_object_update(line, record);
    json_dumpf(line, out, DUMP);
    json_decref(line);
}

static int write_points(const struct sweep *s, const struct sweep_journal *j,
                        FILE *const out[2], struct sweep_summary *sum,
                        sweep_record_fn *each, void *arg, struct err *err)
{
    put_header(out[1], s);
    for (int64_t i = 0; i < s->n_points; i++) {
        if (!sweep_wheres_axes(&s->wheres, s, i)) {
            sum->n_excluded++;
            continue;
        }
        json_t *record = sweep_journal_get(j, i, err);
        if (!record)
            return err_set(err, "point %" PRId64 " is missing", i);
        if (json_object_get(record, "left_out")) {
            sum->n_left_out++;
        } else {
            put_line(out[0], record);
            fputc('\n', out[0]);
            put_row(out[1], s, i, record);
            count(sum, i, record);
            each(arg, i, record);
        }
        json_decref(record);
    }
    return 0;
}

int report_sweep_write(const struct sweep *s, const struct sweep_journal *j,
                       struct sweep_summary *sum, sweep_record_fn *each, void *arg,
                       struct err *err)
{
    static const char *const names[] = { "points.jsonl", "points.csv" };
    struct file_out out[2] = { { 0 } };
    FILE *streams[2];
    int rc = 0;
    *sum = (struct sweep_summary) { .warnings = json_array() };
    for (int i = 0; i < 2 && rc == 0; i++) {
        char *path = xasprintf("%s/%s", j->dir, names[i]);
        rc = file_out_open(&out[i], path, err);
        streams[i] = out[i].stream;
        free(path);
    }
    if (rc == 0)
        rc = write_points(s, j, streams, sum, each, arg, err);
    for (int i = 0; i < 2; i++)
        if (rc == 0)
            rc = file_out_commit(&out[i], err);
        else
            file_out_abandon(&out[i]);
    return rc;
}
