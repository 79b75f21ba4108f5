/* Machines imported from NCCL's XML and nvidia-smi: held to what we ship field by
 * field, read back after writing; and what is refused, with its place. */
#include "base/file.h"
#include "base/xmalloc.h"
#include "config/datadir.h"
#include "config/xml.h"
#include "hardware/import/nccl.h"
#include "hardware/import/smi.h"
#include "hardware/instance_write.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_import_register(void);

static const struct cfg NOWHERE = { NULL, NULL, "" };

typedef int import_fn(struct import *im, struct cfg_loader *loader, const char *file);

/* Writes an instance to a file of its own and reads that through the usual reader. */
static const struct instance *read_back(struct cfg_loader *loader,
                                        const struct instance *inst)
{
    struct strbuf text;
    char path[] = "/tmp/smsim-import-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    strbuf_init(&text);
    instance_write(&text, inst);
    CU_ASSERT_EQUAL(write(fd, strbuf_get(&text), text.len), (ssize_t)text.len);
    close(fd);
    const struct instance *back = instance_get(loader, path, NOWHERE);
    CU_ASSERT_PTR_NOT_NULL(back);
    diags_print_errors(&loader->diags, stderr);
    unlink(path);
    strbuf_release(&text);
    return back;
}

/* Imports tests/import/NAME, completes it, writes it and reads it back. */
static const struct instance *import_file(struct cfg_loader *loader, import_fn *fn,
                                          const char *name,
                                          const struct raw_import *words)
{
    struct import *im = ARENA_NEW(&loader->arena, struct import);
    struct instance *inst = ARENA_NEW(&loader->arena, struct instance);
    const char *file = arena_printf(&loader->arena, "%s/tests/import/%s",
                                    datadir_root(&loader->arena), name);
    int rc = fn(im, loader, file);
    CU_ASSERT_EQUAL(rc, 0);
    rc = rc ? rc : import_complete(inst, im, words, loader);
    CU_ASSERT_EQUAL(rc, 0);
    diags_print_errors(&loader->diags, stderr);
    return rc ? NULL : read_back(loader, inst);
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * fabs(b);
}

static void check_wiring(const struct instance *a, const struct instance *b)
{
    CU_ASSERT_EQUAL(a->n_gpus, b->n_gpus);
    CU_ASSERT_EQUAL(a->n_numa, b->n_numa);
    CU_ASSERT_EQUAL(a->n_pcie, b->n_pcie);
    CU_ASSERT(near(a->pcie_Bps, b->pcie_Bps));
    CU_ASSERT(near(a->pcie_uplink_Bps, b->pcie_uplink_Bps));
    for (int i = 0; i < b->n_pcie; i++)
        CU_ASSERT_EQUAL(a->pcie_numa[i], b->pcie_numa[i]);
    for (int i = 0; i < b->n_gpus; i++) {
        CU_ASSERT_EQUAL(a->gpu_pcie[i], b->gpu_pcie[i]);
        CU_ASSERT_EQUAL(a->gpu_numa[i], b->gpu_numa[i]);
        CU_ASSERT_EQUAL(instance_nic_of_gpu(a, i), instance_nic_of_gpu(b, i));
        for (int j = 0; j < b->n_gpus; j++)
            CU_ASSERT_EQUAL(instance_nvlinks(a, i, j), instance_nvlinks(b, i, j));
    }
    CU_ASSERT_EQUAL_FATAL(a->n_nics, b->n_nics);
    for (int i = 0; i < b->n_nics; i++) {
        CU_ASSERT(near(a->nics[i].line_Bps, b->nics[i].line_Bps));
        CU_ASSERT_EQUAL(a->nics[i].rails, b->nics[i].rails);
        CU_ASSERT_EQUAL(a->nics[i].pcie, b->nics[i].pcie);
        CU_ASSERT_EQUAL(a->nics[i].numa, b->nics[i].numa);
    }
}

static void check_host(const struct instance *a, const struct instance *b)
{
    CU_ASSERT_STRING_EQUAL(a->gpu->name, b->gpu->name);
    CU_ASSERT_STRING_EQUAL(a->inside->name, b->inside->name);
    CU_ASSERT_EQUAL(a->outside == NULL, b->outside == NULL);
    if (a->outside && b->outside)
        CU_ASSERT_STRING_EQUAL(a->outside->name, b->outside->name);
    CU_ASSERT_EQUAL(a->vcpus, b->vcpus);
    CU_ASSERT_EQUAL(a->host_memory_B, b->host_memory_B);
    CU_ASSERT(near(a->host_pinned_Bps, b->host_pinned_Bps));
    CU_ASSERT(near(a->host_pageable_Bps, b->host_pageable_Bps));
    CU_ASSERT(near(a->host_memory_Bps, b->host_memory_Bps));
    CU_ASSERT(near(a->socket_Bps, b->socket_Bps));
    CU_ASSERT(near(a->storage_Bps, b->storage_Bps));
}

