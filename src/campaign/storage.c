#include "campaign/storage.h"

#include <math.h>

/* clang-format off */
const struct name_value storage_kind_names[] = {
    { "s3", STORAGE_S3 }, { "fsx", STORAGE_FSX }, { "efs", STORAGE_EFS },
    { "ebs", STORAGE_EBS }, { "local", STORAGE_LOCAL }, { NULL, 0 },
};
static const struct name_value mode_names[] = {
    { "File", STORAGE_FILE }, { "FastFile", STORAGE_FAST_FILE }, { "Pipe", STORAGE_PIPE },
    { NULL, 0 },
};

/* 50 GB in 5 minutes: the data set of 100 MB files that SageMaker's guide downloads in
 * File mode ("Choosing an input mode and a storage unit"). */
#define FILE_MODE_Bps (50e9 / 300)
/* One request to S3 (S3's "Performance design patterns": one for each 85-90 MB/s), and
 * how many boto3 has under way (TransferConfig.max_concurrency). */
#define S3_REQUEST_Bps 85e6
#define S3_REQUESTS    10.0
/* EFS: of a client, and of a file system that its clients share, by the guide's table
 * of file system performance (General Purpose). */
#define EFS_CLIENT_Bps (500.0 * (1 << 20))
#define EFS_READ_Bps   (3.0 * (1 << 30))
#define EFS_WRITE_Bps  (1.0 * (1 << 30))

#define DATASET_MAX  1e18
#define RATE_MIN     1e3
#define RATE_MAX     1e15
#define CAPACITY_MIN 1e9
#define TIB          1099511627776.0

#define S struct storage
static const struct cfg_field storage_fields[] = {
    CFG_ENUM("kind", S, kind, storage_kind_names),
    CFG_ENUM("mode", S, mode, mode_names),
    CFG_QUANTITY("dataset", S, dataset_B, UNIT_BYTES, 1, DATASET_MAX),
    CFG_QUANTITY("volume", S, volume_B, UNIT_BYTES, 1, DATASET_MAX),
    CFG_BOOL("sharded", S, sharded),
    CFG_QUANTITY("throughput", S, instance_Bps, UNIT_BYTES_PER_S, RATE_MIN, RATE_MAX),
    CFG_QUANTITY("stream", S, stream_Bps, UNIT_BYTES_PER_S, RATE_MIN, RATE_MAX),
    CFG_QUANTITY("capacity", S, capacity_B, UNIT_BYTES, CAPACITY_MIN, DATASET_MAX),
    CFG_QUANTITY("throughput_per_TiB", S, per_TiB_Bps, UNIT_BYTES_PER_S, 1e6, 1e12),
    CFG_END,
};
/* clang-format on */

static double fsx_Bps(const struct storage *st)
{
    return st->capacity_B / TIB * st->per_TiB_Bps;
}

static int check_fsx(const struct storage *st, struct cfg c)
{
    bool whole = st->capacity_B > 0 && st->per_TiB_Bps > 0;
    if (st->kind != STORAGE_FSX && (st->capacity_B > 0 || st->per_TiB_Bps > 0))
        return cfg_error(
            cfg_get(c, st->capacity_B > 0 ? "capacity" : "throughput_per_TiB"),
            DIAG_REQUIRES,
            "only FSx has a throughput by capacity (write \"kind\": \"fsx\", or "
            "\"throughput\" for what an instance reads)");
    if (st->kind == STORAGE_FSX && !whole && st->instance_Bps <= 0)
        return cfg_error(c, DIAG_MISSING,
                         "how fast the file system is, is not given (give "
                         "\"capacity\" and \"throughput_per_TiB\", for example "
                         "\"1.2TiB\" and \"250MB/s\", or \"throughput\")");
    return 0;
}

static int check_kind(const struct storage *st, const struct scenario *s, struct cfg c)
{
    bool mounted = st->kind != STORAGE_S3;
    if (mounted && cfg_present(cfg_get(c, "mode")))
        return cfg_error(cfg_get(c, "mode"), DIAG_REQUIRES,
                         "only data in S3 are downloaded or streamed; %s is mounted "
                         "(leave it out, or write \"kind\": \"s3\")",
                         names_of(storage_kind_names, (int)st->kind));
    if (st->sharded && (mounted || st->mode != STORAGE_FILE))
        return cfg_error(cfg_get(c, "sharded"), DIAG_REQUIRES,
                         "only what is downloaded from S3 is sharded by key (leave it "
                         "out, or write \"mode\": \"File\")");
    if (st->volume_B > 0 && (mounted || st->mode != STORAGE_FILE))
        return cfg_error(cfg_get(c, "volume"), DIAG_REQUIRES,
                         "only what is downloaded needs a volume (leave it out, or "
                         "write \"mode\": \"File\")");
    if (!mounted && st->mode == STORAGE_FILE && st->dataset_B <= 0)
        return cfg_error(
            cfg_get(c, "dataset"), DIAG_MISSING,
            "missing: in File mode it is downloaded (give \"dataset\", for "
            "example \"50GB\", or write \"mode\": \"FastFile\")");
    if (st->kind != STORAGE_EBS && st->kind != STORAGE_LOCAL)
        return check_fsx(st, c);
    for (int32_t i = 0; i < s->cluster.n_groups; i++)
        if (s->cluster.groups[i].instance->storage_Bps <= 0 && st->instance_Bps <= 0)
            return cfg_error(c, DIAG_MISSING,
                             "the disks of %s are not known (give \"throughput\", for "
                             "example \"2GB/s\")",
                             s->cluster.groups[i].instance->name);
    return check_fsx(st, c);
}

