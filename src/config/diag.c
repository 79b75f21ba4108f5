#include "config/diag.h"

#include "base/err.h"
#include "base/plain.h"
#include "base/units.h"
#include "base/xmalloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
const struct diag_code_row diag_codes[DIAG_CODES] = {
    [DIAG_INVALID] = { "invalid", "No code was given: a fault of the program." },
    [DIAG_SYNTAX] = { "syntax", "A file or a text is not written in its language." },
    [DIAG_UNREADABLE] = { "unreadable", "A file cannot be read." },
    [DIAG_UNKNOWN_KEY] = { "unknown-key", "No table has the key." },
    [DIAG_RENAMED_KEY] = { "renamed-key", "The key has another name now." },
    [DIAG_REFUSED_KEY] = { "refused-key", "The key or option cannot be given here." },
    [DIAG_MISSING] = { "missing", "A required value is not given." },
    [DIAG_WRONG_TYPE] = { "wrong-type", "A value is not of the type of its key." },
    [DIAG_OUT_OF_RANGE] = { "out-of-range", "A number is beyond its bounds." },
    [DIAG_UNKNOWN_NAME] = { "unknown-name", "A name is none of those known." },
    [DIAG_UNKNOWN_FORMAT] = { "unknown-format", "A file is of no format that is read here." },
    [DIAG_CONTRADICTION] = { "contradiction", "Two values cannot both hold." },
    [DIAG_REQUIRES] = { "requires", "A value needs another, which is not given or not so." },
    [DIAG_NOT_DIVISIBLE] = { "not-divisible", "A number does not divide what it has to divide." },
    [DIAG_UNSUPPORTED] = { "unsupported", "A library, model, GPU or instance does not have it." },
    [DIAG_NO_DATA] = { "no-data", "A file holds nothing of what is wanted of it." },
    [DIAG_UNRESOLVED] = { "unresolved", "A script does not say a value, or only when run." },
    [DIAG_WITHOUT_EFFECT] = { "without-effect", "What is given changes nothing." },
    [DIAG_OVERRIDDEN] = { "overridden", "Another place gives the same, and goes first." },
    [DIAG_INFERRED] = { "inferred", "Documents leave a behaviour open, and one was chosen; "
                                    "the result is graded inferred." },
    [DIAG_ASSUMED] = { "assumed", "A value that is not given was assumed." },
    [DIAG_ASSUMED_LAUNCHER] = { "assumed-launcher", "How processes are started was assumed." },
    [DIAG_NEAREST_VERSION] = { "nearest-version", "A release is not known: a near one is taken." },
    [DIAG_UNKNOWN_VERSION] = { "unknown-version", "A version was never published, or is new." },
    [DIAG_UNSURE] = { "unsure", "A job would start with it, but hardly as meant." },
    [DIAG_SDK_RULE] = { "sdk-rule", "A rule of SageMaker's SDK refuses a value or changes its meaning." },
    [DIAG_SMP_RULE] = { "smp-rule", "A rule of the SMP library refuses a value or changes its meaning." },
    [DIAG_LIBRARY_RULE] = { "library-rule", "A library does not do for this job what it does "
                                            "for others." },
    [DIAG_NOT_SIMULATED] = { "not-simulated", "What is given is known, and not simulated." },
    [DIAG_APPROXIMATE] = { "approximate", "A part of the system is simplified." },
    [DIAG_STALE_GRADIENTS] = { "stale-gradients", "Workers update parameters asynchronously." },
    [DIAG_NO_PRICE] = { "no-price", "The price of an instance is not known." },
    [DIAG_PRICE_DATES] = { "price-dates", "Prices are not of one date." },
    [DIAG_UNMEASURED] = { "unmeasured", "No measurements back the range." },
    [DIAG_STORAGE_FULL] = { "storage-full", "Data exceed the volume that holds them." },
    [DIAG_INPUT_BOUND] = { "input-bound", "Loading of samples bounds the step." },
    [DIAG_STOPPED] = { "stopped", "The job exceeds its time limit." },
    [DIAG_LEFT_OUT] = { "left-out", "A part of the input is not used." },
    [DIAG_IMPORTED] = { "imported", "An imported file lacks values, which come from elsewhere." },
    [DIAG_FAILED] = { "failed", "What was read is right, and the command failed." },
    [DIAG_FAULT] = { "fault", "A fault of smsim, not of what it was given." },
};
/* clang-format on */