/* --- writing -------------------------------------------------------------------- */

static void test_write_shipped(void)
{
    struct cfg_loader loader;
    int n = 0;
    cfg_loader_init(&loader);
    const char **names = datadir_list(&loader.arena, "topologies/instances");
    for (; names[n]; n++) {
        const struct instance *inst = instance_get(&loader, names[n], NOWHERE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(inst);
        const struct instance *back = read_back(&loader, inst);
        CU_ASSERT_PTR_NOT_NULL_FATAL(back);
        check_wiring(back, inst);
        check_host(back, inst);
        CU_ASSERT_EQUAL(back->n_prices, inst->n_prices);
        CU_ASSERT_STRING_EQUAL(back->summary, inst->summary);
        CU_ASSERT_STRING_EQUAL(back->provenance, inst->provenance);
    }
    CU_ASSERT(n > 30);
    CU_ASSERT_EQUAL(loader.diags.n_errors, 0);
    cfg_loader_release(&loader);
}

/* --- what is imported ------------------------------------------------------------ */

/* Each file, the shipped instance it must come out as, and what the user adds. */
static const struct {
    import_fn *fn;
    const char *file, *shipped;
    struct raw_import words;
} imports[] = {
    { import_nccl, "p4d.xml", "p4d.24xlarge", { NULL } },
    { import_nccl, "p4d.xml", "p4de.24xlarge", { .gpu = "A100-SXM4-80GB" } },
    { import_nccl, "g5.xml", "g5.48xlarge", { .like = "g5.48xlarge" } },
    { import_nccl, "dgx1v.xml", "dgx-1v-32gb", { NULL } },
    { import_smi, "p4d.txt", "p4d.24xlarge", { NULL } },
};

static void test_as_shipped(void)
{
    for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++) {
        struct cfg_loader loader;
        cfg_loader_init(&loader);
        const struct instance *want =
            instance_get(&loader, imports[i].shipped, NOWHERE);
        const struct instance *got =
            import_file(&loader, imports[i].fn, imports[i].file, &imports[i].words);
        CU_ASSERT_PTR_NOT_NULL_FATAL(want);
        CU_ASSERT_PTR_NOT_NULL_FATAL(got);
        check_wiring(got, want);
        check_host(got, want);
        CU_ASSERT_EQUAL(got->n_prices, 0); /* nobody sells it */
        cfg_loader_release(&loader);
    }
}

/* The switches of AWS's file have a narrower uplink than what we ship, and its four
 * rails a GPU become one NIC. */
static void test_p5(void)
{
    struct cfg_loader loader;
    struct raw_import words = { NULL };
    cfg_loader_init(&loader);
    const struct instance *p5 = import_file(&loader, import_nccl, "p5.xml", &words);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p5);
    CU_ASSERT_STRING_EQUAL(p5->gpu->name, "H100-SXM5-80GB");
    CU_ASSERT_EQUAL(p5->n_nics, 8);
    CU_ASSERT(near(instance_network_Bps(p5), 400e9));
    CU_ASSERT(near(p5->pcie_Bps, 63e9));
    CU_ASSERT(near(p5->pcie_uplink_Bps, 31.5e9));
    for (int i = 0; i < 8; i++) {
        CU_ASSERT_EQUAL(p5->nics[i].rails, 4);
        CU_ASSERT_EQUAL(instance_nic_of_gpu(p5, i), i);
    }
    cfg_loader_release(&loader);
}

