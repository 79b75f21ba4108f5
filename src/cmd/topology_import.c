/* smsim topology --import-...: another program's description as an instance file. */
#include "cmd/topology_import.h"

#include "base/file.h"
#include "cmd/cmd.h"
#include "hardware/import/nccl.h"
#include "hardware/import/smi.h"
#include "hardware/instance_write.h"
#include "report/text/wrap.h"

static int read_nic_rate(struct topology_args *args)
{
    const char *why;
    double Bps;
    if (!args->nic_rate)
        return 0;
    if (units_parse(args->nic_rate, UNIT_BYTES_PER_S, &Bps, &why)) {
        report_linef(stderr, "smsim topology: --nic-rate: \"%.40s\" %s", args->nic_rate,
                     why);
        return -1;
    }
    if (!(Bps >= 1e7 / 8 && Bps <= 2e12 / 8)) {
        report_linef(stderr,
                     "smsim topology: --nic-rate: %.40s is not from 10Mb/s to "
                     "2000Gb/s",
                     args->nic_rate);
        return -1;
    }
    args->words.nic_Bps = Bps;
    return 0;
}

static int write_out(const char *path, const char *text, struct err *err)
{
    struct file_out out;
    if (file_out_open(&out, path ? path : "-", err))
        return -1;
    fputs(text, out.stream);
    return file_out_commit(&out, err);
}

static void print_notes(struct diags *d)
{
    for (int64_t i = 0; i < d->n_warnings; i++)
        report_linef(stderr, "note: %s", diags_warning_text(d, i));
}

int cmd_topology_import(struct topology_args *args)
{
    struct cfg_loader loader;
    struct import im;
    struct instance inst;
    struct err err = { 0 };
    if (read_nic_rate(args))
        return EXIT_USAGE;
    cfg_loader_init(&loader);
    int rc = args->nccl_xml ? import_nccl(&im, &loader, args->nccl_xml)
                            : import_smi(&im, &loader, args->nvidia_smi);
    if (rc || import_complete(&inst, &im, &args->words, &loader))
        return cmd_fail(&loader, NULL);
    struct strbuf text;
    strbuf_init(&text);
    instance_write(&text, &inst);
    rc = write_out(args->out, strbuf_get(&text), &err);
    strbuf_release(&text);
    if (rc)
        return cmd_fail(&loader, &err);
    print_notes(&loader.diags);
    cfg_loader_release(&loader);
    return EXIT_DONE;
}
