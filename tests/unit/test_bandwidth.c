/* Logs of nccl-tests against the prediction: the cluster as described, and with faults
 * whose times are written as a log. */
#include "doctor/bandwidth.h"
#include "hardware/net/net.h"
#include "logs/variables.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_bandwidth_register(void);

/* Times of a collective on a cluster whose NICs carry a share, over a fabric. */
static void measure(struct samples *s, const char *spec, const char *fabric,
                    double nics, double slower)
{
    struct cluster c;
    struct err err = { 0 };
    struct arena arena;
    arena_init(&arena);
    CU_ASSERT_EQUAL_FATAL(cluster_parse(&c, s->loader, spec), 0);
    if (fabric)
        c.fabric = fabric_get(s->loader, fabric,
                              cfg_from_tree(s->loader, "test", json_string(fabric)));
    struct instance copy = *c.groups[0].instance;
    for (int32_t i = 0; i < copy.n_nics; i++)
        copy.nics[i].line_Bps *= nics;
    c.groups[0].instance = &copy;
    struct net *net = net_new(&c, true, &err);
    struct coll_group group = coll_group_world(&c);
    for (double size = 1024; size <= 0x1p30; size *= 4) {
        const struct coll_request request = { .op = COLL_ALL_REDUCE,
                                              .protocol = -1,
                                              .size_B = size,
                                              .groups = &group,
                                              .n_groups = 1 };
        struct coll_plan plan;
        CU_ASSERT_EQUAL_FATAL(coll_plan_make(&plan, &arena, net, &request, &err), 0);
        const struct sample_coll k = { COLL_ALL_REDUCE,
                                       c.n_gpus,
                                       c.n_instances,
                                       size,
                                       slower * coll_plan_time_s(&plan, net),
                                       0 };
        VEC_PUSH(&s->colls, k);
    }
    net_free(net);
    arena_release(&arena);
}

static void test_shapes(void)
{
    static const struct {
        const char *spec, *fabric;
        double nics, slower;
        const char *first; /* a part of its text */
        bool normal;
    } cases[] = {
        { "p4d.24xlarge:2", NULL, 1, 1, "as described", true },
        { "p4d.24xlarge:2", NULL, 1, 1.15, "as described", true },
        { "p5.48xlarge:4", NULL, 1, 1, "as described", true },
        { "p5.48xlarge:4", NULL, 0.5, 1, "half of the NICs", false },
        { "p4d.24xlarge:2", NULL, 0.25, 1.1, "a quarter", false },
        { "p5.48xlarge:4", "ena-tcp-25g", 1, 1, "sockets", false },
        { "p5.48xlarge", NULL, 1, 1.1, "as described", true },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct samples s;
        struct samples_hints hints = { .op = -1 };
        struct bandwidth b;
        struct cluster c;
        struct err err = { 0 };
        const struct bandwidth_ask ask = { .cluster = &c, .op = COLL_ALL_REDUCE },
                                   other = { .cluster = &c, .op = COLL_ALLTOALL };
        cfg_loader_init(&loader);
        samples_init(&s, &loader, &hints);
        measure(&s, cases[i].spec, cases[i].fabric, cases[i].nics, cases[i].slower);
        CU_ASSERT_EQUAL_FATAL(cluster_parse(&c, &loader, cases[i].spec), 0);
        CU_ASSERT_EQUAL_FATAL(bandwidth_judge(&b, &loader, &ask, &s, &err), 0);
        CU_ASSERT_EQUAL(b.rows.n, 11);
        CU_ASSERT_EQUAL(b.n_slower == 0, cases[i].normal);
        CU_ASSERT_PTR_NOT_NULL(strstr(b.fits[0].text, cases[i].first));
        if (!strstr(b.fits[0].text, cases[i].first))
            printf("%zu: %s\n", i, b.fits[0].text);
        bandwidth_release(&b);
        CU_ASSERT_EQUAL(bandwidth_judge(&b, &loader, &other, &s, &err), -1);
        bandwidth_release(&b);
        samples_release(&s);
        cfg_loader_release(&loader);
    }
}

