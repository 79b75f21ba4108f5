/* The matrix that `nvidia-smi topo -m` prints, read and checked: square, symmetric, of
 * known words. Between hardware/import/smi.c and smi_matrix.c. */
#ifndef HARDWARE_IMPORT_SMI_MATRIX_H
#define HARDWARE_IMPORT_SMI_MATRIX_H

#include "hardware/import/import.h"

enum {
    SMI_COLUMNS_MAX = INSTANCE_HOST_GPUS_MAX + INSTANCE_HOST_NICS_MAX,
    SMI_AFTER_MAX = 2, /* words after the cells: CPUs, NUMA node */
};

struct smi_word {
    size_t at, len;
};

/* NVLinks are the positive values. */
enum {
    SMI_SELF = 0,
    SMI_SYS = -1,
    SMI_NODE = -2,
    SMI_SWITCH = -3,
    SMI_NONE = -4,
};

struct smi_matrix {
    struct cfg_loader *loader;
    const char *file;
    char *text; /* escape sequences made blank */
    size_t len;
    int32_t n_gpus, n; /* columns: GPUs, then NICs */
    bool numa;         /* there is a column of NUMA nodes */
    struct smi_word columns[SMI_COLUMNS_MAX];
    struct smi_word cells[SMI_COLUMNS_MAX][SMI_COLUMNS_MAX];
    int relation[SMI_COLUMNS_MAX][SMI_COLUMNS_MAX];
    struct smi_word after[SMI_COLUMNS_MAX][SMI_AFTER_MAX];
};

/* 0, or -1 after reporting the first thing wrong. */
int smi_matrix_read(struct smi_matrix *m, struct cfg_loader *loader, const char *file);

bool smi_same_word(const struct smi_matrix *m, struct smi_word a, struct smi_word b);

/* Reports at a byte of the text; returns -1. */
int smi_error(const struct smi_matrix *m, size_t at, enum diag_code code,
              const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
