/* What was measured, from whatever file: output of the measuring program, tables of
 * kernels and of collectives (CSV), logs of nccl-tests. One list per kind; seconds and
 * bytes. Memory lives in the loader.
 *
 * Files may be given one after the other; what they hold is put together. Rows that
 * were recorded as failed are counted, not used. */
#ifndef CALIBRATE_SAMPLES_H
#define CALIBRATE_SAMPLES_H

#include "base/vec.h"
#include "config/cfg.h"
#include "cost/attention.h"
#include "cost/collective.h"
#include "cost/experts.h"
#include "cost/transfer.h"
#include "hardware/dtype.h"
#include "hardware/product.h"

/* A product C[m,n] = A[m,k] B[k,n], `batch` of them; or fused attention of `batch`
 * sequences x heads, m queries over n keys of k columns. */
struct sample_kernel {
    enum dtype dtype;
    int64_t m, n, k, batch;
    bool causal, backward; /* attention */
    double time_s;
};

/* A product as some software's benchmark ran it. */
struct sample_product {
    const char *device, *software;
    const struct product_format *format;
    int64_t m, n, k;
    double time_s;
};

/* Fused attention, forward and causal, as some software's benchmark ran it. */
struct sample_attention {
    const char *device, *software;
    struct attention_shape shape;
    double time_s;
};

/* Dispatch or combine of experts' tokens, as some software's benchmark ran it. */
struct sample_transfer {
    const char *device, *software;
    enum transfer_kind kind;
    struct transfer_shape shape;
    double time_s;
};

/* Experts of one rank, forward, as some software's benchmark ran them. */
struct sample_experts {
    const char *device, *software;
    const struct product_format *format;
    int64_t tokens, hidden, ffn, topk, experts, tensor, ranks;
    double exponent; /* of the power law of loads; 0: balanced */
    double time_s;
};

struct sample_stream { /* a memory-bound kernel */
    const char *name;
    double bytes, time_s;
};

struct sample_link {  /* bytes from one place to another */
    const char *name; /* "gpu0 to gpu1", "pinned host to gpu0" */
    double bytes, time_s;
};

struct sample_coll {
    enum coll_op op;
    int64_t n_ranks;
    int64_t n_nodes; /* 0: unknown */
    double bytes, time_s;
    int64_t
        gpus_per_thread; /* that a thread launched one after the other; 0: unknown */
};

/* What a thread launched on a node where so many GPUs take part; 0: unknown, or of other
 * nodes. */
int64_t sample_coll_launched(const struct sample_coll *k, int64_t n_gpus);

struct sample_clock { /* one product repeated for seconds, and in a burst */
    enum dtype dtype;
    double burst_s, sustained_s;
};

struct samples {
    const char *file;          /* the first */
    VEC(const char *) files;   /* all that samples_load read */
    const char *device;        /* as the driver names it; NULL: unknown */
    const char *date, *driver; /* NULL: unknown */
    const char *filter;        /* only rows of devices whose name has this; NULL: any */
    int64_t sm_arch, n_sms, memory_B, l2_B, context_B; /* 0: unknown */
    int64_t n_failed;
    VEC(struct sample_kernel) gemms;
    VEC(struct sample_kernel) flashes;
    VEC(struct sample_product) products;     /* of any number of devices */
    VEC(struct sample_attention) attentions; /* likewise */
    VEC(struct sample_transfer) transfers;   /* likewise */
    VEC(struct sample_experts) experts;      /* likewise */
    VEC(struct sample_stream) streams;
    VEC(struct sample_link) links;
    VEC(struct sample_coll) colls;
    VEC(struct sample_clock) clocks;
    VEC(const char *) notes; /* what was read from logs, a line each */
    struct cfg_loader *loader;
};

/* What the caller knows and files may not say. */
struct samples_hints {
    const char *device;       /* see `filter` */
    int op;                   /* of nccl-tests logs that do not name it; -1: unknown */
    int64_t n_ranks, n_nodes; /* of logs that do not say; 0: unknown */
    int64_t n_ranks_asked;    /* that the logs are held against, where rows may be of so
                                 many and nothing says how many; 0: none */
};

void samples_init(struct samples *s, struct cfg_loader *loader,
                  const struct samples_hints *hints);
void samples_release(struct samples *s);

/* Adds what a file holds. Errors are reported at their places; -1 then, and for a file
 * that holds nothing usable. */
int samples_load(struct samples *s, const char *file,
                 const struct samples_hints *hints);

/* Collectives whose nodes are unknown: as many as the ranks fill. */
void samples_place(struct samples *s, int64_t gpus_per_node);

/* Parts of samples_load, by format. */
int samples_load_measure(struct samples *s, struct cfg root);
int samples_load_csv(struct samples *s, const char *file,
                     const struct samples_hints *hints);

/* Whether rows of a device are wanted; remembers the first device. Two devices in one
 * set of rows are reported at `where`, -1 then; 0 skips the row, 1 takes it. */
int samples_device(struct samples *s, const char *device, const char *where);

/* Whether the hints want rows of a device. */
bool samples_wants(const struct samples *s, const char *device);

#endif
