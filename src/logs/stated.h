/* What logs state of the run itself: its GPU, ranks, degrees and sizes, as trainers print
 * them at first. The first statement of each counts: later ones may be of an evaluation. */
#ifndef LOGS_STATED_H
#define LOGS_STATED_H

#include <stdint.h>

enum logs_statement {
    STATED_RANKS,
    STATED_MICRO_BATCH,
    STATED_SEQUENCE, /* tokens */
    STATED_TENSOR,
    STATED_PIPELINE,
    STATED_LAYERS,
    STATED_HIDDEN,
    STATED_PARAMETERS, /* of the whole model */
    STATEMENTS
};

enum { LOGS_DEVICE_TEXT = 48 };

struct logs_place {
    int64_t line; /* 0: it was not said */
    int32_t file;
};

struct logs_stated {
    double of[STATEMENTS];
    struct logs_place at[STATEMENTS];
    char device[LOGS_DEVICE_TEXT]; /* "NVIDIA A100-SXM4-80GB"; "" */
    struct logs_place device_at;
};

/* Notes what a line states. */
void logs_stated_read(struct logs_stated *s, const char *line, struct logs_place at);

#endif