/* Times that no shape has, and one GPU of each node. */
static void test_unknown(void)
{
    static const char *const texts[] = { "nothing known", "as described" };
    for (int i = 0; i < 2; i++) {
        struct cfg_loader loader;
        struct samples s;
        struct samples_hints hints = { .op = -1 };
        struct bandwidth b;
        struct cluster c;
        struct err err = { 0 };
        struct coll_group one;
        cfg_loader_init(&loader);
        samples_init(&s, &loader, &hints);
        CU_ASSERT_EQUAL_FATAL(cluster_parse(&c, &loader, "p4d.24xlarge:3"), 0);
        one = coll_group_world(&c);
        one.spans[0].n_gpus = i ? 1 : one.spans[0].n_gpus;
        for (int k = 0; k < 2; k++) { /* fast at 16 MiB, and at a crawl from there */
            struct sample_coll row = { .op = COLL_ALL_REDUCE,
                                       .n_ranks = i ? 3 : 24,
                                       .bytes = k ? 0x1p29 : 0x1p24,
                                       .time_s = i ? (k ? 0.064 : 2.3e-3)
                                                   : (k ? 0.8 : 1.5e-3) };
            VEC_PUSH(&s.colls, row);
        }
        const struct bandwidth_ask ask = { .cluster = &c,
                                           .group = &one,
                                           .op = COLL_ALL_REDUCE };
        CU_ASSERT_EQUAL_FATAL(bandwidth_judge(&b, &loader, &ask, &s, &err), 0);
        CU_ASSERT_STRING_EQUAL(b.fits[0].text, texts[i]);
        CU_ASSERT_EQUAL(isnan(b.fits[0].error) != 0, i == 0);
        bandwidth_release(&b);
        samples_release(&s);
        cfg_loader_release(&loader);
    }
}

/* Equal times, which several causes explain: NCCL's own lines decide. */
static void test_words(void)
{
    static const struct {
        struct logs_nccl said;
        const char *first;
        bool seen;
        struct logs_variable set; /* in the environment */
    } cases[] = {
        { { 0 }, "half of the NICs", true, { "NCCL_IB_HCA", "mlx5_0" } },
        { { 0 }, "no GPUDirect", true, { "NCCL_NET_GDR_LEVEL", "0" } },
        { { 0 }, "half of the NICs", false, { "", "" } },
        { { .n_lines = 1 }, "half of the NICs", false, { "", "" } },
        { { .n_lines = 9, .n_gdr_off = 8 }, "no GPUDirect", true, { "", "" } },
        { { .n_lines = 9, .via = { [LOGS_NET_IB] = 4 } },
          "no GPUDirect",
          true,
          { "", "" } },
        { { .n_lines = 9, .via = { [LOGS_NET_IB] = 4 }, .received_gdr = 4 },
          "sends through host memory",
          true,
          { "", "" } },
        { { .n_lines = 9, .via = { [LOGS_NET_IB] = 4 }, .via_gdr = 4, .nics = 4 },
          "half of the NICs",
          true,
          { "", "" } },
        { { .n_lines = 9, .via = { [LOGS_NET_IB] = 4 }, .via_gdr = 4, .nics = 8 },
          "half of the NICs",
          false,
          { "", "" } },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct samples s;
        struct samples_hints hints = { .op = -1 };
        struct bandwidth b;
        struct cluster c;
        struct err err = { 0 };
        const struct logs_variables set = { cases[i].set.name[0] ? 1 : 0,
                                            { cases[i].set } };
        const struct bandwidth_ask ask = { .cluster = &c,
                                           .op = COLL_ALL_REDUCE,
                                           .said = &cases[i].said,
                                           .variables = &set };
        cfg_loader_init(&loader);
        samples_init(&s, &loader, &hints);
        measure(&s, "dgx-h100:4", NULL, 0.5, 1);
        CU_ASSERT_EQUAL_FATAL(cluster_parse(&c, &loader, "dgx-h100:4"), 0);
        CU_ASSERT_EQUAL_FATAL(bandwidth_judge(&b, &loader, &ask, &s, &err), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(b.fits[0].text, cases[i].first));
        CU_ASSERT_EQUAL(b.fits[0].seen != NULL, cases[i].seen);
        bandwidth_release(&b);
        samples_release(&s);
        cfg_loader_release(&loader);
    }
}

/* Small sizes of one thread with eight GPUs take what its launches take. */
static void test_one_thread(void)
{
    for (int64_t launched = 0; launched <= 8; launched += 8) {
        struct cfg_loader loader;
        struct samples s;
        struct samples_hints hints = { .op = -1 };
        struct bandwidth b;
        struct cluster c;
        struct err err = { 0 };
        const struct bandwidth_ask ask = { .cluster = &c, .op = COLL_ALL_REDUCE };
        cfg_loader_init(&loader);
        samples_init(&s, &loader, &hints);
        CU_ASSERT_EQUAL_FATAL(cluster_parse(&c, &loader, "p4d.24xlarge"), 0);
        const struct sample_coll row = { COLL_ALL_REDUCE, 8, 1, 1024, 38e-6, launched };
        VEC_PUSH(&s.colls, row);
        CU_ASSERT_EQUAL_FATAL(bandwidth_judge(&b, &loader, &ask, &s, &err), 0);
        CU_ASSERT_EQUAL(b.n_slower, launched ? 0 : 1);
        bandwidth_release(&b);
        samples_release(&s);
        cfg_loader_release(&loader);
    }
}

void test_bandwidth_register(void)
{
    CU_pSuite s = CU_add_suite("bandwidth", NULL, NULL);
    CU_add_test(s, "shapes", test_shapes);
    CU_add_test(s, "unknown", test_unknown);
    CU_add_test(s, "GPUs of one thread", test_one_thread);
    CU_add_test(s, "what NCCL says of itself", test_words);
}
