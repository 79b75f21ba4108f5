/* The shipped GPUs, fabrics and instances against sums from datasheets, and clusters as
 * users write them, good and bad. */
#include "config/datadir.h"
#include "hardware/cluster.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_hardware_register(void);

static const struct cfg NOWHERE = { NULL, NULL, "" };

static void check_clean(const struct cfg_loader *loader)
{
    CU_ASSERT_EQUAL(loader->diags.n_errors, 0);
    CU_ASSERT_EQUAL(loader->diags.n_warnings, 0);
    diags_print_errors(&loader->diags, stderr);
}

/* A GPU known by its data sheet alone warns of that, once; no other warns. */
static void test_gpus_load(void)
{
    struct cfg_loader loader;
    int n = 0, by_rule = 0;

    cfg_loader_init(&loader);
    for (const char **p = datadir_list(&loader.arena, "topologies/gpus"); *p;
         p++, n++) {
        const struct gpu *gpu = gpu_get(&loader, *p, NOWHERE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(gpu);
        by_rule += gpu->by_rule && gpu->provenance_kind == PROVENANCE_INFERRED &&
                   gpu->gemm[DTYPE_FP16].eta > 0.4 && gpu->gemm[DTYPE_FP16].eta < 1.2;
    }
    CU_ASSERT(n >= 40);
    CU_ASSERT(by_rule >= 21);
    CU_ASSERT_EQUAL(loader.diags.n_warnings, by_rule);
    CU_ASSERT_EQUAL(loader.diags.n_errors, 0);
    cfg_loader_release(&loader);
}

static void test_files_load(void)
{
    struct cfg_loader loader;
    int n = 0;

    cfg_loader_init(&loader);
    for (const char **p = datadir_list(&loader.arena, "topologies/fabrics"); *p;
         p++, n++)
        CU_ASSERT_PTR_NOT_NULL(fabric_get(&loader, *p, NOWHERE));
    for (const char **p = datadir_list(&loader.arena, "topologies/instances"); *p;
         p++) {
        const struct instance *inst = instance_get(&loader, *p, NOWHERE);

        n++;
        CU_ASSERT_PTR_NOT_NULL_FATAL(inst);
        CU_ASSERT_PTR_NOT_NULL(inst->provenance);
        CU_ASSERT_STRING_EQUAL(inst->name, *p);
    }
    CU_ASSERT(n >= 50);
    check_clean(&loader);
    cfg_loader_release(&loader);
}

static void test_read_once(void)
{
    struct cfg_loader loader;
    const struct instance *a, *b;

    cfg_loader_init(&loader);
    a = instance_get(&loader, "p4d.24xlarge", NOWHERE);
    b = instance_get(&loader, "ml.p4d.24xlarge", NOWHERE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT_PTR_EQUAL(a, b);
    CU_ASSERT_PTR_EQUAL(a->gpu, gpu_get(&loader, "A100-SXM4-40GB", NOWHERE));
    CU_ASSERT_PTR_NULL(gpu_get(&loader, "A100", NOWHERE));
    CU_ASSERT_PTR_NULL(gpu_get(&loader, "A100", NOWHERE));
    CU_ASSERT_EQUAL(loader.diags.n_errors, 1); /* said once */
    cfg_loader_release(&loader);
}

/* Loaders that share another get its files, unless these give rise to reports: those
 * each makes itself. */
static void test_lent(void)
{
    struct cfg_loader files, loaders[2];
    const struct instance *inst[2];

    cfg_loader_init(&files);
    for (int i = 0; i < 2; i++) {
        cfg_loader_init(&loaders[i]);
        loaders[i].shared = &files;
        inst[i] = instance_get(&loaders[i], "ml.p4d.24xlarge", NOWHERE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(inst[i]);
        CU_ASSERT_PTR_NULL(loaders[i].docs); /* it has read nothing */
        CU_ASSERT_PTR_EQUAL(inst[i]->gpu,
                            gpu_get(&loaders[i], "A100-SXM4-40GB", NOWHERE));
        check_clean(&loaders[i]);
        CU_ASSERT_PTR_NULL(gpu_get(&loaders[i], "A100", NOWHERE));
        CU_ASSERT_PTR_NULL(gpu_get(&loaders[i], "A100", NOWHERE));
        CU_ASSERT_EQUAL(loaders[i].diags.n_errors, 1);
    }
    CU_ASSERT_PTR_EQUAL(inst[0], inst[1]);
    for (int i = 0; i < 2; i++)
        cfg_loader_release(&loaders[i]);
    CU_ASSERT_STRING_EQUAL(inst[0]->name, "p4d.24xlarge"); /* outlives them */
    cfg_loader_release(&files);
}

/* Datasheet totals, and what nvidia-smi shows. */
static const struct gpu_case {
    const char *name;
    int64_t memory_mib;
    double nvlink_GBps, fp16_tflops;
    bool bf16, fractional;
} gpu_cases[] = {
    { "V100-SXM2-16GB", 16160, 150, 125, false, false },
    { "V100-SXM2-32GB", 32510, 150, 125, false, false },
    { "A100-SXM4-40GB", 40536, 300, 312, true, false },
    { "A100-SXM4-80GB", 81251, 300, 312, true, false },
    { "H100-SXM5-80GB", 81559, 450, 989, true, true },
    { "H200-SXM-141GB", 143771, 450, 989, true, true },
    { "B200-SXM-180GB", 183359, 900, 2250, true, true },
    { "T4", 15109, 0, 65, false, false },
};

static void test_gpus(void)
{
    struct cfg_loader loader;

    cfg_loader_init(&loader);
    for (size_t i = 0; i < sizeof(gpu_cases) / sizeof(gpu_cases[0]); i++) {
        const struct gpu_case *k = &gpu_cases[i];
        const struct gpu *g = gpu_get(&loader, k->name, NOWHERE);

        CU_ASSERT_PTR_NOT_NULL_FATAL(g);
        CU_ASSERT_EQUAL(g->memory_B, k->memory_mib << 20);
        CU_ASSERT_DOUBLE_EQUAL((double)g->nvlink_links * g->nvlink_Bps,
                               k->nvlink_GBps * 1e9, 1);
        CU_ASSERT_DOUBLE_EQUAL(g->peak_flops[DTYPE_FP16], k->fp16_tflops * 1e12, 1e6);
        CU_ASSERT_EQUAL(g->peak_flops[DTYPE_BF16] > 0, k->bf16);
        CU_ASSERT_EQUAL(g->gemm[DTYPE_FP16].partial_waves > 0, k->fractional);
        for (int t = 0; t < DTYPE_N; t++)
            CU_ASSERT_EQUAL(g->peak_flops[t] > 0, g->gemm[t].eta > 0);
        /* misaligned batches go without tensor cores */
        CU_ASSERT_DOUBLE_EQUAL(g->gemm[DTYPE_FP16].misaligned_batch,
                               g->peak_flops[DTYPE_FP16] / g->peak_flops[DTYPE_FP32],
                               1e-9);
    }
    check_clean(&loader);
    cfg_loader_release(&loader);
}

/* A mesh GPU has all its links in use: six on eight GPUs and on Jean Zay's four. */
static void test_mesh_rows(void)
{
    static const struct {
        const char *name;
        int64_t row[4]; /* links of GPUs 0 to 3 */
    } cases[] = {
        { "p3.16xlarge", { 6, 6, 6, 6 } },        { "p3dn.24xlarge", { 6, 6, 6, 6 } },
        { "dgx-1v-16gb", { 6, 6, 6, 6 } },        { "p3.8xlarge", { 4, 4, 5, 5 } },
        { "v100-32gb-4gpu-opa", { 6, 6, 6, 6 } },
    };
    struct cfg_loader loader;

    cfg_loader_init(&loader);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        const struct instance *inst = instance_get(&loader, cases[k].name, NOWHERE);

        CU_ASSERT_PTR_NOT_NULL_FATAL(inst);
        for (int32_t i = 0; i < inst->n_gpus; i++) {
            int64_t sum = 0;

            for (int32_t j = 0; j < inst->n_gpus; j++)
                sum += instance_nvlinks(inst, i, j);
            CU_ASSERT_EQUAL(sum, cases[k].row[i % 4]);
        }
    }
    cfg_loader_release(&loader);
}

static void test_networks(void)
{
    static const struct {
        const char *name;
        double gbps;
    } cases[] = {
        { "p3.16xlarge", 25 },
        { "p3dn.24xlarge", 100 },
        { "p4d.24xlarge", 400 },
        { "p5.48xlarge", 3200 },
        { "p5en.48xlarge", 3200 },
        { "p6-b200.48xlarge", 3200 },
        { "g6e.48xlarge", 400 },
        { "dgx-1v-32gb", 400 },
        { "dgx-2h", 800 },
        { "selene", 1600 },
        { "dgx-h100", 3200 },
        { "a100-80gb-4x200", 800 },
        { "a100-80gb-4x100-opa", 400 },
    };
    struct cfg_loader loader;

    cfg_loader_init(&loader);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        const struct instance *inst = instance_get(&loader, cases[k].name, NOWHERE);

        CU_ASSERT_PTR_NOT_NULL_FATAL(inst);
        CU_ASSERT_DOUBLE_EQUAL(instance_network_Bps(inst), cases[k].gbps * 1e9 / 8, 1);
    }
    cfg_loader_release(&loader);
}

/* Every NIC is somebody's nearest, and none serves more GPUs than it must. */
static void test_nearest_nics(void)
{
    static const char *const names[] = { "p4d.24xlarge",  "p5.48xlarge",
                                         "dgx-a100-80gb", "dgx-2",
                                         "g6e.48xlarge",  "dgx-1v-16gb" };
    struct cfg_loader loader;

    cfg_loader_init(&loader);
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        const struct instance *inst = instance_get(&loader, names[k], NOWHERE);
        int served[INSTANCE_NICS_MAX] = { 0 };

        CU_ASSERT_PTR_NOT_NULL_FATAL(inst);
        for (int32_t g = 0; g < inst->n_gpus; g++)
            served[instance_nic_of_gpu(inst, g)]++;
        for (int32_t i = 0; i < inst->n_nics; i++)
            CU_ASSERT_EQUAL(served[i], inst->n_gpus / inst->n_nics);
    }
    cfg_loader_release(&loader);
}

