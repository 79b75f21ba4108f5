/* Tables of `nvidia-smi --query-gpu=... --format=csv` of `nvidia-smi dmon` and of `dcgmi dmon`, with their
 * header, and what dcgm-exporter answers (dcgm.c), GPU by GPU. Samples of an idle GPU
 * (utilization below a half) are left out of means. */
#ifndef LOGS_SMI_H
#define LOGS_SMI_H

#include <stdbool.h>
#include <stdint.h>

enum logs_smi_column {
    SMI_INDEX,
    SMI_CLOCK,     /* MHz of the SMs */
    SMI_MAX_CLOCK, /* MHz */
    SMI_POWER,     /* W */
    SMI_POWER_LIMIT,
    SMI_TEMPERATURE,
    SMI_BUSY,   /* percent */
    SMI_MEMORY, /* MiB */
    SMI_WIDTH,
    SMI_MAX_WIDTH,
    SMI_GENERATION,
    SMI_MAX_GENERATION,
    SMI_ECC,       /* uncorrected errors */
    SMI_REPLAYS,   /* of PCIe transfers, since the driver was loaded */
    SMI_THROTTLES, /* bits of reasons, hexadecimal or decimal */
    SMI_CAPPED,    /* "Active": power throttles */
    SMI_HOT,       /* heat does */
    SMI_HOST,      /* of tables of several nodes */
    SMI_ID,        /* bus or UUID, where there is no index */
    SMI_COLUMNS
};

enum { LOGS_SMI_GPUS = 1024, LOGS_SMI_WORDS = 64, LOGS_SMI_HOST = 32 };

/* Reasons of nvml.h, nvmlClocksThrottleReason*. */
enum logs_throttle {
    THROTTLE_POWER = 0x4 | 0x80, /* SwPowerCap, HwPowerBrakeSlowdown */
    THROTTLE_HEAT = 0x20 | 0x40, /* SwThermal, HwThermalSlowdown */
    THROTTLE_HARDWARE = 0x8      /* HwSlowdown: one of the hardware's above */
};

/* What is known of a GPU at a time. */
struct logs_smi_sample {
    bool has[SMI_COLUMNS];
    double v[SMI_COLUMNS];
    char host[LOGS_SMI_HOST], id[LOGS_SMI_HOST];
};

struct logs_gpu {
    char host[LOGS_SMI_HOST]; /* or its bus or UUID, where the table has no index */
    int64_t index, n, n_busy; /* samples; those of a busy GPU */
    double clock, power, temperature; /* sums of the busy samples */
    double max_clock, limit, memory, width, max_width, generation, max_generation, ecc;
    int64_t n_power, n_heat; /* busy samples throttled by it */
    int64_t n_clock, n_draw; /* busy samples that have a clock, and power */
    /* from the first sample that is at work to the last: those that say the utilization,
     * their sum in percent; idle ones since */
    int64_t n_used, n_unused;
    double used;
    double first_replays, replays;
    bool has_throttles, has_ecc, has_replays;
    struct logs_smi_sample open; /* of lines with one quantity each (dcgm.c) */
};

struct logs_smi {
    bool entities;     /* the header at hand is of dcgmi or nvidia-smi dmon */
    int32_t n_columns; /* of the header at hand; 0: none was seen */
    int8_t columns[LOGS_SMI_WORDS]; /* enum logs_smi_column, -1: another */
    int32_t n;
    struct logs_gpu *gpus;
};

void logs_smi_release(struct logs_smi *s);

/* True where the line is of such a table. */
bool logs_smi_read(struct logs_smi *s, const char *line);

/* Likewise of DCGM's. */
bool logs_dcgm_read(struct logs_smi *s, const char *line);

/* After the last line: samples of DCGM that are open are counted. */
void logs_dcgm_end(struct logs_smi *s);

/* Parts of both: the GPU of a sample (NULL: there are too many), and its sample counted. */
struct logs_gpu *logs_smi_gpu(struct logs_smi *s, const struct logs_smi_sample *x);
void logs_smi_add(struct logs_gpu *g, const struct logs_smi_sample *x);

#endif