/* Bytes of the data set that one instance has on its disk. */
static double share_B(const struct storage *st, const struct scenario *s)
{
    return st->dataset_B / (st->sharded ? (double)s->cluster.n_hosts : 1);
}

/* Instances with NVMe disks use those in place of the volume, so it is no error. */
static void check_volume(const struct storage *st, const struct scenario *s,
                         struct cfg c)
{
    char data[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX];
    bool downloads = st->kind == STORAGE_S3 && st->mode == STORAGE_FILE;
    if (downloads && st->volume_B > 0 && share_B(st, s) > st->volume_B)
        cfg_warn(cfg_get(c, "volume"), DIAG_STORAGE_FULL,
                 "File mode downloads %s to a volume of %s; without NVMe disks the "
                 "job fails",
                 units_bytes_text(data, share_B(st, s)),
                 units_bytes_text(room, st->volume_B));
}

int storage_read(struct storage *st, const struct scenario *s, struct cfg c)
{
    *st = (struct storage) { .given = cfg_present(c), .kind = STORAGE_S3 };
    if (!st->given)
        return 0;
    if (!cfg_is_object(c))
        return cfg_error(c, DIAG_WRONG_TYPE,
                         "storage is an object (write for example { \"kind\": \"s3\", "
                         "\"mode\": \"File\", \"dataset\": \"50GB\" })");
    if (cfg_read(c, storage_fields, st) || check_kind(st, s, c))
        return -1;
    check_volume(st, s, c);
    if (st->kind != STORAGE_S3)
        st->mode = STORAGE_FAST_FILE;
    return 0;
}

/* Through the instance's first network card: the others carry the collectives'
 * traffic. */
static double network_Bps(const struct instance *inst)
{
    return inst->n_nics > 0 ? inst->nics[0].line_Bps : (double)INFINITY;
}

static double disk_Bps(const struct instance *inst)
{
    return inst->storage_Bps > 0 ? inst->storage_Bps : (double)INFINITY;
}

/* What was downloaded is in the page cache, as long as it fits there. */
static bool is_cached(const struct storage *st, const struct scenario *s,
                      const struct instance *inst)
{
    bool downloaded = st->kind == STORAGE_S3 && st->mode == STORAGE_FILE;
    return downloaded && share_B(st, s) <= (double)inst->host_memory_B;
}

double storage_stream_Bps(const struct storage *st, const struct scenario *s,
                          const struct instance *inst)
{
    if (is_cached(st, s, inst))
        return INFINITY;
    if (st->stream_Bps > 0)
        return st->stream_Bps;
    bool streamed = st->kind == STORAGE_S3 && st->mode != STORAGE_FILE;
    return streamed ? S3_REQUEST_Bps : (double)INFINITY;
}

double storage_read_Bps(const struct storage *st, const struct scenario *s,
                        const struct instance *inst, double streams)
{
    double n = (double)s->cluster.n_hosts, network = network_Bps(inst);
    double user = st->instance_Bps > 0 ? st->instance_Bps : (double)INFINITY;
    bool on_disk = st->kind == STORAGE_EBS || st->kind == STORAGE_LOCAL;
    if (is_cached(st, s, inst))
        return INFINITY;
    if (st->kind == STORAGE_S3 && st->mode == STORAGE_FILE)
        return disk_Bps(inst);
    double Bps = fmin(user, streams * storage_stream_Bps(st, s, inst));
    if (on_disk)
        return isfinite(user) ? Bps : fmin(Bps, disk_Bps(inst));
    Bps = fmin(Bps, network);
    if (st->kind == STORAGE_EFS)
        return fmin(Bps, fmin(EFS_CLIENT_Bps, EFS_READ_Bps / n));
    if (st->kind == STORAGE_FSX && st->capacity_B > 0 && st->per_TiB_Bps > 0)
        return fmin(Bps, fsx_Bps(st) / n);
    return Bps;
}

double storage_write_Bps(const struct storage *st, enum storage_kind kind,
                         const struct instance *inst, int64_t writers)
{
    double network = network_Bps(inst), n = (double)writers;
    double fsx = st->kind == STORAGE_FSX ? st->instance_Bps : 0;
    switch (kind) {
    case STORAGE_S3:
        return fmin(network, S3_REQUESTS * S3_REQUEST_Bps);
    case STORAGE_EFS:
        return fmin(network, fmin(EFS_CLIENT_Bps, EFS_WRITE_Bps / n));
    case STORAGE_FSX:
        if (st->capacity_B > 0 && st->per_TiB_Bps > 0)
            fsx = fsx > 0 ? fmin(fsx, fsx_Bps(st) / n) : fsx_Bps(st) / n;
        return fmin(network, fsx);
    case STORAGE_EBS:
    case STORAGE_LOCAL:
        break;
    }
    return disk_Bps(inst);
}

double storage_download_s(const struct storage *st, const struct scenario *s)
{
    double slowest = INFINITY;
    if (!st->given || st->kind != STORAGE_S3 || st->mode != STORAGE_FILE)
        return 0;
    for (int32_t i = 0; i < s->cluster.n_groups; i++) {
        const struct instance *inst = s->cluster.groups[i].instance;
        double Bps = st->instance_Bps > 0 ? st->instance_Bps : FILE_MODE_Bps;
        slowest = fmin(slowest, fmin(Bps, fmin(network_Bps(inst), disk_Bps(inst))));
    }
    return share_B(st, s) / slowest;
}