static void test_prices(void)
{
    struct cfg_loader loader;
    const struct instance *inst;
    struct cluster c;
    const char *date, *missing = NULL;
    double usd;

    cfg_loader_init(&loader);
    inst = instance_get(&loader, "p4d.24xlarge", NOWHERE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(inst);
    CU_ASSERT_DOUBLE_EQUAL(instance_price_newest(inst, "ec2")->usd_per_hour, 21.957642,
                           1e-9);
    CU_ASSERT_STRING_EQUAL(instance_price_newest(inst, "ec2")->date, "2026-07-20");
    CU_ASSERT_PTR_NULL(instance_price_newest(inst, "azure"));

    CU_ASSERT_EQUAL(cluster_parse(&c, &loader, "ml.p3.16xlarge:2"), 0);
    CU_ASSERT(c.sagemaker && cluster_is_uniform(&c));
    CU_ASSERT_EQUAL(c.n_gpus, 16);
    CU_ASSERT_EQUAL(cluster_price(&c, &usd, &date, &missing), 0);
    CU_ASSERT_DOUBLE_EQUAL(usd, 2 * 28.152, 1e-9);
    CU_ASSERT_STRING_EQUAL(date, "2021-2025");

    CU_ASSERT_EQUAL(cluster_parse(&c, &loader, "selene"), 0);
    CU_ASSERT_EQUAL(cluster_price(&c, &usd, &date, &missing), -1);
    CU_ASSERT_STRING_EQUAL(missing, "selene");
    check_clean(&loader);
    cfg_loader_release(&loader);
}

static int read_text(struct cluster *c, struct cfg_loader *loader, const char *text)
{
    return cluster_read(c, loader, cfg_parse(loader, "t", text, strlen(text)));
}

static void test_good_clusters(void)
{
    struct cfg_loader loader;
    struct cluster c;

    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL(read_text(&c, &loader,
                              "{'instance': 'p4d.24xlarge', 'count': 3, "
                              "'gpus_per_instance': 4, 'fabric': 'efa-2021'}"),
                    0);
    CU_ASSERT_EQUAL(c.n_gpus, 12);
    CU_ASSERT_STRING_EQUAL(c.fabric->name, "efa-2021");
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 0);
    CU_ASSERT_EQUAL(read_text(&c, &loader,
                              "{'groups': [{'instance': 'p4d.24xlarge', 'count': 2}, "
                              "{'instance': 'p3.16xlarge'}]}"),
                    0);
    CU_ASSERT_EQUAL(c.n_instances, 3);
    CU_ASSERT_EQUAL(c.n_gpus, 24);
    CU_ASSERT_FALSE(cluster_is_uniform(&c));
    CU_ASSERT_STRING_EQUAL(c.fabric->name, "ena-tcp-25g");
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 1);
    CU_ASSERT_EQUAL(loader.diags.n_errors, 0);
    cfg_loader_release(&loader);
}

