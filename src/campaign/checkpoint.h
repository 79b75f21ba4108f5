/* Checkpoints of a job: how many bytes the states take, who writes them where, and how
 * long the training waits for it (MODEL.md, 15.7 and 15.8). */
#ifndef CAMPAIGN_CHECKPOINT_H
#define CAMPAIGN_CHECKPOINT_H

#include "campaign/storage.h"

enum checkpoint_writer {
    CHECKPOINT_BY_RANK0, /* one instance writes all */
    CHECKPOINT_SHARDED   /* every instance that holds a part of the states writes it */
};

struct checkpoint {
    bool given;
    enum storage_kind to;
    int writer;        /* enum checkpoint_writer; -1: sharded where the states are */
    bool async;        /* copied to the host; written during the steps that follow */
    int64_t every;     /* steps, those of an epoch by default; 0: by interval_s */
    double interval_s; /* 0: by every */
    double write_Bps;  /* of a writer, by the user; 0: what the storage takes */
};

struct checkpoint_result {
    double size_B;     /* of all states together */
    int64_t writers;   /* instances */
    double copy_s;     /* GPUs to hosts; the training waits */
    double write_s;    /* hosts to storage */
    double blocking_s; /* that each checkpoint stops the training */
    int64_t every;     /* steps */
    int64_t count;     /* in the job */
};

/* Reads the object; `st` says how fast an FSx file system is. */
int checkpoint_read(struct checkpoint *c, const struct storage *st,
                    const struct scenario *s, struct cfg object);

/* Of a job of so many steps, each of step_s. */
void checkpoint_run(struct checkpoint_result *r, const struct checkpoint *c,
                    const struct storage *st, const struct scenario *s, int64_t steps,
                    double step_s);

/* Bytes of parameters and, for checkpoints, of optimizer states, of the whole model. */
double checkpoint_model_B(const struct scenario *s);
double checkpoint_states_B(const struct scenario *s);

#endif
