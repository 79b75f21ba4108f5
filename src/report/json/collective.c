#include "report/collective.h"

#include "config/diag.h"
#include "run/coll_run.h"

/* clang-format off */
static const struct contract_member row_rows[] = {
    CONTRACT_AT("size_bytes", INT64, report_collective_row, size_B, "The size, as nccl-tests has it."),
    CONTRACT_AT("time_s", REAL, report_collective_row, time_s, "From the first rank's start to the last one's end.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("algbw_Bps", REAL, report_collective_row, algbw_Bps, "Size over time.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("busbw_Bps", REAL, report_collective_row, busbw_Bps, "Bus bandwidth, as nccl-tests has it.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("algorithm", NAME, report_collective_row, algorithm, "What ran.", .names = coll_algorithm_names),
    CONTRACT_AT("protocol", TEXT, report_collective_row, protocol, "NCCL's protocol."),
    CONTRACT_END,
};
static const struct contract_object row = { "row", row_rows };

static const struct contract_member rows[] = {
    CONTRACT_AT("cluster", TEXT, report_collective, cluster, "The instances, as --cluster has them."),
    CONTRACT_AT("quality", TEXT, report_collective, quality, "What groups over nodes get of the network, as a scenario's has it; null of one node.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("op", NAME, report_collective, op, "The operation.", .names = coll_op_names),
    CONTRACT_AT("algorithm", NAME, report_collective, algorithm, "What --algorithm asked for; auto without it.", .names = coll_algorithm_names),
    CONTRACT_AT("network", NAME, report_collective, network, "The fidelity of the network.", .names = fidelity_names),
    CONTRACT_AT("ranks", INT64, report_collective, ranks, "Ranks of the group."),
    CONTRACT_AT("rows", LIST, report_collective, rows, "One for each size.", .of = &row),
    CONTRACT_AT("warnings", LIST, report_collective, warnings, "What was warned of.", .of = &diag_contract),
    CONTRACT_END,
};
static const struct contract_object result = { "result", rows };
/* clang-format on */
const struct contract report_collective_contract = {
    "urn:smsim:collective:1", "The result of smsim collective --json", { &result }
};

json_t *report_collective_row_json(const struct report_collective_row *r)
{
    return contract_json(&row, r);
}