/* A machine of one's own: other GPUs bring their NVLinks, NICs are spread, no list price
 * is left. */
static void test_own_machines(void)
{
    struct cfg_loader loader;
    struct cluster c;
    const char *date, *missing;
    double usd;

    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(
        read_text(&c, &loader,
                  "{'like': 'dgx-h100', 'count': 4, 'gpu': 'B200-SXM-180GB', "
                  "'nics': '4 x 200Gb/s', 'fabric': 'infiniband-ndr'}"),
        0);
    const struct instance *own = c.groups[0].instance;
    CU_ASSERT_STRING_EQUAL(own->name, "like-dgx-h100");
    CU_ASSERT_STRING_EQUAL(own->gpu->name, "B200-SXM-180GB");
    CU_ASSERT_STRING_EQUAL(own->inside->name, "nvswitch-b200");
    CU_ASSERT_EQUAL(own->n_nics, 4);
    CU_ASSERT_DOUBLE_EQUAL(instance_network_Bps(own), 100e9, 1);
    CU_ASSERT(own->nic_of_gpu[0] != own->nic_of_gpu[7]);
    CU_ASSERT_EQUAL(c.n_gpus, 32);
    CU_ASSERT_EQUAL(cluster_price(&c, &usd, &date, &missing), -1);
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 1); /* what joins the GPUs is assumed */

    CU_ASSERT_EQUAL_FATAL(
        read_text(&c, &loader,
                  "{'instance': 'p5.48xlarge', 'count': 2, 'price': '60USD/h', "
                  "'network_bandwidth': 'x0.5'}"),
        0);
    CU_ASSERT_STRING_EQUAL(c.groups[0].instance->name, "p5.48xlarge");
    CU_ASSERT_DOUBLE_EQUAL(instance_network_Bps(c.groups[0].instance), 200e9, 1);
    CU_ASSERT_EQUAL(cluster_price(&c, &usd, &date, &missing), 0);
    CU_ASSERT_DOUBLE_EQUAL(usd, 120, 1e-9);
    CU_ASSERT_STRING_EQUAL(date, "/cluster/price");
    const double hot = c.groups[0].instance->gpu->gemm[DTYPE_BF16].sustained;

    /* (3.24): an eighth less power, clocks by its cube root; the price stays */
    CU_ASSERT_EQUAL_FATAL(
        read_text(&c, &loader, "{'instance': 'p5.48xlarge', 'power_limit': '612.5W'}"),
        0);
    const struct gpu *limited = c.groups[0].instance->gpu;
    CU_ASSERT_DOUBLE_EQUAL(limited->gemm[DTYPE_BF16].sustained / hot, cbrt(0.875),
                           1e-9);
    CU_ASSERT_DOUBLE_EQUAL(limited->limit_clock, cbrt(0.875), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(limited->tdp_w, 612.5, 1e-9);
    CU_ASSERT_EQUAL(cluster_price(&c, &usd, &date, &missing), 0);
    cfg_loader_release(&loader);

    cfg_loader_init(&loader); /* cards bring PCIe, or stay on what the machine has */
    CU_ASSERT_EQUAL_FATAL(read_text(&c, &loader,
                                    "{'like': 'dgx-h100', 'count': 4, "
                                    "'gpu': 'H100-PCIe-80GB'}"),
                          0);
    CU_ASSERT_STRING_EQUAL(c.groups[0].instance->inside->name, "pcie-gen5-host");
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 2); /* kernels by rule, PCIe */
    CU_ASSERT_EQUAL_FATAL(read_text(&c, &loader,
                                    "{'like': 'g4dn.12xlarge', 'count': 4, "
                                    "'gpu': 'RTX-4090'}"),
                          0);
    CU_ASSERT_STRING_EQUAL(c.groups[0].instance->inside->name, "pcie-gen3-host");
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 3);
    /* its own tensor cores over fp32, and a larger share of them for attention (3.23) */
    const struct gpu *card = c.groups[0].instance->gpu;
    CU_ASSERT_DOUBLE_EQUAL(card->gemm[DTYPE_BF16].misaligned_batch, 2, 0.01);
    CU_ASSERT_DOUBLE_EQUAL(card->flash_frac[GPU_FLASH_2][false], 0.69 * 2.65 / 2.52,
                           0.02);
    CU_ASSERT_EQUAL_FATAL(read_text(&c, &loader,
                                    "{'like': 'dgx-a100-80gb', 'count': 4, "
                                    "'gpu': 'H800-SXM5-80GB'}"),
                          0);
    CU_ASSERT_STRING_EQUAL(c.groups[0].instance->inside->name, "nvswitch-h100");
    cfg_loader_release(&loader);

    cfg_loader_init(&loader); /* bytes where bits are meant */
    CU_ASSERT_EQUAL_FATAL(
        read_text(&c, &loader,
                  "{'like': 'dgx-h100', 'count': 4, 'nics': '4 x 200GB/s', "
                  "'fabric': 'infiniband-ndr'}"),
        0);
    CU_ASSERT_DOUBLE_EQUAL(instance_network_Bps(c.groups[0].instance), 800e9, 1);
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 1);
    cfg_loader_release(&loader);

    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(
        read_text(&c, &loader,
                  "{'instance': 'p4d.24xlarge', 'count': 4, 'purchase': 'savings-3y'}"),
        0);
    CU_ASSERT_EQUAL(cluster_price(&c, &usd, &date, &missing), 0);
    CU_ASSERT_DOUBLE_EQUAL(usd, 4 * 11.57, 1e-9);
    CU_ASSERT_STRING_EQUAL(date, "2020-2024, savings-3y");
    cfg_loader_release(&loader);

    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(read_text(&c, &loader,
                                    "{'instance': 'p4d.24xlarge', 'price': '9USD/h', "
                                    "'purchase': 'spot'}"),
                          0);
    CU_ASSERT_EQUAL(cluster_price(&c, &usd, &date, &missing), 0);
    CU_ASSERT_DOUBLE_EQUAL(usd, 9, 1e-9);
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 1);
    cfg_loader_release(&loader);
}