/* The cube mesh of a DGX-1V, and its NICs in the order of the text. */
static void test_dgx1(void)
{
    static const uint8_t mesh[8][8] = {
        { 0, 1, 1, 2, 2, 0, 0, 0 }, { 1, 0, 2, 1, 0, 2, 0, 0 },
        { 1, 2, 0, 2, 0, 0, 1, 0 }, { 2, 1, 2, 0, 0, 0, 0, 1 },
        { 2, 0, 0, 0, 0, 1, 1, 2 }, { 0, 2, 0, 0, 1, 0, 2, 1 },
        { 0, 0, 1, 0, 1, 2, 0, 2 }, { 0, 0, 0, 1, 2, 1, 2, 0 },
    };
    static const int nic_switch[4] = { 0, 2, 1, 3 }; /* mlx5_0, _2, _1, _3 */
    struct cfg_loader loader;
    struct raw_import words = { .name = "one \"DGX\"" };
    cfg_loader_init(&loader);
    const struct instance *got = import_file(&loader, import_smi, "dgx1v.txt", &words);
    CU_ASSERT_PTR_NOT_NULL_FATAL(got);
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++)
            CU_ASSERT_EQUAL(got->nvlinks[i][j], mesh[i][j]);
        CU_ASSERT_EQUAL(got->gpu_pcie[i], i / 2);
        CU_ASSERT_EQUAL(got->gpu_numa[i], i / 4);
    }
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(got->nics[i].pcie, nic_switch[i]);
    CU_ASSERT_EQUAL(got->vcpus, 80);
    CU_ASSERT_STRING_EQUAL(got->inside->name, "nvlink2-cube-mesh");
    CU_ASSERT_EQUAL(strncmp(got->summary, "one \"DGX\": 8 x V100", 19), 0);
    cfg_loader_release(&loader);
}

/* What names of devices in nvidia-smi's text say of the network. */
static void test_networks(void)
{
    static const struct {
        const char *file;
        int network;
    } rows[] = { { "dgx1v.txt", IMPORT_INFINIBAND }, /* mlx5 */
                 { "p4d.txt", IMPORT_ETHERNET },     /* rdmap */
                 { "pair.txt", IMPORT_ANY_NETWORK } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cfg_loader loader;
        cfg_loader_init(&loader);
        struct import *im = ARENA_NEW(&loader.arena, struct import);
        const char *file = arena_printf(&loader.arena, "%s/tests/import/%s",
                                        datadir_root(&loader.arena), rows[i].file);
        CU_ASSERT_EQUAL(import_smi(im, &loader, file), 0);
        CU_ASSERT_EQUAL((int)im->network, rows[i].network);
        cfg_loader_release(&loader);
    }
}

/* Bridges in bridges are one switch, whose narrowest inner link is the GPU's; NUMA
 * nodes are numbered by their ids; a NIC may have two ports, or hang on the root. */
static void test_nested(void)
{
    struct cfg_loader loader;
    struct raw_import words = { NULL };
    cfg_loader_init(&loader);
    const struct instance *got =
        import_file(&loader, import_nccl, "nested.xml", &words);
    CU_ASSERT_PTR_NOT_NULL_FATAL(got);
    CU_ASSERT_EQUAL(got->inside->kind, FABRIC_NVSWITCH);
    CU_ASSERT_EQUAL(got->n_pcie, 1);
    CU_ASSERT_EQUAL(got->gpu_pcie[0], 0);
    CU_ASSERT_EQUAL(got->gpu_pcie[1], -1);
    CU_ASSERT_EQUAL(got->gpu_numa[0], 1);
    CU_ASSERT_EQUAL(got->gpu_numa[1], 0);
    CU_ASSERT(near(got->pcie_Bps, 15.75e9));
    CU_ASSERT(near(got->pcie_uplink_Bps, 31.5e9));
    CU_ASSERT_EQUAL(got->n_nics, 3);
    CU_ASSERT_EQUAL(got->nics[1].pcie, 0);
    CU_ASSERT_EQUAL(got->nics[2].pcie, -1);
    CU_ASSERT(near(got->nics[2].line_Bps, 1.25e9));
    cfg_loader_release(&loader);
}

/* --- what is refused ------------------------------------------------------------- */

/* The error of importing a text, after the file's name; NULL when it was taken. */
static char *error_of(import_fn *fn, const char *text, size_t len)
{
    char path[] = "/tmp/smsim-import-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(write(fd, text, len), (ssize_t)len);
    close(fd);
    struct cfg_loader loader;
    struct import im;
    struct instance inst;
    struct raw_import words = { NULL };
    cfg_loader_init(&loader);
    int rc = fn(&im, &loader, path);
    rc = rc ? rc : import_complete(&inst, &im, &words, &loader);
    CU_ASSERT_EQUAL(rc != 0, loader.diags.n_errors > 0);
    CU_ASSERT(loader.diags.n_errors <= 1);
    char *error = NULL;
    if (loader.diags.n_errors > 0) {
        CU_ASSERT_EQUAL(strncmp(diags_error_text(&loader.diags, 0), path, strlen(path)),
                        0);
        error = xstrdup(diags_error_text(&loader.diags, 0) + strlen(path));
    }
    cfg_loader_release(&loader);
    unlink(path);
    return error;
}

static void check_error(import_fn *fn, const char *text, const char *begins)
{
    char *error = error_of(fn, text, strlen(text));
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    if (strncmp(error, begins, strlen(begins)) != 0) {
        fprintf(stderr, "\ngot  %s\nwant %s\n", error, begins);
        CU_FAIL("another error");
    }
    free(error);
}

