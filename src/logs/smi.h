/* Tables of `nvidia-smi --query-gpu=... --format=csv`, with their header, GPU by GPU.
 * Samples of an idle GPU (utilization below a half) are left out of means. */
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
    SMI_THROTTLES, /* bits of reasons, hexadecimal */
    SMI_HOST,      /* of tables of several nodes */
    SMI_COLUMNS
};

enum { LOGS_SMI_GPUS = 1024, LOGS_SMI_WORDS = 64, LOGS_SMI_HOST = 32 };

/* Reasons of nvml.h, nvmlClocksThrottleReason*. */
enum logs_throttle {
    THROTTLE_POWER = 0x4 | 0x80, /* SwPowerCap, HwPowerBrakeSlowdown */
    THROTTLE_HEAT = 0x20 | 0x40, /* SwThermal, HwThermalSlowdown */
    THROTTLE_HARDWARE = 0x8      /* HwSlowdown: one of the hardware's above */
};

struct logs_gpu {
    char host[LOGS_SMI_HOST];
    int64_t index, n, n_busy;         /* samples; those of a busy GPU */
    double clock, power, temperature; /* sums of the busy samples */
    double max_clock, limit, memory, width, max_width, generation, max_generation, ecc;
    int64_t n_power, n_heat; /* busy samples throttled by it */
    bool has_throttles;
};

struct logs_smi {
    int32_t n_columns;              /* of the header at hand; 0: none was seen */
    int8_t columns[LOGS_SMI_WORDS]; /* enum logs_smi_column, -1: another */
    int32_t n;
    struct logs_gpu *gpus;
};

void logs_smi_release(struct logs_smi *s);

/* True where the line is of such a table. */
bool logs_smi_read(struct logs_smi *s, const char *line);

#endif