/* Names as people and nvidia-smi write them; NICs likewise. */
static void test_spellings(void)
{
    static const struct {
        const char *asked, *gpu;
        int warnings;
    } gpus[] = {
        { "RTX-4090", "RTX-4090", 1 },
        { "rtx 4090", "RTX-4090", 1 },
        { "rtx3090", "RTX-3090", 1 },
        { "NVIDIA GeForce RTX 4090", "RTX-4090", 1 },
        { "Tesla T4", "T4", 0 },
        { "NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB", 0 },
        { "H200", "H200-SXM-141GB", 1 }, /* which of the generation is assumed */
        { "A100", NULL, 0 },
        { "NVIDIA", NULL, 0 },
    };
    static const struct {
        const char *nics;
        int n;
        double Gbps; /* of one */
    } nics[] = {
        { "10Gb/s", 1, 10 },    { "8x400Gbps", 8, 400 },
        { "4 x HDR", 4, 200 },  { "2 * 100GbE", 2, 100 },
        { "8 X 400G", 8, 400 }, { "2 \xc3\x97 25Gb/s", 2, 25 },
    };
    for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
        struct cfg_loader loader;
        struct cluster c;
        char text[200];
        snprintf(text, sizeof(text),
                 "{'like': 'dgx-h100', 'gpu': '%s', 'inside': 'pcie-gen5-host'}",
                 gpus[i].asked);
        cfg_loader_init(&loader);
        const bool found = read_text(&c, &loader, text) == 0;
        CU_ASSERT_EQUAL(found, gpus[i].gpu != NULL);
        if (found && gpus[i].gpu)
            CU_ASSERT_STRING_EQUAL(c.groups[0].instance->gpu->name, gpus[i].gpu);
        CU_ASSERT_EQUAL(loader.diags.n_warnings, gpus[i].warnings);
        cfg_loader_release(&loader);
    }
    for (size_t i = 0; i < sizeof(nics) / sizeof(nics[0]); i++) {
        struct cfg_loader loader;
        struct cluster c;
        char text[200];
        snprintf(text, sizeof(text),
                 "{'like': 'DGX H100', 'count': 2, 'nics': '%s', 'fabric': 'InfiniBand "
                 "NDR'}",
                 nics[i].nics);
        cfg_loader_init(&loader);
        CU_ASSERT_EQUAL_FATAL(read_text(&c, &loader, text), 0);
        CU_ASSERT_EQUAL(c.groups[0].instance->n_nics, nics[i].n);
        CU_ASSERT_DOUBLE_EQUAL(instance_network_Bps(c.groups[0].instance),
                               nics[i].n * nics[i].Gbps * 1e9 / 8, 1);
        cfg_loader_release(&loader);
    }
}

