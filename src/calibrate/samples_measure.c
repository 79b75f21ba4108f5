/* The output of smsim-measure: {"format": "smsim-measure", "version": 1, "devices":
 * [...], "rows": [{"kind": "gemm", ...}, ...]}. Rows that no fit takes are passed over:
 * a step's operators, which `validate --measured` reads. What else is left out is
 * warned of. */
#include "calibrate/samples.h"

#include <inttypes.h>
#include <string.h>

enum { VERSION = 1 };

static const double size_max = 1e15;

/* How the operands of a product lie: all are fitted alike. */
static const struct name_value layout_names[] = {
    { "TN", 0 }, { "NN", 1 }, { "NT", 2 }, { NULL, 0 }
};

static int get_size(struct cfg row, const char *key, int64_t *v)
{
    return cfg_int(cfg_get(row, key), v, 1, (int64_t)size_max);
}

static int get_dtype(struct cfg row, enum dtype *dtype)
{
    int v;
    if (cfg_enum(cfg_get(row, "dtype"), dtype_names, &v))
        return -1;
    *dtype = (enum dtype)v;
    return 0;
}

static int get_flag(struct cfg row, const char *key, bool *v)
{
    *v = false;
    return cfg_present(cfg_get(row, key)) ? cfg_bool(cfg_get(row, key), v) : 0;
}

static int read_gemm(struct samples *s, struct cfg row)
{
    struct sample_kernel k = { 0 };
    int layout;
    if (cfg_present(cfg_get(row, "layout")) &&
        cfg_enum(cfg_get(row, "layout"), layout_names, &layout))
        return -1;
    if (get_dtype(row, &k.dtype) || get_size(row, "m", &k.m) ||
        get_size(row, "n", &k.n) || get_size(row, "k", &k.k) ||
        get_size(row, "batch", &k.batch) ||
        cfg_time_s(cfg_get(row, "time_s"), &k.time_s))
        return -1;
    VEC_PUSH(&s->gemms, k);
    return 0;
}

/* A kernel written for the measurement alone says nothing of those that libraries
 * have. */
static int read_flash(struct samples *s, struct cfg row)
{
    struct sample_kernel k = { 0 };
    bool library;
    if (get_dtype(row, &k.dtype) || get_size(row, "queries", &k.m) ||
        get_size(row, "keys", &k.n) || get_size(row, "head_dim", &k.k) ||
        get_size(row, "heads", &k.batch) || get_flag(row, "causal", &k.causal) ||
        get_flag(row, "backward", &k.backward) || get_flag(row, "library", &library) ||
        cfg_time_s(cfg_get(row, "time_s"), &k.time_s))
        return -1;
    if (library)
        VEC_PUSH(&s->flashes, k);
    return 0;
}

static int read_stream(struct samples *s, struct cfg row)
{
    struct sample_stream k = { 0 };
    if (cfg_string(cfg_get(row, "name"), &k.name) ||
        cfg_real(cfg_get(row, "bytes"), &k.bytes, 1, size_max) ||
        cfg_time_s(cfg_get(row, "time_s"), &k.time_s))
        return -1;
    VEC_PUSH(&s->streams, k);
    return 0;
}

static int read_link(struct samples *s, struct cfg row)
{
    struct sample_link k = { 0 };
    if (cfg_string(cfg_get(row, "name"), &k.name) ||
        cfg_real(cfg_get(row, "bytes"), &k.bytes, 1, size_max) ||
        cfg_time_s(cfg_get(row, "time_s"), &k.time_s))
        return -1;
    VEC_PUSH(&s->links, k);
    return 0;
}

static int read_collective(struct samples *s, struct cfg row)
{
    struct sample_coll k = { .n_nodes = 1 };
    int op;
    if (cfg_enum(cfg_get(row, "op"), coll_op_names, &op) ||
        get_size(row, "ranks", &k.n_ranks) ||
        cfg_real(cfg_get(row, "bytes"), &k.bytes, 1, size_max) ||
        cfg_time_s(cfg_get(row, "time_s"), &k.time_s))
        return -1;
    k.op = (enum coll_op)op;
    VEC_PUSH(&s->colls, k);
    return 0;
}

static int read_clock(struct samples *s, struct cfg row)
{
    struct sample_clock k = { 0 };
    if (get_dtype(row, &k.dtype) || cfg_time_s(cfg_get(row, "burst_s"), &k.burst_s) ||
        cfg_time_s(cfg_get(row, "sustained_s"), &k.sustained_s))
        return -1;
    VEC_PUSH(&s->clocks, k);
    return 0;
}

static const struct {
    const char *kind;
    int (*read)(struct samples *s, struct cfg row);
} kinds[] = {
    { "gemm", read_gemm }, { "flash", read_flash }, { "stream", read_stream },
    { "link", read_link }, { "clock", read_clock }, { "collective", read_collective },
};

/* Kinds that no fit takes. */
static const char *const kinds_elsewhere[] = { "step",   "pytorch_step", "operator",
                                               "launch", "section",      NULL };

/* Rows that are left out for one reason, and the first of them. */
struct left_out {
    int64_t n;
    struct cfg first;
};

struct left_outs {
    struct left_out unknown, unlisted;
};

