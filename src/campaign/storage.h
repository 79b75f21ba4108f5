/* Where a job's data and states lie, and how fast an instance reads and writes there:
 * the scenario's "storage" section. Rates are in bytes per second of one instance while
 * all instances of the cluster do the same (MODEL.md, "Storage"). */
#ifndef CAMPAIGN_STORAGE_H
#define CAMPAIGN_STORAGE_H

#include "scenario/scenario.h"

enum storage_kind { STORAGE_S3, STORAGE_FSX, STORAGE_EFS, STORAGE_EBS, STORAGE_LOCAL };
enum storage_mode {
    STORAGE_FILE,      /* downloaded whole before the training begins */
    STORAGE_FAST_FILE, /* streamed when a file is read */
    STORAGE_PIPE       /* streamed in order */
};

extern const struct name_value storage_kind_names[];

struct storage {
    bool given; /* the section is there */
    enum storage_kind kind;
    enum storage_mode mode; /* of S3; STORAGE_FAST_FILE for mounted file systems */
    double dataset_B;       /* 0: not given */
    double volume_B;     /* of the volume that File mode downloads to; 0: not given */
    bool sharded;        /* each instance downloads its own part (ShardedByS3Key) */
    double instance_Bps; /* set by the user; 0: what the kind brings */
    double stream_Bps;   /* of one reader; 0: what the kind brings */
    double capacity_B;   /* of an FSx file system; 0: not given */
    double per_TiB_Bps;  /* throughput that it has for each TiB */
};

/* Reads the section; an absent one is S3 in File mode with `given` false. -1 after
 * reporting. */
int storage_read(struct storage *st, const struct scenario *s, struct cfg c);

/* An instance reading with `streams` readers at once, as training goes on. INFINITY
 * where the data lie in the page cache. */
double storage_read_Bps(const struct storage *st, const struct scenario *s,
                        const struct instance *inst, double streams);

/* One reader; INFINITY where it is only limited by its instance. */
double storage_stream_Bps(const struct storage *st, const struct scenario *s,
                          const struct instance *inst);

/* An instance writing to storage of a kind, of which `writers` do so at once. */
double storage_write_Bps(const struct storage *st, enum storage_kind kind,
                         const struct instance *inst, int64_t writers);

/* Before the training: the data set onto every instance. 0 where data are streamed or
 * mounted. */
double storage_download_s(const struct storage *st, const struct scenario *s);

#endif