static const struct bad_case {
    const char *text, *error;
} bad_cases[] = {
    { "{'like': 'p5.48xlarge', 'gpus': 4}", "t:1:25: /gpus: \"gpus\" cannot be given "
                                            "here (write \"gpus_per_instance\" for how "
                                            "many are used)" },
    { "{'like': 'p5.48xlarge', 'gpu': 'H300'}",
      "t:1:32: /gpu: \"H300\" is not in topologies/gpus/ (smsim list gpus shows them; "
      "or give a file's path)" },
    { "{'instance': 'p5.48xlarge', 'count': 2, 'quality': 'tipical'}",
      "t:1:52: /quality: should be \"clean\", \"typical\" or the share of runs that "
      "have "
      "it better (0.9)" },
    { "{'instance': 'p5.48xlarge', 'count': 2, 'quality': 1.5}",
      "t:1:52: /quality: is a share of the runs between 0 and 1, of those that have it "
      "better (0.5 is \"typical\")" },
    { "{'instance': 'p4d.24xlarge', 'count': 2, 'quality': 'typical'}",
      "t:1:53: /quality: nothing was published of what groups really get of efa-2024 "
      "(write \"clean\", or give the fabric's file a \"quality\")" },
    { "{'instance': 'p4d.24xlarg'}", "t:1:14: /instance: \"p4d.24xlarg\" is not in "
                                     "topologies/instances/ (did you mean "
                                     "\"p4d.24xlarge\"?)" },
    { "{'instance': 'ml.trn1.32xlarge'}",
      "t:1:14: /instance: trn1.32xlarge is not simulated: AWS Trainium: smsim knows "
      "NVIDIA's GPUs alone" },
    { "{'instance': 'MI300X'}", "t:1:14: /instance: MI300X is not simulated: AMD "
                                "Instinct: smsim knows NVIDIA's GPUs alone" },
    { "{'instance': 'g6f.large'}",
      "t:1:14: /instance: g6f.large is not simulated: a fraction of an L4: shares of a "
      "GPU are not simulated; the whole one is g6" },
    { "{'count': 2}", "t:1:1: \"instance\" is missing (write {\"instance\": "
                      "\"ml.p4d.24xlarge\", \"count\": 2}, or of a machine of your "
                      "own \"like\": a known instance next to what differs)" },
    { "{'instance': 'p3.2xlarge', 'gpus_per_instance': 8}",
      "t:1:49: /gpus_per_instance: p3.2xlarge has 1 GPU (write 1 to 1)" },
    { "{'groups': [], 'fabric': 'efa-2024'}",
      "t:1:12: /groups: must be an array of 1 to 8 groups ({\"instance\", "
      "\"count\"})" },
    { "{'instance': 'p4d.24xlarge', 'groups': [{'instance': 'p4d.24xlarge'}]}",
      "t:1:2: /instance: describes the only group, and there are \"groups\" (move it "
      "into one of them, or leave it out)" },
    { "{'like': 'p5.48xlarge', 'instance': 'p5.48xlarge'}",
      "t:1:10: /like: give either \"instance\" or \"like\", not both (null leaves one "
      "out)" },
    { "{'like': 'ml.p5.48xlarge'}", "t:1:10: /like: a machine of one's own is none of "
                                    "SageMaker's (leave \"ml.\" out)" },
    { "{'instance': 'ml.p4d.24xlarge', 'purchase': 'savings-1y'}",
      "t:1:45: /purchase: no savings-1y price of ml.p4d.24xlarge is known (give yours "
      "in \"price\", or leave it out for the price on demand)" },
    { "{'instance': 'p4d.24xlarge', 'purchase': 'spot'}",
      "t:1:42: /purchase: no spot price of p4d.24xlarge is known (give yours in "
      "\"price\", or leave it out for the price on demand)" },
    { "{'like': 'p5.48xlarge', 'nics': '33 x 200Gb/s'}",
      "t:1:33: /nics: \"33 x 200Gb/s\" is no set of NICs (write 1 to 32 of one rate: "
      "\"4 x 200Gb/s\")" },
    { "{'like': 'p5.48xlarge', 'nics': '4 x 200Gib'}",
      "t:1:33: /nics: \"4 x 200Gib\" is no set of NICs (write 1 to 32 of one rate: "
      "\"4 x 200Gb/s\")" },
    { "{'instance': 'p5.48xlarge', 'network_bandwidth': 'x0'}",
      "t:1:50: /network_bandwidth: \"x0\" is no bandwidth (write all NICs' together, "
      "\"400Gb/s\", or a factor, \"x0.5\")" },
    { "{'instance': 'p5.48xlarge', 'power_limit': '800W'}",
      "t:1:44: /power_limit: H100-SXM5-80GB takes 700 W, which 800 W do not limit "
      "(leave it out)" },
    { "{'instance': 'p5.48xlarge', 'power_limit': '200W'}",
      "t:1:44: /power_limit: less than two fifths of the 700 W of H100-SXM5-80GB are "
      "not simulated (write at least 280 W)" },
    { "{'instance': 'p5.48xlarge', 'inside': 'efa-2024'}",
      "t:1:39: /inside: efa-2024 joins nodes, not the GPUs of one (that is "
      "\"fabric\")" },
    { "{'instance': 'p4d.24xlarge', 'fabric': 'nvswitch-a100'}",
      "t:1:40: /fabric: nvswitch-a100 joins the GPUs of a node, not nodes (write e.g. "
      "\"efa-2024\")" },
    { "{'groups': [{'instance': 'ml.p4d.24xlarge'}, {'instance': 'p3.16xlarge'}]}",
      "t:1:59: /groups/1/instance: either all instances begin with \"ml.\" or none" },
    { "{'groups': [{'instance': 'p4d.24xlarge', 'count': 1048576}, "
      "{'instance': 'p4d.24xlarge'}]}",
      "t:1:12: /groups: 1048577 instances are too many (at most 1048576)" },
};