static void leave_out(struct left_out *l, struct cfg at)
{
    if (!l->n++)
        l->first = at;
}

static int read_row(struct samples *s, struct cfg row, struct left_outs *out)
{
    const char *kind;
    if (!cfg_is_object(row))
        return cfg_error(row, DIAG_WRONG_TYPE, "is no measurement");
    if (cfg_string(cfg_get(row, "kind"), &kind))
        return -1;
    if (cfg_present(cfg_get(row, "error"))) {
        s->n_failed++;
        return 0;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kind, kinds[i].kind) == 0)
            return kinds[i].read(s, row);
    if (!names_listed(kinds_elsewhere, kind))
        leave_out(&out->unknown, cfg_get(row, "kind"));
    return 0;
}

/* Of several equal GPUs, the first represents all. */
static int read_device(struct samples *s, struct cfg device, const char *where)
{
    const char *name;
    if (cfg_string(cfg_get(device, "name"), &name))
        return -1;
    int wanted = samples_device(s, name, where);
    if (wanted <= 0 || s->n_sms)
        return wanted;
    if (cfg_int(cfg_get(device, "sm_arch"), &s->sm_arch, 50, 999) ||
        cfg_int(cfg_get(device, "sms"), &s->n_sms, 1, 1024) ||
        get_size(device, "memory_bytes", &s->memory_B) ||
        get_size(device, "l2_bytes", &s->l2_B))
        return -1;
    if (cfg_present(cfg_get(device, "context_bytes")) &&
        get_size(device, "context_bytes", &s->context_B))
        return -1;
    return 1;
}

static int read_head(struct samples *s, struct cfg root)
{
    const char *format;
    int64_t version;
    if (cfg_string(cfg_get(root, "format"), &format))
        return -1;
    if (strcmp(format, "smsim-measure") != 0)
        return cfg_error(cfg_get(root, "format"), DIAG_UNKNOWN_FORMAT,
                         "is a format not known here (\"smsim-measure\" is)");
    if (cfg_int(cfg_get(root, "version"), &version, 1, VERSION))
        return -1;
    if (cfg_present(cfg_get(root, "date")) &&
        cfg_string(cfg_get(root, "date"), &s->date))
        return -1;
    if (cfg_present(cfg_get(root, "driver")) &&
        cfg_string(cfg_get(root, "driver"), &s->driver))
        return -1;
    return 0;
}

/* The devices of the file: how many it lists, and of which rows are wanted. */
struct devices {
    int64_t n;
    bool wanted[64];
};

static int read_devices(struct samples *s, struct cfg list, struct devices *d)
{
    *d = (struct devices) { .n = cfg_len(list) < 64 ? cfg_len(list) : 64 };
    for (int64_t i = 0; i < d->n; i++) {
        int rc = read_device(s, cfg_at(list, i),
                             s->files.n ? s->files.v[s->files.n - 1] : s->file);
        if (rc < 0)
            return -1;
        d->wanted[i] = rc > 0;
    }
    return 0;
}

static int read_rows(struct samples *s, struct cfg rows, const struct devices *d,
                     struct left_outs *out)
{
    int rc = 0;
    for (int64_t i = 0; i < cfg_len(rows); i++) {
        struct cfg row = cfg_at(rows, i);
        int64_t device = 0;
        if (cfg_present(cfg_get(row, "device")) &&
            cfg_int(cfg_get(row, "device"), &device, 0, 63))
            rc = -1;
        else if (device >= d->n)
            leave_out(&out->unlisted, cfg_get(row, "device"));
        else if (d->wanted[device] && read_row(s, row, out))
            rc = -1;
    }
    return rc;
}

/* The program writes what it has so far after each section. */
static int warn_of_missing(struct cfg complete)
{
    bool is_complete = true;
    if (cfg_present(complete) && cfg_bool(complete, &is_complete))
        return -1;
    if (!is_complete)
        cfg_warn(complete, DIAG_NO_DATA,
                 "smsim-measure did not end: what it had not measured yet is missing");
    return 0;
}

static void warn_of_left_out(const struct left_outs *out)
{
    if (out->unknown.n)
        cfg_warn(out->unknown.first, DIAG_LEFT_OUT,
                 "is no kind of row that is known here: rows left out, %" PRId64,
                 out->unknown.n);
    if (out->unlisted.n)
        cfg_warn(out->unlisted.first, DIAG_LEFT_OUT,
                 "is no device that \"devices\" lists: rows left out, %" PRId64,
                 out->unlisted.n);
}

int samples_load_measure(struct samples *s, struct cfg root)
{
    struct cfg devices = cfg_get(root, "devices"), rows = cfg_get(root, "rows");
    struct devices known;
    struct left_outs out = { 0 };
    if (read_head(s, root))
        return -1;
    if (!cfg_is_array(devices) || !cfg_is_array(rows))
        return cfg_error(cfg_is_array(devices) ? rows : devices, DIAG_WRONG_TYPE,
                         "is not a list");
    if (warn_of_missing(cfg_get(root, "complete")) || read_devices(s, devices, &known))
        return -1;
    int rc = read_rows(s, rows, &known, &out);
    warn_of_left_out(&out);
    return rc;
}