const char *const diag_severity_names[] = { "error", "warning", "note" };

void diags_init(struct diags *d)
{
    *d = (struct diags) { 0 };
    arena_init(&d->arena);
}

void diags_release(struct diags *d)
{
    free(d->v);
    arena_release(&d->arena);
    diags_init(d);
}

/* Collecting */

/* One line, whatever the user's names hold: control characters become '?'. */
static const char *plain(struct arena *arena, const char *text)
{
    if (!text)
        return NULL;
    char *copy = arena_strdup(arena, text);
    plain_make(copy);
    return copy;
}

/* Where the mend of a format begins, " (mend)" at its end; its length without one. */
static size_t find_mend(const char *fmt)
{
    size_t n = strlen(fmt), i = n;
    int open = 0;
    if (n == 0 || fmt[n - 1] != ')')
        return n;
    do {
        i--;
        open += fmt[i] == ')' ? 1 : fmt[i] == '(' ? -1 : 0;
    } while (i > 0 && open > 0);
    return i > 1 && open == 0 && fmt[i - 1] == ' ' ? i - 1 : n;
}

static char *vprint(struct arena *arena, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

static char *vprint(struct arena *arena, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = arena_alloc(arena, (size_t)n + 1, 1);
    vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    plain_make(s);
    return s;
}

static size_t vlength(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0)));

static size_t vlength(const char *fmt, va_list ap)
{
    return (size_t)vsnprintf(NULL, 0, fmt, ap);
}

/* The text's first n bytes are what, and the mend is in parentheses after them. */
static void split(struct diag *to, char *s, size_t n)
{
    s[n] = '\0';
    s[strlen(s + n + 1) + n] = '\0';
    to->mend = s + n + strlen(" (");
}

/* Text and mend, separate in the format: what a user wrote may have parentheses. A
 * format of "%s" is a message that was made elsewhere, and has its own parts. */
