/* What --json gives where a command cannot give a result (report/check.h). */
#ifndef CMD_FAILURE_H
#define CMD_FAILURE_H

#include "base/err.h"
#include "config/cfg.h"

/* Writes errors and warnings to the file that --json names ("-": standard output). What
 * is there and no result of smsim stays, as it may be an input that was not read yet:
 * this is said on standard error. */
void cmd_failure_write(const char *path, const char *command, const struct diags *diags,
                       const struct err *err, int exit_code);

#endif
