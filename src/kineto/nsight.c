#include "kineto/nsight.h"

#include "base/late.h"
#include "base/strbuf.h"
#include "kineto/gather.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* clang-format off */
#define FUNCTIONS(F)                                                                 \
    F(bind_text) F(close) F(column_int64) F(column_text) F(column_type) F(db_config) \
    F(errmsg) F(exec) F(finalize) F(limit) F(open_v2) F(prepare_v2)                  \
    F(progress_handler) F(step) F(table_column_metadata)
/* clang-format on */
#define MEMBER(name) LATE_MEMBER(sqlite3_##name, name)
#define PLACE(name) LATE_PLACE(sqlite3_##name, &sqlite.name)

static struct {
    FUNCTIONS(MEMBER)
} sqlite; /* written once, by late_load() */

static const struct late_function functions[] = { FUNCTIONS(PLACE) };
static struct late_library library = LATE_LIBRARY(SMSIM_SQLITE, functions);

enum { TEXT_MAX_B = 1 << 24, VARIABLES = 8, TICK = 1 << 16, STEPS_A_ROW = 256 };

/* A table, by columns of which the first that it has is used; the others are NULL. */
enum column {
    COLUMN_START,
    COLUMN_END,
    COLUMN_PROCESS, /* its id, or a thread's, of which it is the upper part */
    COLUMN_NAME,    /* of StringIds */
    COLUMN_TEXT,    /* where there is no name */
    COLUMN_CORRELATION,
    COLUMN_DEVICE,
    COLUMN_STREAM,
    COLUMNS
};

struct table {
    const char *name, *category;
    const char *otherwise; /* the name of rows without one */
    const char *columns[COLUMNS][2];
};

/* The columns of what runs on a stream of a GPU, by where its name is. */
#define ON_STREAM(...)                                                      \
    {                                                                       \
        { "start" }, { "end" }, { "globalPid" }, { __VA_ARGS__ }, { NULL }, \
            { "correlationId" }, { "deviceId" },                            \
        {                                                                   \
            "streamId"                                                      \
        }                                                                   \
    }

static const struct table tables[] = {
    { "CUPTI_ACTIVITY_KIND_KERNEL", "kernel", "kernel",
      ON_STREAM("demangledName", "shortName") },
    { "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "kernel", "CUDA graph", ON_STREAM(NULL) },
    { "CUPTI_ACTIVITY_KIND_MEMCPY", "gpu_memcpy", "Memcpy", ON_STREAM(NULL) },
    { "CUPTI_ACTIVITY_KIND_MEMSET", "gpu_memset", "Memset", ON_STREAM(NULL) },
    { "CUPTI_ACTIVITY_KIND_RUNTIME",
      "cuda_runtime",
      "",
      { { "start" },
        { "end" },
        { "globalTid" },
        { "nameId" },
        { NULL },
        { "correlationId" },
        { NULL },
        { NULL } } },
    { "NVTX_EVENTS",
      "user_annotation",
      "",
      { { "start" },
        { "end" },
        { "globalTid" },
        { "textId" },
        { "text" },
        { NULL },
        { NULL },
        { NULL } } },
};

enum { N_TABLES = sizeof(tables) / sizeof(tables[0]), GPU_TABLES = 4 };

struct process {
    int64_t id, kernels;
};

struct nsight {
    sqlite3 *db;
    const char *file;
    int64_t rows_max; /* of a table: the file has no place for more */
    int64_t ticks;    /* left to the table at hand, of TICK steps of SQLite's program */
    bool has_process; /* of the table at hand */
    struct process processes[NSIGHT_PROCESSES_MAX];
    int32_t n_processes;
    struct err *err;
};

bool nsight_is(const char *begin, size_t n)
{
    return n >= NSIGHT_MAGIC && memcmp(begin, "SQLite format 3", NSIGHT_MAGIC) == 0;
}

bool nsight_is_file(const char *file)
{
    struct stat st;
    char begin[NSIGHT_MAGIC];
    FILE *in = stat(file, &st) == 0 && S_ISREG(st.st_mode) ? fopen(file, "rb") : NULL;
    size_t n = in ? fread(begin, 1, sizeof(begin), in) : 0;
    if (in)
        fclose(in);
    return nsight_is(begin, n);
}

/* The file ------------------------------------------------------------------------- */

/* sqlite's words, without control characters: names of the file's schema are in them. */
static int fail(const struct nsight *s)
{
    char why[128];
    gather_keep(why, sizeof(why), sqlite.errmsg(s->db));
    return err_set(s->err, "%s: cannot be read as an export of Nsight Systems: %s",
                   s->file, why);
}

/* A name as SQLite's URI; immutable: no lock is taken, and no other file is read. */
static void uri_of(struct strbuf *out, const char *file)
{
    strbuf_addstr(out, "file:");
    if (file[0] != '/')
        strbuf_addstr(out, "./");
    for (; *file; file++)
        if (isalnum((unsigned char)*file) || strchr("/._-", *file))
            strbuf_addch(out, *file);
        else
            strbuf_printf(out, "%%%02x", (unsigned)(unsigned char)*file);
    strbuf_addstr(out, "?immutable=1");
}

/* Options by which a hostile schema cannot act, and memory is bounded. */
static void restrain(sqlite3 *db)
{
    static const char bounds[] = "PRAGMA cache_size=-32768; PRAGMA mmap_size=0;"
                                 "PRAGMA trusted_schema=0; PRAGMA query_only=1;"
                                 "PRAGMA cell_size_check=1";
    static const int off[] = { SQLITE_DBCONFIG_ENABLE_TRIGGER,
                               SQLITE_DBCONFIG_ENABLE_VIEW,
                               SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
                               SQLITE_DBCONFIG_TRUSTED_SCHEMA };
    for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
        sqlite.db_config(db, off[i], 0, NULL);
    sqlite.db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite.limit(db, SQLITE_LIMIT_LENGTH, TEXT_MAX_B);
    sqlite.limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, VARIABLES);
    sqlite.exec(db, bounds, NULL, NULL, NULL);
}

