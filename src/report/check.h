/* What is found of files, and what is wrong where a command gives no result. Trees are
 * borrowed. */
#ifndef REPORT_CHECK_H
#define REPORT_CHECK_H

#include "config/contract.h"

struct report_checked {
    const char *file;
    const char *kind; /* NULL: unknown */
    bool ok;
    int64_t n_errors; /* findings has DIAG_MAX of them at most */
    json_t *findings, *assumed;
};
json_t *report_checked_json(const struct report_checked *c);

struct report_check {
    json_t *files; /* of report_checked_json */
    int64_t n_errors, n_warnings;
};
extern const struct contract report_check_contract;

struct report_failure {
    const char *command;
    int32_t exit_code;
    json_t *errors, *warnings;
    int64_t n_errors;
};
extern const struct contract report_failure_contract;

#endif
