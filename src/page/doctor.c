#include "page/doctor.h"

#include "page/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Words ------------------------------------------------------------------------------ */

static json_t *hypotheses_json(void)
{
    json_t *all = json_object();
    for (int32_t i = 0; i < n_hypotheses; i++)
        json_object_set_new(
            all, hypotheses[i].name,
            json_pack("{s:s, s:s, s:s}", "text", hypotheses[i].text, "check",
                      hypotheses[i].check ? hypotheses[i].check : "", "family",
                      names_of(doctor_family_names, (int)hypotheses[i].family)));
    return all;
}

static json_t *families_json(void)
{
    json_t *all = json_object();
    for (int i = 0; i < DOCTOR_FAMILIES; i++)
        json_object_set_new(all, names_of(doctor_family_names, i),
                            json_pack("{s:s, s:s}", "text", report_family_texts[i],
                                      "logs", report_family_logs[i]));
    return all;
}

/* Steps ------------------------------------------------------------------------------ */

struct records {
    json_t *rows;
    int64_t stretch, in_stretch; /* records a row is the longest of; seen of the last */
    double longest_s;
};

static void add_record(void *arg, const struct logs_record *r, double time_s,
                       enum logs_kind kind)
{
    struct records *x = arg;
    bool first = x->in_stretch == 0;
    if (++x->in_stretch == x->stretch)
        x->in_stretch = 0;
    if (!first && time_s <= x->longest_s)
        return;
    json_t *row = json_pack("[I, f, i]", (json_int_t)r->step, time_s, (int)kind);
    x->longest_s = time_s;
    if (first)
        json_array_append_new(x->rows, row);
    else
        json_array_set_new(x->rows, json_array_size(x->rows) - 1, row);
}

/* [step, time, kind] of each record that is used. */
static json_t *records_json(const struct doctor *d)
{
    const struct logs_step does = { d->healthy.samples, d->healthy.tokens,
                                    (double)d->healthy.gpus, d->healthy.passes };
    struct records x = { .rows = json_array(),
                         .stretch = d->steady.n / PAGE_RECORDS + 1 };
    json_t *kinds = json_array();
    for (int i = 0; i < LOGS_KINDS; i++)
        json_array_append_new(kinds, json_string(logs_kind_names[i]));
    logs_steady_visit(d->logs, &does, add_record, &x);
    return json_pack("{s:o, s:I, s:o}", "kinds", kinds, "longest_of",
                     (json_int_t)x.stretch, "rows", x.rows);
}

json_t *page_doctor(const struct report_doctor *r, json_t *result)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&text, &n);
    json_t *data = page_data("doctor", r->job, result);
    json_object_set_new(data, "hypotheses", hypotheses_json());
    json_object_set_new(data, "families", families_json());
    json_object_set_new(data, "records", records_json(r->d));
    if (!memory)
        return data;
    report_doctor_text(memory, r);
    fclose(memory);
    page_set_text(data, text);
    free(text);
    return data;
}