/* Bounds, whose words are the reader's: only where and what is looked for. */
static const struct bad_case bad_counts[] = {
    { "{'instance': 'p4d.24xlarge', 'count': 0}", "t:1:39: /count: " },
    { "{'instance': 'p4d.24xlarge', 'count': -2}", "t:1:39: /count: " },
    { "{'instance': 'p4d.24xlarge', 'count': 1000000000000000000}",
      "t:1:39: /count: " },
    { "{'instance': 'p4d.24xlarge', 'count': '2'}", "t:1:39: /count: " },
    { "{'instance': 'p4d.24xlarge', 'gpus_per_instance': 17}",
      "t:1:51: /gpus_per_instance: " },
};

static void check_bad(const struct bad_case *k, bool whole)
{
    struct cfg_loader loader;
    struct cluster c;

    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL(read_text(&c, &loader, k->text), -1);
    CU_ASSERT_EQUAL_FATAL(loader.diags.n_errors, 1);

    const char *error = diags_error_text(&loader.diags, 0);
    const bool same = whole ? strcmp(error, k->error) == 0
                            : strncmp(error, k->error, strlen(k->error)) == 0;

    CU_ASSERT(same);
    if (!same)
        fprintf(stderr, "got  %s\nwant %s\n", error, k->error);
    cfg_loader_release(&loader);
}

