/* What commands write, as JSON Schemas. */
#include "report/bandwidth.h"
#include "report/check.h"
#include "report/collective.h"
#include "report/compare.h"
#include "report/difference.h"
#include "report/doctor.h"
#include "report/model_report.h"
#include "report/pilot.h"
#include "report/plan_report.h"
#include "report/replay_report.h"
#include "report/report.h"
#include "schema/reference.h"
#include "sweep/sweep_point.h"

#include <string.h>

const struct contract *const result_contracts[] = {
    &report_bandwidth_contract,
    &report_check_contract,
    &report_collective_contract,
    &report_differences_contract,
    &report_doctor_contract,
    &report_failure_contract,
    &report_compare_contract,
    &report_model_contract,
    &report_pilot_contract,
    &report_plan_contract,
    &report_replay_contract,
    &report_simulate_contract,
    &sweep_point_contract,
    &report_validate_contract,
    NULL,
};

size_t result_name(const struct contract *c, const char **name)
{
    *name = strchr(c->urn, ':') + 1; /* "urn:smsim:plan:1" */
    *name = strchr(*name, ':') + 1;
    return strcspn(*name, ":");
}

json_t *result_schema(const char *name)
{
    for (int i = 0; result_contracts[i]; i++) {
        const char *own;
        size_t n = result_name(result_contracts[i], &own);
        if (strlen(name) == n && strncmp(name, own, n) == 0)
            return contract_schema(result_contracts[i]);
    }
    return NULL;
}
