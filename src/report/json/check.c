/* What `smsim check --json` found, and what --json gives of a command that fails. */
#include "report/check.h"
#include "config/contract.h"
#include "config/diag.h"
#include "scenario/assumed.h"

/* clang-format off */
static const struct contract_member file_rows[] = {
    CONTRACT_AT("file", TEXT, report_checked, file, "As on the command line."),
    CONTRACT_AT("kind", TEXT, report_checked, kind, "What the file is, such as scenario; null where it is unknown.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("ok", BOOL, report_checked, ok, "Whether it has no errors."),
    CONTRACT_AT("errors", INT64, report_checked, n_errors, "Errors of the file; findings has at most 20 of them."),
    CONTRACT_AT("findings", LIST, report_checked, findings, "Errors, warnings and notes.", .of = &diag_contract),
    CONTRACT_AT("assumed", LIST, report_checked, assumed, "What the input leaves open, as it was decided.", .of = &assumption_contract),
    CONTRACT_END,
};
static const struct contract_object file = { "file", file_rows };

static const struct contract_member rows[] = {
    CONTRACT_AT("files", LIST, report_check, files, "In the order of the command line.", .of = &file),
    CONTRACT_AT("errors", INT64, report_check, n_errors, "Errors of all files."),
    CONTRACT_AT("warnings", INT64, report_check, n_warnings, "Warnings of all files."),
    CONTRACT_END,
};
static const struct contract_object check = { "check", rows };

static const struct contract_member failure_rows[] = {
    CONTRACT_AT("command", TEXT, report_failure, command, "The command."),
    CONTRACT_AT("exit_code", INT32, report_failure, exit_code, "3, or 5 for a fault of smsim."),
    CONTRACT_AT("errors", LIST, report_failure, errors, "The first 20 errors.", .of = &diag_contract),
    CONTRACT_AT("errors_total", INT64, report_failure, n_errors, "How many there are."),
    CONTRACT_AT("warnings", LIST, report_failure, warnings, "What was warned of.", .of = &diag_contract),
    CONTRACT_END,
};
static const struct contract_object failure = { "failure", failure_rows };
/* clang-format on */

const struct contract report_check_contract = { "urn:smsim:check:1",
                                                "The result of smsim check --json",
                                                { &check } };
const struct contract report_failure_contract = {
    "urn:smsim:failure:1",
    "What --json gives where a command cannot give a result",
    { &failure }
};

json_t *report_checked_json(const struct report_checked *c)
{
    return contract_json(&file, c);
}
