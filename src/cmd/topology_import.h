/* What the two files of `smsim topology` share. */
#ifndef CMD_TOPOLOGY_IMPORT_H
#define CMD_TOPOLOGY_IMPORT_H

#include "draw/draw.h"
#include "hardware/import/import.h"

struct topology_args {
    const char *nccl_xml, *nvidia_smi; /* files to import; NULL: none */
    const char *out;                   /* NULL: standard output */
    const char *nic_rate;
    const char *plot; /* a figure of an instance; NULL: none */
    struct draw_look look;
    struct raw_import words;
};

/* Reads another program's description and writes an instance file: the exit code. */
int cmd_topology_import(struct topology_args *args);

#endif
