#include "logs/logs.h"

#include "logs/kinds.h"
#include "logs/stream.h"
#include "logs/text.h"

#include <math.h>
#include <string.h>

void logs_init(struct logs *l)
{
    memset(l, 0, sizeof(*l));
    l->stride = 1;
    l->open.format = -1;
    l->counted.step = -1;
    for (int i = 0; i < LOGS_FORMATS_MAX; i++)
        l->formats[i].rank = l->formats[i].last_step = -1;
}

void logs_release(struct logs *l)
{
    VEC_RELEASE(&l->files);
    VEC_RELEASE(&l->records);
    logs_smi_release(&l->smi);
    for (int64_t i = 0; i < l->traces.n; i++)
        kineto_rank_release(&l->traces.v[i]);
    VEC_RELEASE(&l->traces);
    kineto_free(l->trace);
    l->trace = NULL;
}

/* The other half of the records is dropped, and of those to come. */
static void thin(struct logs *l)
{
    int64_t n = 0;
    for (int64_t i = 0; i < l->records.n; i += 2)
        l->records.v[n++] = l->records.v[i];
    l->records.n = n;
    l->stride *= 2;
}

/* Ranks say the same steps: the first that was seen is kept; where lines do not say
 * their rank, a step that was just said. */
static bool is_repeated(struct logs_format_use *use, const struct logs_record *r,
                        int64_t rank)
{
    if (use->n_records == 0)
        use->rank = rank;
    bool other = rank >= 0 && use->rank >= 0 && rank != use->rank;
    bool same = r->step >= 0 && r->step == use->last_step;
    if (!other)
        use->last_step = r->step;
    return other || same;
}

void logs_add(struct logs *l, struct logs_record *record, int64_t rank)
{
    bool is_any = record->format >= 0 &&
                  (isfinite(record->time_s) || record->rate_of != LOGS_NO_RATE);
    if (!is_any)
        return;
    struct logs_format_use *use = &l->formats[record->format];
    if (is_repeated(use, record, rank)) {
        use->n_ranks_left++;
        return;
    }
    record->file = (int32_t)(l->files.n - 1);
    record->line = l->files.v[l->files.n - 1].n_lines;
    record->events = l->events;
    l->events = 0;
    if (use->n_records++ == 0) {
        use->first_line = record->line;
        use->file = record->file;
    }
    if (l->n_seen++ % l->stride == 0) {
        if (l->records.n == LOGS_RECORDS_MAX)
            thin(l);
        VEC_PUSH(&l->records, *record);
    }
}

void logs_line(struct logs *l, char *text, size_t length)
{
    struct logs_file *file = &l->files.v[l->files.n - 1];
    file->n_lines++;
    if (line_clean(text, length) == 0)
        return;
    logs_variables_read(&l->variables, text);
    if (logs_nccl_read(&l->nccl, text))
        return;
    if (logs_timers_read(&l->timers, text)) {
        logs_read_format(l, text, line_rank(text));
        return;
    }
    l->events |=
        logs_notices_read(&l->notices, text, file->n_lines, (int32_t)(l->files.n - 1));
    logs_read_settings(l, text);
    logs_stated_read(&l->stated, text,
                     (struct logs_place) { file->n_lines, (int32_t)(l->files.n - 1) });
    l->trains = l->trains || logs_speaks_of_training(text);
    int64_t rank = line_rank(text);
    if (!logs_read_format(l, text, rank) && !logs_read_clocks(l, text, rank) &&
        !logs_read_progress(l, text, rank))
        if (!logs_dcgm_read(&l->smi, text))
            logs_smi_read(&l->smi, text);
}

void logs_end(struct logs *l)
{
    logs_add(l, &l->open, -1);
    l->open.format = -1;
    logs_dcgm_end(&l->smi);
    logs_clock_end(l);
}

static void take_line(void *arg, char *line, size_t length, bool cut)
{
    struct logs *l = arg;
    l->files.v[l->files.n - 1].n_long += cut;
    logs_line(l, line, length);
}

static void take_trace(void *arg, const char *bytes, size_t length)
{
    struct logs *l = arg;
    if (!l->trace) {
        l->trace = kineto_new();
        if (l->timeline)
            kineto_keep_timeline(l->trace);
    }
    kineto_feed(l->trace, bytes, length);
}

/* The steps of a trace are records, as if a trainer had written them. */
static void add_trace(void *arg, struct kineto_rank *trace)
{
    struct logs *l = arg;
    const struct kineto_rank r = *trace;
    l->files.v[l->files.n - 1].n_events += r.n_events;
    for (int64_t i = 0; i < r.steps.n; i++) {
        struct logs_record record = logs_record_new(FORMAT_PROFILER);
        record.step = r.steps.v[i].number;
        record.time_s = r.steps.v[i].step_s;
        record.loading_s = r.steps.v[i].loading_s;
        logs_add(l, &record, r.rank);
    }
    VEC_PUSH(&l->traces, r);
}

static void end_trace(struct logs *l)
{
    struct kineto_rank r;
    kineto_end(l->trace, &r);
    kineto_free(l->trace);
    l->trace = NULL;
    add_trace(l, &r);
}

/* A database is read from place to place: not from a pipe, nor packed. */
static void take_packed(void *arg, const char *bytes, size_t length)
{
    struct logs *l = arg;
    (void)bytes;
    (void)length;
    l->packed = true;
}

int logs_read(struct logs *l, const char *file, struct err *err)
{
    static const struct stream_other others[] = { { kineto_is, take_trace },
                                                  { nsight_is, take_packed },
                                                  { NULL, NULL } };
    bool whole = true, database = nsight_is_file(file);
    VEC_PUSH(&l->files, ((struct logs_file) { .name = file }));
    memset(l->clocks, 0, sizeof(l->clocks));
    l->counted.step = -1;
    l->passes = (struct logs_passes) { 0 };
    l->smi.n_columns = 0;
    l->smi.entities = false;
    l->timers.listing = l->packed = false;
    if (database && nsight_read(file, add_trace, l, err))
        return -1;
    if (!database &&
        stream_lines(file, LOGS_LINE_MAX, take_line, others, l, &whole, err))
        return -1;
    if (l->packed)
        return err_set(
            err, "%s: an export of Nsight Systems is read as a file, unpacked", file);
    if (l->trace)
        end_trace(l);
    else
        logs_end(l);
    l->files.v[l->files.n - 1].is_cut = !whole;
    return 0;
}

bool logs_found(const struct logs *l)
{
    return l->records.n || l->nccl.n_lines || l->smi.n || l->timers.n ||
           l->allocated_B > 0 || l->reserved_B > 0 || l->traces.n;
}
