/* What was found of a device's attention as a file of topologies/attention. */
#include "calibrate/calibration.h"
#include "calibrate/set_file.h"

#include <string.h>

static json_t *row_json(const struct attention *a)
{
    json_t *row = json_object();
    json_object_set_new(row, "software", json_string(a->software));
    if (a->kernel)
        json_object_set_new(row, "kernel", json_string(a->kernel));
    set_file_put(row, "products", a->product_flops, 1e12, "TFLOP/s");
    set_file_put(row, "softmax", a->softmax_s, 1e-9, "ns");
    json_object_set_new(row, "tail", json_real(a->tail));
    if (a->half_blocks)
        json_object_set_new(row, "half_blocks", json_integer(a->half_blocks));
    set_file_put(row, "start", a->start_s, 1e-6, "us");
    set_file_put(row, "moved", a->moved_Bps, 1e9, "GB/s");
    set_file_put(row, "keys", a->keys_Bps, 1e9, "GB/s");
    set_file_put(row, "block", a->block_s, 1e-6, "us");
    set_file_put(row, "token", a->token_s, 1e-9, "ns");
    return row;
}

json_t *calibration_attentions_file(const struct calibration *c,
                                    const struct samples *s)
{
    struct set_file f;
    set_file_begin(&f, s, c->attentions.v[0].set.device, " from 1024 tokens");
    for (int64_t i = 0; i < c->attentions.n; i++) {
        const struct calibration_attention *p = &c->attentions.v[i];
        if (p->set.why)
            continue;
        set_file_add(&f, row_json(&p->attention));
        set_file_errors(&f, p->attention.software, &p->set.errors);
    }
    return set_file_end(&f, "attentions");
}