#define GPU_PCI "<pci busid='0000:01:00.0' class='0x030200' vendor='0x10de'>"
#define CPU "<system><cpu numaid='0'>"

static void test_bad_xml(void)
{
    static const char *const cases[][2] = {
        { "", ":1:1: not XML: no element found" },
        { "GPU0 X", ":1:1: not XML: " },
        { "<system>\n <cpu numaid='0'>\n",
          ":3:1: the file is cut off: <cpu> of line 2" },
        { "<system>\n<cpu numaid='0'></system>", ":2:19: not XML: mismatched tag" },
        { "<topology/>", ":1:1: <topology> is no topology of NCCL" },
        { "<graphs/>", ":1:1: this is NCCL's graph file" },
        { "<!DOCTYPE topology SYSTEM 'hwloc2.dtd'>\n<topology/>", ":1:1: a DOCTYPE" },
        { "<!DOCTYPE lol [<!ENTITY a 'b'><!ENTITY c '&a;&a;'>]><system>&c;</system>",
          ":1:1: a DOCTYPE (\"lol\") is not taken" },
        { "<system>&a;</system>", ":1:9: not XML: undefined entity" },
        { "<system/>", ":1:1: no GPU in it" },
        { "<system>\n <cpu/></system>", ":2:2: <cpu> has no numaid" },
        { "<system><cpu numaid='-7'/></system>", ":1:9: numaid=\"-7\" of <cpu>" },
        { CPU "<pci class='0x030200'/></cpu></system>", ":1:25: <pci> has no busid" },
        { CPU GPU_PCI "<gpu dev='-1' sm='80'/></pci></cpu></system>",
          ":1:84: dev=\"-1\"" },
        { CPU GPU_PCI "<gpu dev='0' sm='x'/></pci></cpu></system>", ":1:84: sm=\"x\"" },
        { CPU GPU_PCI "<gpu dev='0' sm='1000000000000000000000'/></pci></cpu></system>",
          ":1:84: sm=" },
        { CPU GPU_PCI "<gpu dev='0'><nvlink count='-2' target='a' tclass='0x068000'/>"
                      "</gpu></pci></cpu></system>",
          ":1:97: count=\"-2\"" },
        { CPU GPU_PCI "<gpu dev='0'><nvlink count='2' tclass='0x068000'/>"
                      "</gpu></pci></cpu></system>",
          ":1:97: <nvlink> has no target" },
        { CPU GPU_PCI "<gpu dev='0'><nvlink count='2' target='0000:01:00.0' "
                      "tclass='0x030200'/></gpu></pci></cpu></system>",
          ":1:97: a GPU with NVLinks to itself" },
        { CPU GPU_PCI "</pci>\n" GPU_PCI "</pci></cpu></system>",
          ":2:1: busid 0000:01:00.0 is there twice" },
        { CPU "<pci busid='1' class='0x030200' link_speed='-8 GT/s' link_width='16'/>"
              "</cpu></system>",
          ":1:25: link_speed=\"-8 GT/s\" is none" },
        { CPU "<pci busid='1' class='0x030200' link_width='-16'/></cpu></system>",
          ":1:25: link_width=\"-16\"" },
        { CPU "<nic><net speed='-1'/></nic></cpu></system>", ":1:30: speed=\"-1\"" },
        { CPU "<pci busid='1' class='0x038000' vendor='0x1002'/></cpu></system>",
          ":1:25: an AMD GPU" },
        { CPU "<pci busid='1' class='0x038000' vendor='0x1d94'>"
              "<gpu dev='0' sm='90' gcn='906'/></pci></cpu></system>",
          ":1:25: an AMD GPU" },
        { "<system><cpu numaid='0' host_hash='1'/><cpu numaid='1' host_hash='2'/>"
          "</system>",
          ":1:40: a second machine" },
        { "<system><cpu numaid='0' a='\xff'/></system>", ":1:28: not a text file" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_error(import_nccl, cases[i][0], cases[i][1]);
}

/* `n` times `each` between two texts. */
static char *repeat(const char *before, const char *each, int n, const char *after)
{
    struct strbuf b;
    strbuf_init(&b);
    strbuf_addstr(&b, before);
    for (int i = 0; i < n; i++)
        strbuf_addstr(&b, each);
    strbuf_addstr(&b, after);
    char *s = xstrdup(strbuf_get(&b));
    strbuf_release(&b);
    return s;
}

static void test_huge_xml(void)
{
    static const struct {
        const char *before, *each;
        int n;
        const char *after, *begins;
    } cases[] = {
        { "<system>", "<a/>", 1000000, "</system>", ":1:65541: more than 16384 elem" },
        { "<system>", "<a>", 100000, "", ":1:198: elements are nested more than 64" },
        { "<system a='", "x", 5000, "'/>", ":1:1: an attribute is longer than 1024" },
        { "<system>", "<!-- padding -->", 400000, "</system>", ": " },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = repeat(cases[i].before, cases[i].each, cases[i].n, cases[i].after);
        check_error(import_nccl, text, cases[i].begins);
        free(text);
    }
    struct strbuf b;
    strbuf_init(&b);
    strbuf_addstr(&b, "<system>\n<cpu numaid='0'>\n");
    for (int i = 0; i < 17; i++)
        strbuf_printf(&b, "<pci busid='%d' class='0x030200'/>\n", i);
    strbuf_addstr(&b, "</cpu></system>");
    check_error(import_nccl, strbuf_get(&b), ":19:1: more than 16 GPUs");
    strbuf_release(&b);
}

static void test_bad_smi(void)
{
    static const char *const cases[][2] = {
        { "", ":1:1: no matrix of \"nvidia-smi topo -m\"" },
        { "==== ROCm System Management Interface ====\n", ":1:6: AMD's GPUs" },
        { "  GPU0 GPU1\nGPU0 X NV1\n", ":3:1: here the row of GPU1 should begin" },
        { "  GPU0 GPU1\nGPU0 X NV1\nGPU1 NV1", ":3:9: the row ends before the column" },
        { "  GPU0 GPU1\nGPU0 X NV1\nGPU1 NV2 X\n",
          ":3:6: NV2 here, but NV1 the other" },
        { "  GPU0 GPU1\nGPU0 X NV-1\nGPU1 NV-1 X\n", ":2:8: \"NV-1\" is none of X" },
        { "  GPU0 GPU1\nGPU0 X NV999\nGPU1 NV1 X\n", ":2:8: \"NV999\" is none of X" },
        { "  GPU0 GPU1\nGPU0 SYS X\nGPU1 X SYS\n", ":2:6: X marks the device" },
        { "  GPU0 GPU2\nGPU0 X NV1\n", ":1:8: found GPU2 where GPU1 should be" },
        { "  GPU0 GPU1\nGPU0 X XGMI\nGPU1 XGMI X\n", ":2:8: AMD's GPUs" },
        { "  GPU0 nic0\nGPU0 X NV1\nnic0 NV1 X\n", ":2:8: NVLinks join GPUs" },
        { "  GPU0 GPU1\nGPU0 X \xfe\n", ":2:8: not a text file" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_error(import_smi, cases[i][0], cases[i][1]);
    struct strbuf b;
    strbuf_init(&b);
    for (int i = 0; i < 17; i++)
        strbuf_printf(&b, " GPU%d", i);
    check_error(import_smi, strbuf_get(&b), ":1:88: more than 16 GPUs");
    strbuf_release(&b);
}

/* Every beginning of a good file is refused, whatever the byte at which it is cut. */
static void test_cut(void)
{
    static const struct {
        import_fn *fn;
        const char *file;
        const char *last; /* what ends the part that is needed */
    } files[] = {
        { import_nccl, "p4d.xml", "</system>" },
        { import_smi, "dgx1v.txt", "\n\nLegend" },
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct arena arena;
        struct err err = { 0 };
        size_t len;
        arena_init(&arena);
        char *text = file_read(arena_printf(&arena, "%s/tests/import/%s",
                                            datadir_root(&arena), files[i].file),
                               1 << 20, &len, &err);
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        const char *last = strstr(text, files[i].last);
        CU_ASSERT_PTR_NOT_NULL_FATAL(last);
        for (size_t n = 0; n + 8 < (size_t)(last - text); n += 7) {
            char *error = error_of(files[i].fn, text, n);
            CU_ASSERT_PTR_NOT_NULL(error);
            free(error);
        }
        free(text);
        arena_release(&arena);
    }
}

void test_import_register(void)
{
    CU_pSuite s = CU_add_suite("import", NULL, NULL);
    CU_ADD_TEST(s, test_write_shipped);
    CU_ADD_TEST(s, test_as_shipped);
    CU_ADD_TEST(s, test_p5);
    CU_ADD_TEST(s, test_dgx1);
    CU_ADD_TEST(s, test_networks);
    CU_ADD_TEST(s, test_nested);
    CU_ADD_TEST(s, test_bad_xml);
    CU_ADD_TEST(s, test_huge_xml);
    CU_ADD_TEST(s, test_bad_smi);
    CU_ADD_TEST(s, test_cut);
}
