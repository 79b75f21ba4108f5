/* Whatever bytes come as a trace of PyTorch's profiler, in pieces, reading ends, times
 * are finite and not negative, and what is kept is bounded and has no control
 * characters. Build it with clang's fuzzer, or with -DFUZZ_ALONE (fuzz_alone.h). */
#include "base/plain.h"
#include "kineto/kineto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void require_plain(const char *text)
{
    require(plain_length(text, false) == strlen(text));
}

static void require_step(const struct kineto_step *s)
{
    const double times[] = { s->step_s,         s->compute_s, s->comm_s, s->exposed_s,
                             s->copy_exposed_s, s->idle_s,    s->host_s, s->loading_s };
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        require(isfinite(times[i]) && times[i] >= -1e-12);
    double sum = s->compute_s + s->exposed_s + s->copy_exposed_s + s->idle_s;
    require(fabs(sum - s->step_s) <= 1e-6 * (1 + s->step_s));
}

static void check(const struct kineto_rank *r)
{
    require_plain(r->device);
    require_plain(r->nccl);
    require(r->comms.n <= KINETO_COMMS_MAX && r->products.n <= KINETO_PRODUCTS_MAX);
    require_step(&r->mean);
    for (int64_t i = 0; i < r->steps.n; i++)
        require_step(&r->steps.v[i]);
    for (int64_t i = 0; i < r->comms.n; i++) {
        require_plain(r->comms.v[i].of);
        require(isfinite(r->comms.v[i].size_B) && r->comms.v[i].group >= 0);
    }
    for (int i = 0; i < KERNEL_CLASSES; i++)
        require(isfinite(r->class_s[i]) && r->class_n[i] >= 0);
    for (int64_t i = 0; i < r->products.n; i++)
        require(r->products.v[i].m > 0 && r->products.v[i].count > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kineto *k = kineto_new();
    struct kineto_rank r;
    size_t piece = size ? 1 + data[0] : 1;
    kineto_is((const char *)data, size);
    for (size_t at = 0; at < size; at += piece)
        kineto_feed(k, (const char *)data + at, size - at < piece ? size - at : piece);
    kineto_end(k, &r);
    check(&r);
    kineto_rank_release(&r);
    kineto_free(k);
    return 0;
}

#ifdef FUZZ_ALONE
#include "fuzz_alone.h"

static const char *const seeds[] = {
    "{\"schemaVersion\":1,\"deviceProperties\":[{\"name\":\"H100\"}],"
    "\"distributedInfo\":{\"rank\":1,\"world_size\":8,\"nccl_version\":\"2\"},"
    "\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":"
    "\"ProfilerStep#1\",\"ts\":1,\"dur\":90},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"
    "\"gemm\",\"ts\":5,\"dur\":30,\"args\":{\"External "
    "id\":3,\"device\":0,\"stream\":7,"
    "\"correlation\":4}},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"ts\":"
    "1,\"dur\":1,\"tid\":3,\"args\":{\"External id\":3,\"Input Dims\":[[4,5],[5,6]]}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"ts\":20,"
    "\"dur\":30,\"args\":{\"In msg nelems\":99,\"dtype\":\"Half\",\"Group size\":8}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":2,"
    "\"dur\":1,\"tid\":3,\"args\":{\"correlation\":4}},{\"ph\":\"X\",\"cat\":"
    "\"user_annotation\",\"name\":\"ProfilerStep#2\",\"ts\":91,\"dur\":90}]}",
    "[{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"Memcpy HtoD\",\"ts\":0.5,\"dur\":0},"
    "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"ProfilerStep#7\",\"ts\":"
    "1e2,\"dur\":90},{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":"
    "\"ProfilerStep#8\",\"ts\":200,\"dur\":1e12}]",
};
static const char *const words[] = {
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u001b",
    "\033[2J",
    "nan",
    "-1",
    "1e308",
    "4e15",
    "1e12",
    "0",
    "99999999999999999999",
    "\"ts\":",
    "\"dur\":",
    "\"args\":{",
    "\"cat\":\"kernel\"",
    "\"traceEvents\":[",
    "ProfilerStep#",
    "Optimizer.step",
    "nccl",
    "\xff",
    "\n",
};

FUZZ_MAIN(seeds, words, NULL)
#endif