/* Waits between nodes by the quality that the cluster names; bytes pass as they did. */
/* Collectives alone and those of steps, where the file has both. */
static void test_in_steps(void)
{
    struct cfg_loader loader;
    struct cluster c;
    cfg_loader_init(&loader);
    CU_ASSERT_FATAL(cluster_parse(&c, &loader, "dgx-a100-80gb:2") == 0);
    CU_ASSERT_DOUBLE_EQUAL(c.fabric->efficiency, 0.92, 1e-12);
    cluster_in_steps(&c, &loader);
    CU_ASSERT_DOUBLE_EQUAL(c.fabric->efficiency, 0.71, 1e-12);
    CU_ASSERT_FATAL(cluster_parse(&c, &loader, "dgx-h100:2") == 0);
    double before = c.fabric->efficiency;
    cluster_in_steps(&c, &loader);
    CU_ASSERT_EQUAL(c.fabric->efficiency, before);
    cfg_loader_release(&loader);
}

static void test_quality(void)
{
    static const char cluster[] = "{'instance': 'p5.48xlarge', 'count': %d%s}";
    static const struct {
        int count;
        const char *quality, *text;
    } cases[] = { { 8, "", "clean" },
                  { 8, ", 'quality': 'clean'", "clean" },
                  { 8, ", 'quality': 0.01", "0.01" },
                  { 2, ", 'quality': 'typical'", "typical" },
                  { 8, ", 'quality': 0.5", "0.5" },
                  { 64, ", 'quality': 'typical'", "typical" },
                  { 64, ", 'quality': 0.9", "0.9" } };
    double before = 1, step_s = 0, efficiency = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cfg_loader loader;
        struct cluster c;
        char text[128];
        cfg_loader_init(&loader);
        snprintf(text, sizeof(text), cluster, cases[i].count, cases[i].quality);
        CU_ASSERT_EQUAL_FATAL(read_text(&c, &loader, text), 0);
        const struct fabric *f = c.fabric;
        const struct fabric_protocol *simple = &f->proto[FABRIC_PROTO_SIMPLE];
        CU_ASSERT_STRING_EQUAL(f->state.text, cases[i].text);
        if (i == 0) {
            step_s = simple->step_s;
            efficiency = simple->efficiency;
        }
        CU_ASSERT_TRUE(i < 3 ? f->state.factor == 1 : f->state.factor > before);
        CU_ASSERT_DOUBLE_EQUAL(simple->step_s, step_s * f->state.factor, 1e-12);
        CU_ASSERT_EQUAL(simple->efficiency, efficiency);
        before = f->state.factor;
        cfg_loader_release(&loader);
    }
}

