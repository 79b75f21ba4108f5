/* The kinds of lines of trainers, for the readers of this folder. Of a run's kinds, the
 * first of those with the best basis is used (steady.h). */
#ifndef LOGS_KINDS_H
#define LOGS_KINDS_H

#include "logs/logs.h"

enum logs_format {
    FORMAT_MEGATRON,
    FORMAT_BRIDGE,
    FORMAT_NEMO,
    FORMAT_TORCHTITAN,
    FORMAT_NANOTRON,
    FORMAT_OLMO,
    FORMAT_NANOGPT,
    FORMAT_NANOCHAT,
    FORMAT_LLM_C,
    FORMAT_SPEEDRUN,
    FORMAT_LITGPT,
    FORMAT_LLAMA_FACTORY,
    FORMAT_MAXTEXT,
    FORMAT_TORCHTUNE,
    FORMAT_PICOTRON,
    FORMAT_DEEPSPEED_CHAT,
    FORMAT_DEEPSPEED,
    FORMAT_SPEED,
    FORMAT_PROFILER,
    FORMAT_COMPOSER,
    FORMAT_SWIFT,
    FORMAT_PROGRESS,
    FORMAT_DEEPSPEED_MEAN,
    FORMAT_TRAINER,
    FORMAT_WALL_CLOCK,
    FORMATS
};

/* A record of which nothing is known. */
struct logs_record logs_record_new(enum logs_format format);

#endif
