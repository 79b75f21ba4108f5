/* Whatever bytes come as a rank's Chakra trace, it is refused with a message, or replayed
 * to a finite step. Two ranks have the same bytes. Build it with clang's fuzzer, or with
 * -DFUZZ_ALONE (fuzz_alone.h). */
#include "base/err.h"
#include "replay/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cfg_loader loader;
    struct cluster c;
    struct chakra_trace t = { 0 };
    struct replay_result r;
    struct err err = { 0 };
    cfg_loader_init(&loader);
    require(cluster_parse(&c, &loader, "p3.2xlarge:2") == 0);
    int rc = 0;
    for (int i = 0; i < 2 && rc == 0; i++)
        rc = chakra_trace_add(&t, "rank.et", (const char *)data, size, &err);
    rc = rc || chakra_trace_check(&t, &err) || replay_run(&r, &t, &c, NULL, &err);
    require((rc != 0) == err.set);
    require(rc || (isfinite(r.step_s) && r.step_s >= 0));
    chakra_trace_release(&t);
    cfg_loader_release(&loader);
    return 0;
}

#ifdef FUZZ_ALONE
#include "fuzz_alone.h"

/* Metadata; a node of 7 us, an all-reduce of 4 KiB after it. */
static const char *const seeds[] = {
    "\x07\x0a\x05"
    "0.0.4\x08\x08\x01\x12\x01"
    "a\x18\x04\x38\x07"
    "\x2a\x08\x02\x12\x01"
    "r\x18\x07\x2a\x01\x01\x52\x0e\x0a\x09"
    "comm_size\x48\x80\x20\x52\x0d\x0a\x09"
    "comm_type\x48\x07",
    "\x07\x0a\x05"
    "0.0.4\x08\x08\x02\x12\x01"
    "b\x18\x05\x38\x09",
};
static const char *const words[] = {
    "\x52\x0d\x0a\x09"
    "comm_type\x48",
    "comm_src",
    "comm_dst",
    "comm_tag",
    "comm_size",
    "pg_name",
    "is_cpu_op",
    "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    "\x2a\x01",
    "\x18\x05",
    "\x18\x06",
    "\x18\x07",
    "\x38",
    "\x80\x80\x80\x80\x80\x80\x01",
};

FUZZ_MAIN(seeds, words, NULL)
#endif