static void test_bad_clusters(void)
{
    for (size_t i = 0; i < sizeof(bad_cases) / sizeof(bad_cases[0]); i++)
        check_bad(&bad_cases[i], true);
    for (size_t i = 0; i < sizeof(bad_counts) / sizeof(bad_counts[0]); i++)
        check_bad(&bad_counts[i], false);
}

void test_hardware_register(void)
{
    CU_pSuite suite = CU_add_suite("hardware", NULL, NULL);

    CU_ADD_TEST(suite, test_gpus_load);
    CU_ADD_TEST(suite, test_files_load);
    CU_ADD_TEST(suite, test_read_once);
    CU_ADD_TEST(suite, test_lent);
    CU_ADD_TEST(suite, test_gpus);
    CU_ADD_TEST(suite, test_mesh_rows);
    CU_ADD_TEST(suite, test_networks);
    CU_ADD_TEST(suite, test_nearest_nics);
    CU_ADD_TEST(suite, test_prices);
    CU_ADD_TEST(suite, test_good_clusters);
    CU_ADD_TEST(suite, test_own_machines);
    CU_ADD_TEST(suite, test_spellings);
    CU_ADD_TEST(suite, test_quality);
    CU_ADD_TEST(suite, test_in_steps);
    CU_ADD_TEST(suite, test_bad_clusters);
}