static void set_text(struct arena *arena, struct diag *to, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

static void set_text(struct arena *arena, struct diag *to, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    char *s = vprint(arena, fmt, ap);
    bool made = strcmp(fmt, "%s") == 0;
    size_t at = find_mend(made ? s : fmt);
    to->text = s;
    if (made && s[at]) {
        split(to, s, at);
    } else if (!made && fmt[at]) {
        const char *what = arena_strndup(arena, fmt, at);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        split(to, s, vlength(what, again));
#pragma GCC diagnostic pop
    }
    va_end(again);
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_same(const struct diag *a, const struct diag *b)
{
    return a->severity == b->severity && a->code == b->code && a->line == b->line &&
           a->cell == b->cell && a->column == b->column &&
           same_text(a->file, b->file) && same_text(a->set, b->set) &&
           same_text(a->pointer, b->pointer) && same_text(a->text, b->text) &&
           same_text(a->mend, b->mend);
}

static bool is_known(const struct diags *d, const struct diag *one)
{
    for (int64_t i = 0; i < d->n; i++)
        if (is_same(&d->v[i], one))
            return true;
    return false;
}

struct diag diag_vmake(struct arena *arena, struct diag where, const char *fmt,
                       va_list ap)
{
    where.file = plain(arena, where.file);
    where.set = plain(arena, where.set);
    where.pointer = plain(arena, where.pointer);
    set_text(arena, &where, fmt, ap);
    return where;
}

static struct diag make(struct arena *arena, struct diag where, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static struct diag make(struct arena *arena, struct diag where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    where = diag_vmake(arena, where, fmt, ap);
    va_end(ap);
    return where;
}

struct diag diag_made(struct arena *arena, struct diag where, const char *message)
{
    return make(arena, where, "%s", message);
}

void diags_vadd(struct diags *d, struct diag where, const char *fmt, va_list ap)
{
    if (where.severity == DIAG_ERROR && d->n_errors++ >= DIAG_MAX)
        return;
    where = diag_vmake(&d->arena, where, fmt, ap);
    if (where.severity != DIAG_ERROR && is_known(d, &where))
        return;
    d->n_warnings += where.severity == DIAG_WARNING;
    if (d->n == d->cap) {
        d->cap = d->cap ? 2 * d->cap : 8;
        d->v = xrealloc(d->v, (size_t)d->cap, sizeof(*d->v));
    }
    d->v[d->n++] = where;
}

void diags_add(struct diags *d, struct diag where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diags_vadd(d, where, fmt, ap);
    va_end(ap);
}

void diags_error(struct diags *d, enum diag_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diags_vadd(d, (struct diag) { .severity = DIAG_ERROR, .code = code }, fmt, ap);
    va_end(ap);
}

void diags_warn(struct diags *d, enum diag_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diags_vadd(d, (struct diag) { .severity = DIAG_WARNING, .code = code }, fmt, ap);
    va_end(ap);
}

void diags_unreadable(struct diags *d, const char *file, const struct err *err)
{
    bool named = err->begin > 0;
    const struct diag where = { .code = DIAG_UNREADABLE, .file = named ? file : NULL };
    diags_add(d, where, "%s", err->text + err->begin);
}

struct diag diag_at_line(enum diag_severity severity, enum diag_code code,
                         const char *file, int64_t line)
{
    return (
        struct diag) { .severity = severity, .code = code, .file = file, .line = line };
}

void diags_count_error(struct diags *d)
{
    d->n_errors++;
}

bool diags_are_full(const struct diags *d)
{
    return d->n_errors >= DIAG_MAX;
}

const struct diag *diags_get(const struct diags *d, enum diag_severity severity,
                             int64_t i)
{
    for (int64_t k = 0; k < d->n; k++)
        if (d->v[k].severity == severity && i-- == 0)
            return &d->v[k];
    return NULL;
}

/* Printing */

static void write_origin(struct strbuf *out, const struct diag *d)
{
    if (d->set) {
        strbuf_printf(out, "--set %s: ", d->set);
        return;
    }
    if (!d->file)
        return;
    strbuf_addstr(out, d->file);
    if (d->cell)
        strbuf_printf(out, ": cell %" PRId64 ", line %" PRId64, d->cell, d->line);
    else if (d->line)
        strbuf_printf(out, ":%" PRId64, d->line);
    if (d->line && d->column && !d->cell)
        strbuf_printf(out, ":%" PRId64, d->column);
    strbuf_addstr(out, ": ");
}

void diag_write(struct strbuf *out, const struct diag *d)
{
    bool is_note = d->severity == DIAG_NOTE;
    if (!is_note)
        write_origin(out, d);
    if (d->pointer && d->pointer[0] &&
        (is_note || !d->set || strcmp(d->set, d->pointer) != 0))
        strbuf_printf(out, "%s: ", d->pointer);
    strbuf_addstr(out, d->text);
    if (d->mend)
        strbuf_printf(out, " (%s)", d->mend);
}

const char *diag_text(struct arena *arena, const struct diag *d)
{
    struct strbuf b;
    strbuf_init(&b);
    diag_write(&b, d);
    const char *text = arena_strndup(arena, strbuf_get(&b), b.len);
    strbuf_release(&b);
    return text;
}

static const char *text_of(struct diags *d, enum diag_severity severity, int64_t i)
{
    const struct diag *one = diags_get(d, severity, i);
    return one ? diag_text(&d->arena, one) : "";
}

const char *diags_error_text(struct diags *d, int64_t i)
{
    return text_of(d, DIAG_ERROR, i);
}

const char *diags_warning_text(struct diags *d, int64_t i)
{
    return text_of(d, DIAG_WARNING, i);
}

void diags_print_errors(const struct diags *d, FILE *out)
{
    struct strbuf b;
    strbuf_init(&b);
    for (int64_t i = 0; i < d->n; i++) {
        if (d->v[i].severity != DIAG_ERROR)
            continue;
        diag_write(&b, &d->v[i]);
        strbuf_addch(&b, '\n');
    }
    fputs(strbuf_get(&b), out);
    strbuf_release(&b);
    if (d->n_errors > DIAG_MAX)
        fprintf(out, "and %" PRId64 " more error%s\n", d->n_errors - DIAG_MAX,
                units_plural(d->n_errors - DIAG_MAX));
}
