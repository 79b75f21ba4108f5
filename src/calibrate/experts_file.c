/* What was found of a device's experts as a file of topologies/experts. */
#include "calibrate/calibration.h"
#include "calibrate/set_file.h"

#include <string.h>

static json_t *row_json(const struct experts_kernel *k)
{
    json_t *row = json_object();
    json_object_set_new(row, "software", json_string(k->software));
    json_object_set_new(row, "format", json_string(k->format->name));
    set_file_put_real(row, "eta", k->eta);
    set_file_put(row, "port", k->port_Bps, 1e9, "GB/s");
    set_file_put_real(row, "hbm_frac", k->hbm_frac);
    set_file_put_real(row, "epilogue", k->epilogue);
    set_file_put_real(row, "partial_waves", k->partial_waves);
    set_file_put(row, "start", k->start_s, 1e-6, "us");
    set_file_put_real(row, "local_passes", k->local_passes);
    set_file_put_real(row, "all_passes", k->all_passes);
    set_file_put(row, "slot", k->slot_s, 1e-9, "ns");
    set_file_put(row, "expert", k->expert_s, 1e-9, "ns");
    set_file_put_real(row, "foreign", k->foreign);
    return row;
}

json_t *calibration_experts_file(const struct calibration *c, const struct samples *s)
{
    struct set_file f;
    set_file_begin(&f, s, c->experts.v[0].set.device, " from 1024 tokens");
    for (int64_t i = 0; i < c->experts.n; i++) {
        const struct calibration_experts *p = &c->experts.v[i];
        if (p->set.why)
            continue;
        set_file_add(&f, row_json(&p->kernel));
        set_file_errors(
            &f,
            arena_printf(c->arena, "%s %s", p->kernel.software, p->kernel.format->name),
            &p->set.errors);
    }
    return set_file_end(&f, "experts");
}
