/* What was found of a device's dispatch and combine as a file of topologies/transfers. */
#include "calibrate/calibration.h"
#include "calibrate/set_file.h"

#include <string.h>

static json_t *row_json(const struct transfer *t)
{
    json_t *row = json_object();
    json_object_set_new(row, "software", json_string(t->software));
    json_object_set_new(row, "of", json_string(names_of(transfer_kind_names, t->kind)));
    set_file_put(row, "start", t->start_s, 1e-6, "us");
    set_file_put(row, "token", t->token_s, 1e-6, "us");
    set_file_put(row, "token_rate", t->token_Bps, 1e9, "GB/s");
    set_file_put(row, "copy", t->copy_s, 1e-6, "us");
    set_file_put(row, "copy_rate", t->copy_Bps, 1e9, "GB/s");
    set_file_put(row, "rate", t->rate_Bps, 1e9, "GB/s");
    return row;
}

json_t *calibration_transfers_file(const struct calibration *c, const struct samples *s)
{
    struct set_file f;
    set_file_begin(&f, s, c->transfers.v[0].set.device, "");
    for (int64_t i = 0; i < c->transfers.n; i++) {
        const struct calibration_transfer *p = &c->transfers.v[i];
        if (p->set.why)
            continue;
        set_file_add(&f, row_json(&p->transfer));
        set_file_errors(&f, names_of(transfer_kind_names, p->transfer.kind),
                        &p->set.errors);
    }
    return set_file_end(&f, "transfers");
}
