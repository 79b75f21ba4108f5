/* Lines of logs that say what happened, by a text that is in them. */
#ifndef LOGS_NOTICES_H
#define LOGS_NOTICES_H

#include <stdint.h>

/* What makes the steps around it no steady ones. */
enum logs_event {
    LOGS_CHECKPOINT = 1,
    LOGS_EVALUATION = 2,
    LOGS_PAUSE = 4, /* garbage collection, traces written, compilation */
};

enum logs_notice {
    NOTICE_CHECKPOINT,
    NOTICE_EVALUATION,
    NOTICE_PAUSE,
    NOTICE_RECOMPILED,
    NOTICE_CACHE_FLUSH,
    NOTICE_OUT_OF_MEMORY,
    NOTICE_NO_FLASH,
    NOTICE_EAGER,
    NOTICE_NO_P2P,
    NOTICE_NO_FUSED_KERNELS,
    NOTICE_OVERFLOW,
    NOTICE_TIMEOUT,
    NOTICE_FEW_WORKERS,
    NOTICE_XID,
    NOTICE_PADDING,
    NOTICES
};

struct logs_notices {
    struct {
        int64_t n, line;
        int32_t file;
    } of[NOTICES];
};

/* Notes what a line says; the event that it is, 0: none. */
unsigned logs_notices_read(struct logs_notices *all, const char *line, int64_t number,
                           int32_t file);

/* What a notice means, for people. */
const char *logs_notice_text(enum logs_notice notice);

#endif
