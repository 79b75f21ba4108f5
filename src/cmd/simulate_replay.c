#include "cmd/simulate_replay.h"

#include "logs/logs.h"
#include "report/replay_report.h"
#include "report/report.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int write_out(const struct report_replay *r, const char *json, struct err *err)
{
    json_t *tree = json ? contract_result(&report_replay_contract, r) : NULL;
    int rc = tree ? report_json_write(tree, json, err) : 0;
    json_decref(tree);
    if (rc == 0 && (!json || strcmp(json, "-") != 0))
        report_replay_text(stdout, r);
    return rc;
}

static int replay_folder(const struct report_replay *out, struct cfg_loader *loader,
                         const char *json, struct err *err)
{
    struct chakra_trace t;
    struct replay_result r;
    int rc = chakra_trace_load(&t, loader, out->name, err);
    if (rc == 0)
        rc = replay_run(&r, &t, &out->scenario->cluster, out->scenario->software.nccl,
                        err);
    struct report_replay of_folder = *out;
    of_folder.trace = &t;
    of_folder.all = &r;
    if (rc == 0)
        rc = write_out(&of_folder, json, err);
    chakra_trace_release(&t);
    return rc;
}

static int replay_file(const struct report_replay *out, const char *json,
                       struct err *err)
{
    struct logs l;
    struct replay_step r;
    logs_init(&l);
    l.timeline = true;
    int rc = logs_read(&l, out->name, err);
    if (rc == 0 && l.traces.n != 1)
        rc = err_set(err,
                     "--trace-in: %s is neither a trace of PyTorch's profiler nor a "
                     "folder of Chakra traces",
                     out->name);
    if (rc == 0)
        rc = replay_step(&r, &l.traces.v[0], &out->scenario->cluster,
                         out->scenario->software.nccl, err);
    struct report_replay of_file = *out;
    of_file.step = &r;
    if (rc == 0)
        rc = write_out(&of_file, json, err);
    logs_release(&l);
    return rc;
}

int simulate_replay(struct cfg_loader *loader, const struct scenario *s,
                    const char *name, const char *json, struct err *err)
{
    struct report_replay out = { .name = name, .scenario = s };
    struct stat st;
    if (stat(name, &st) == 0 && !S_ISDIR(st.st_mode))
        return replay_file(&out, json, err);
    return replay_folder(&out, loader, json, err);
}
