/* One line of the text that nccl-tests prints, whatever a launcher or a logger put
 * before it: "[1,0]<stdout>:", "0: ", "[3] ", a pod, a host, a time, a quotation mark.
 * The versions differ in the columns "redop" and "root", in the columns after the bus
 * bandwidth, and in the unit of time; some texts have lost the "#" of their
 * comments. */
#ifndef CALIBRATE_NCCLOG_LINE_H
#define CALIBRATE_NCCLOG_LINE_H

#include <stdbool.h>
#include <stdint.h>

enum ncclog_kind {
    NCCLOG_OTHER,  /* of NCCL, MPI, or a script */
    NCCLOG_START,  /* of a run of a test program */
    NCCLOG_RANK,   /* one of the list of devices */
    NCCLOG_HEADER, /* the names of the columns */
    NCCLOG_ROW,    /* one size */
    NCCLOG_CUT,    /* a row with numbers missing, or text between them */
};

/* The columns that a header names. */
struct ncclog_columns {
    bool known, has_root, host_times, milliseconds;
    bool has_wrong; /* values that came out wrong are counted */
};

struct ncclog_row {
    double size_B, count_B; /* all; what the column "count" comes to in bytes */
    double time, alg, bus;  /* as printed: microseconds or milliseconds; GB/s */
    bool reduces;           /* there is an operation such as "sum" */
    bool has_root;          /* a rank is named as root */
    bool in_place_checked, checked;
    double n_wrong; /* values that came out wrong */
    int64_t line;
};

struct ncclog_line {
    enum ncclog_kind kind;
    int op;                        /* whose program the line names; NCCLOG_OP_NONE */
    int64_t n_ranks, n_nodes;      /* of a communicator, as NCCL says; 0 */
    int64_t gpus_per_thread;       /* NCCLOG_START; 0: the line does not say */
    int64_t n_wrong;               /* values out of bounds, as a run ends; 0 */
    struct ncclog_columns columns; /* NCCLOG_HEADER */
    int64_t rank, group;           /* NCCLOG_RANK */
    const char *host, *device;     /* the same; within the text; NULL */
    struct ncclog_row row;         /* NCCLOG_ROW */
};

enum {
    NCCLOG_OP_NONE = -1,    /* no program is named, or several are */
    NCCLOG_OP_FOREIGN = -2, /* a program whose operation is not predicted here */
};

/* Bytes of a number format as the programs name it; 0 of other words. */
int ncclog_dtype_bytes(const char *dtype);

/* Which operation's program a text names, "all_reduce_perf". */
int ncclog_op_of(const char *text);

/* Reads a line, and changes its text, in which the strings of the result lie. `columns`
 * are those of the last header. */
struct ncclog_line ncclog_line_read(char *text, const struct ncclog_columns *columns);

enum { NCCLOG_HEAD = 128 };

/* The beginning of a row that lines of NCCL cut in two, as "SIZE COUNT TYPE REDOP ROOT",
 * from a line as it is in the file; "" where the line is no such row. With
 * NCCL_DEBUG_SUBSYS=COLL or TUNING, NCCL prints while a row is measured: its numbers
 * come at the begin of a later line. Only where a header names a column for the root. */
void ncclog_head_keep(char head[NCCLOG_HEAD], const char *text,
                      const struct ncclog_columns *columns);

/* The row of a kept beginning and a line that begins with a time and two bandwidths;
 * false where the line does not. */
bool ncclog_head_join(struct ncclog_row *row, const char *head, const char *text,
                      const struct ncclog_columns *columns);

/* Whether time, size and algorithm bandwidth of a row agree: the seconds a unit of its
 * time, 1e-6 or 1e-3; 0 where the bandwidth is too small to decide; -1 where they do
 * not. *base_B is the size that the bandwidth is of: `size_B`, or in old versions of
 * all-gather and reduce-scatter `count_B`. */
double ncclog_row_unit_s(const struct ncclog_row *row, double *base_B);

#endif
