/* The result of simulate as JSON: the step, and what lies beyond it; any tree as a
 * file. */
#include "base/file.h"
#include "report/report.h"
#include "simulate/result_json.h"

const struct contract report_simulate_contract = {
    RESULT_SCHEMA,
    "The result of smsim simulate --json",
    { &result_contract, &campaign_contract }
};

json_t *report_step_json(const struct scenario *s, const struct simulate_result *r,
                         const struct campaign_result *beyond)
{
    const struct campaign_result none = { .input = { .given = false } };
    json_t *result = result_json(s, r);
    campaign_json(result, beyond ? beyond : &none);
    return result;
}

int report_json_write(const json_t *tree, const char *path, struct err *err)
{
    struct file_out out;
    if (file_out_open(&out, path, err))
        return -1;
    json_dumpf(tree, out.stream, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    fputc('\n', out.stream);
    return file_out_commit(&out, err);
}