/* Stops a query that does not end in time: one that looks names up without a key. */
static int tick(void *arg)
{
    struct nsight *s = arg;
    return s->ticks-- <= 0;
}

static int open_file(struct nsight *s)
{
    struct strbuf uri;
    struct stat st;
    if (stat(s->file, &st) || !S_ISREG(st.st_mode))
        return err_set(s->err, "%s: is no file", s->file);
    s->rows_max = 1 + st.st_size / 4;
    strbuf_init(&uri);
    uri_of(&uri, s->file);
    int rc = sqlite.open_v2(
        strbuf_get(&uri), &s->db,
        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    strbuf_release(&uri);
    if (rc != SQLITE_OK)
        return fail(s);
    restrain(s->db);
    sqlite.progress_handler(s->db, TICK, tick, s);
    s->ticks = STEPS_A_ROW;
    return 0;
}

/* Columns -------------------------------------------------------------------------- */

/* Whether the file has a table: no view of that name, no module's table, and none whose
 * columns are computed. */
static bool has_table(const struct nsight *s, const char *name)
{
    sqlite3_stmt *q = NULL;
    bool has = false;
    static const char sql[] =
        "SELECT 1 FROM sqlite_master WHERE type='table' AND "
        "name=?1 AND sql NOT LIKE 'CREATE VIRTUAL%' AND NOT EXISTS "
        "(SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden > 1)";
    if (sqlite.prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK) {
        sqlite.bind_text(q, 1, name, -1, SQLITE_STATIC);
        has = sqlite.step(q) == SQLITE_ROW;
    }
    sqlite.finalize(q);
    return has;
}

static bool has_column(const struct nsight *s, const char *table, const char *column)
{
    return column && sqlite.table_column_metadata(s->db, NULL, table, column, NULL,
                                                  NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* The column of a table that is used; NULL: it has none. */
static const char *column_of(const struct nsight *s, const struct table *t, int c)
{
    for (int i = 0; i < 2; i++)
        if (has_column(s, t->name, t->columns[c][i]))
            return t->columns[c][i];
    return NULL;
}

/* Names are joined by the key of StringIds. */
static void add_column(struct strbuf *sql, const struct nsight *s,
                       const struct table *t, int c, bool strings)
{
    const char *column = column_of(s, t, c);
    strbuf_addstr(sql, c ? ", " : "SELECT ");
    if (!column || (c == COLUMN_NAME && !strings))
        strbuf_addstr(sql, "NULL");
    else if (c == COLUMN_NAME)
        strbuf_printf(sql, "(SELECT value FROM StringIds WHERE id = t.\"%s\")", column);
    else
        strbuf_printf(sql, "t.\"%s\"", column);
}

static int prepare(const struct nsight *s, const struct table *t, sqlite3_stmt **q)
{
    struct strbuf sql;
    strbuf_init(&sql);
    bool strings = has_table(s, "StringIds") && has_column(s, "StringIds", "value") &&
                   has_column(s, "StringIds", "id");
    for (int c = 0; c < COLUMNS; c++)
        add_column(&sql, s, t, c, strings);
    strbuf_printf(&sql, " FROM \"%s\" AS t", t->name);
    int rc = sqlite.prepare_v2(s->db, strbuf_get(&sql), -1, q, NULL);
    strbuf_release(&sql);
    return rc == SQLITE_OK ? 0 : fail(s);
}

/* Rows ----------------------------------------------------------------------------- */

static int64_t number_of(sqlite3_stmt *q, int c, int64_t otherwise)
{
    return sqlite.column_type(q, c) == SQLITE_INTEGER ? sqlite.column_int64(q, c)
                                                      : otherwise;
}

/* A thread's id is its process's in all but the lower 24 bits. */
static int64_t process_of(sqlite3_stmt *q)
{
    int64_t id = number_of(q, COLUMN_PROCESS, 0);
    return id & ~INT64_C(0xffffff);
}

/* Until 2021 no column was NULL: a text that is not there is empty. */
static void name_event(struct gather_event *e, sqlite3_stmt *q, const char *otherwise)
{
    const char *text = NULL;
    static const int columns[] = { COLUMN_TEXT, COLUMN_NAME };
    for (int i = 0; i < 2 && (!text || !*text); i++)
        if (sqlite.column_type(q, columns[i]) == SQLITE_TEXT)
            text = (const char *)sqlite.column_text(q, columns[i]);
    gather_keep(e->name, sizeof(e->name), text && *text ? text : otherwise);
    e->name_length = strlen(e->name);
}

/* A row's event; false: its times are none. */
static bool take_row(struct gather *g, const struct table *t, sqlite3_stmt *q)
{
    static const int64_t latest_ns = INT64_C(4000000000000000000);
    struct gather_event *e = &g->event;
    int64_t start = number_of(q, COLUMN_START, -1), end = number_of(q, COLUMN_END, -1);
    if (start < 0 || end < start || end > latest_ns)
        return false;
    gather_event_begin(e);
    e->phase = 'X';
    strcpy(e->category, t->category);
    e->ts = start;
    e->length = end - start;
    e->has_ts = e->has_length = true;
    e->thread = number_of(q, COLUMN_PROCESS, 0);
    e->correlation = number_of(q, COLUMN_CORRELATION, -1);
    e->device = number_of(q, COLUMN_DEVICE, 0);
    e->stream = number_of(q, COLUMN_STREAM, 0);
    name_event(e, q, t->otherwise);
    gather_event_end(g);
    return true;
}

/* Calls with each row of a table that the file has; -1: it is broken. */
static int each_row(struct nsight *s, const struct table *t,
                    void (*row)(struct nsight *, const struct table *, sqlite3_stmt *,
                                void *),
                    void *arg)
{
    sqlite3_stmt *q = NULL;
    int64_t n = 0;
    int rc;
    if (!has_table(s, t->name))
        return 0;
    if (prepare(s, t, &q))
        return -1;
    s->has_process = column_of(s, t, COLUMN_PROCESS) != NULL;
    s->ticks = 1 + STEPS_A_ROW * s->rows_max / TICK;
    while ((rc = sqlite.step(q)) == SQLITE_ROW && n++ < s->rows_max)
        row(s, t, q, arg);
    int result = 0;
    if (rc == SQLITE_ROW)
        result = err_set(s->err, "%s: %s has more rows than the file has room for",
                         s->file, t->name);
    else if (rc == SQLITE_INTERRUPT)
        result = err_set(s->err, "%s: %s takes too long to read: StringIds has no key",
                         s->file, t->name);
    else if (rc != SQLITE_DONE)
        result = fail(s);
    sqlite.finalize(q);
    s->ticks = STEPS_A_ROW;
    return result;
}

/* Processes ------------------------------------------------------------------------ */

static void count_process(struct nsight *s, const struct table *t, sqlite3_stmt *q,
                          void *arg)
{
    (void)t;
    (void)arg;
    int64_t id = process_of(q);
    int32_t i = 0;
    while (i < s->n_processes && s->processes[i].id != id)
        i++;
    if (i == NSIGHT_PROCESSES_MAX)
        return;
    if (i == s->n_processes)
        s->processes[s->n_processes++] = (struct process) { .id = id };
    s->processes[i].kernels++;
}

static int by_id(const void *a, const void *b)
{
    const struct process *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

struct taking {
    struct gather g;
    int64_t process;
};

static void take_of_process(struct nsight *s, const struct table *t, sqlite3_stmt *q,
                            void *arg)
{
    struct taking *k = arg;
    if (!s->has_process || process_of(q) == k->process)
        k->g.n_left_out += !take_row(&k->g, t, q) && t < &tables[GPU_TABLES];
}

/* The name of the first GPU: those of a node are alike. */
static void name_gpu(const struct nsight *s, struct gather *g)
{
    static const char *const of[][2] = {
        { "TARGET_INFO_GPU", "SELECT name FROM TARGET_INFO_GPU LIMIT 1" },
        { "TARGET_INFO_CUDA_GPU", /* until early 2021 */
          "SELECT name FROM TARGET_INFO_CUDA_GPU LIMIT 1" },
    };
    for (int i = 0; i < 2 && !g->device[0]; i++) {
        sqlite3_stmt *q = NULL;
        if (has_table(s, of[i][0]) &&
            sqlite.prepare_v2(s->db, of[i][1], -1, &q, NULL) == SQLITE_OK &&
            sqlite.step(q) == SQLITE_ROW && sqlite.column_type(q, 0) == SQLITE_TEXT)
            gather_keep(g->device, sizeof(g->device),
                        (const char *)sqlite.column_text(q, 0));
        sqlite.finalize(q);
    }
}

static int read_process(struct nsight *s, int32_t i, nsight_take take, void *arg)
{
    struct taking *k = xmalloc(sizeof(*k));
    struct kineto_rank r;
    int rc = 0;
    gather_init(&k->g);
    k->process = s->processes[i].id;
    k->g.rank = s->n_processes > 1 ? i : -1;
    for (int t = 0; t < N_TABLES && rc == 0; t++)
        rc = each_row(s, &tables[t], take_of_process, k);
    if (rc == 0) {
        name_gpu(s, &k->g);
        kineto_sum_up(&k->g, &r);
        r.whole = true;
        take(arg, &r);
    }
    gather_release(&k->g);
    free(k);
    return rc;
}

static int read_all(struct nsight *s, nsight_take take, void *arg)
{
    if (sqlite.exec(s->db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL))
        return fail(s);
    if (!has_table(s, tables[0].name) && !has_table(s, tables[1].name))
        return err_set(s->err,
                       "%s: a database without the table %s: profile with "
                       "--trace=cuda,nvtx, and export with nsys export --type sqlite",
                       s->file, tables[0].name);
    for (int t = 0; t < 2; t++)
        if (each_row(s, &tables[t], count_process, NULL))
            return -1;
    qsort(s->processes, (size_t)s->n_processes, sizeof(s->processes[0]), by_id);
    if (s->n_processes == 0)
        return err_set(s->err, "%s: no kernel of a GPU is in it", s->file);
    for (int32_t i = 0; i < s->n_processes; i++)
        if (read_process(s, i, take, arg))
            return -1;
    return 0;
}

int nsight_read(const char *file, nsight_take take, void *arg, struct err *err)
{
    struct nsight s = { .file = file, .err = err };
    const char *missing = late_load(&library);
    if (missing)
        return err_set(err, "%s: a database needs sqlite3: %s", file, missing);
    int rc = open_file(&s);
    if (rc == 0)
        rc = read_all(&s, take, arg);
    sqlite.close(s.db);
    return rc;
}
