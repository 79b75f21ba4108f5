/* Notebooks as their cells, Kubernetes' manifests as what their containers run, documents
 * that no dialect has; each up to the scenario, with the places of what is wrong. */
#include "dialect/launch/launch.h"
#include "dialect/source/manifest.h"
#include "dialect/source/notebook.h"
#include "dialect/source/yaml.h"

#include <CUnit/CUnit.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_documents_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* --- notebooks -------------------------------------------------------------------- */

static const char cells[] =
    "{\"cells\": [\n"
    "{\"cell_type\": \"markdown\", \"source\": \"x = 1\"},\n"
    "{\"cell_type\": \"code\", \"source\": [\"!pip install a\\n\", \"n = 2\\n\",\n"
    "  \"%env TP=4\\n\", \"if n:\\n\", \"    !python t.py --n {n} \\\\\\n\",\n"
    "  \"      --m ${x} {\\\"a\\\": 1}\\n\", \"print('%s' % n)\"]},\n"
    "{\"cell_type\": \"code\", \"source\": \"%%bash\\ntorchrun train.py --a 1\\n\"},\n"
    "{\"cell_type\": \"code\", \"source\": \"\\n%%writefile -a d/ds.json\\n{\\\"a\\\": "
    "1}\"},\n"
    "{\"cell_type\": \"code\", \"source\": \"%%html\\n<b>\"},\n"
    "{\"cell_type\": \"code\", \"source\": \"%%time\\ny = 3\\n%run s.py --k\"}\n"
    "]}";

static void test_cells(void)
{
    struct cfg_loader loader;
    struct notebook nb;
    int64_t cell, within;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "a.ipynb", cells, strlen(cells));
    CU_ASSERT_EQUAL_FATAL(notebook_read(&nb, root), 0);
    CU_ASSERT_STRING_EQUAL(nb.python,
                           "In [2]:\n!pip install a\nn = 2\n%env TP=4\nif n:\n"
                           "    !python t.py --n {n} \\\n      --m ${x} {\"a\": 1}\n"
                           "print('%s' % n)\nIn [3]:\n\n\nIn [4]:\n\n\n\nIn [5]:\n\n\n"
                           "In [6]:\n%%time\ny = 3\n%run s.py --k\n");
    CU_ASSERT_STRING_EQUAL(nb.shell,
                           "\n\n\nexport TP=4\n\npython t.py --n ${n} \\\n --m ${x} "
                           "{\"a\": 1}\n\n\n\ntorchrun train.py --a "
                           "1\n\n\n\n\n\n\n\n\n\n\npython s.py --k\n");
    CU_ASSERT_EQUAL_FATAL(nb.files.n, 1);
    CU_ASSERT_STRING_EQUAL(nb.files.v[0].name, "d/ds.json");
    CU_ASSERT_STRING_EQUAL(nb.files.v[0].text, "{\"a\": 1}");
    CU_ASSERT_PTR_NOT_NULL(source_files_find(nb.files.v, nb.files.n, "ds.json"));
    CU_ASSERT_TRUE(notebook_place(&nb, nb.files.v[0].line, &cell, &within));
    CU_ASSERT_EQUAL(cell, 4);
    CU_ASSERT_EQUAL(within, 3);
    CU_ASSERT_TRUE(notebook_place(&nb, 21, &cell, &within));
    CU_ASSERT_EQUAL(cell, 6);
    CU_ASSERT_EQUAL(within, 2);
    CU_ASSERT_FALSE(notebook_place(&nb, 1, &cell, &within));
    notebook_release(&nb);
    cfg_loader_release(&loader);
}

/* --- up to the scenario ----------------------------------------------------------- */

/* A value of the scenario as JSON, or the first error, with its place. */
static void load(const char *name, const char *text, const char *pointer, char *out,
                 size_t size)
{
    struct cfg_loader loader;
    struct launch l = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = launch_load_text(&l, &loader, name, text);
    const char *key = strrchr(pointer, '/') + 1;
    char section[40] = "";
    snprintf(section, sizeof(section), "%.*s",
             (int)(key - pointer - 2 > 0 ? key - pointer - 2 : 0), pointer + 1);
    json_t *of = *section ? json_object_get(root.json, section) : root.json;
    char *shown = json_dumps(json_object_get(of, key), JSON_ENCODE_ANY);
    launch_place(&l);
    snprintf(out, size, "%s",
             shown                   ? shown
             : loader.diags.n_errors ? diags_error_text(&loader.diags, 0)
                                     : "none");
    free(shown);
    launch_release(&l);
    cfg_loader_release(&loader);
}

static void check(const char *name, const char *text, const char *pointer,
                  const char *expected)
{
    char out[600];
    load(name, text, pointer, out, sizeof(out));
    if (strcmp(out, expected) != 0)
        printf("\n%s %s\ngives    %s\ninstead  %s\n", name, pointer, out, expected);
    CU_ASSERT_STRING_EQUAL(out, expected);
}

#define ESTIMATOR                                                                 \
    "{\"cells\": [{\"cell_type\": \"code\", \"source\": \"%%writefile ds.json\\n" \
    "{\\\"zero_optimization\\\": {\\\"stage\\\": 2}}\"},"                         \
    "{\"cell_type\": \"code\", \"source\": \"h = {'deepspeed': 'ds.json', "       \
    "'max_seq_length': 384}\\ne = HuggingFace(instance_type='ml.p4d.24xlarge', "  \
    "instance_count=n, hyperparameters=h)\"}]}"

static void test_notebook_scenario(void)
{
    static const char shell[] =
        "{\"cells\": [{\"cell_type\": \"code\", \"source\": \"a = 1\"},{\"cell_type\": "
        "\"code\", \"source\": \"%env TP=4\\n!torchrun --nproc_per_node 8 "
        "pretrain_gpt.py "
        "\\\\\\n --num-layers 24 --hidden-size 1024 --num-attention-heads 16 "
        "--seq-length "
        "{s} --max-position-embeddings 512 --micro-batch-size 2 "
        "--tensor-model-parallel-size $TP\"}]}";
    check("a.ipynb", ESTIMATOR, "/cluster/instance", "\"ml.p4d.24xlarge\"");
    check("a.ipynb", ESTIMATOR, "/parallelism/library", "\"deepspeed\"");
    check("a.ipynb", shell, "/parallelism/tensor", "4");
    check("a.ipynb", shell, "/cluster/gpus_per_instance", "8");
    check("a.ipynb", shell, "/training/sequence_length", "none"); /* {s}: Python's */
    check("a.ipynb", "{\"cells\": [{\"cell_type\": \"code\", \"source\": \"a = 1\"}]}",
          "/cluster/count",
          "a.ipynb: it has no estimator, trainer, loop or configuration that is read "
          "(smsim help dialects lists them; give a launch script)");
    check(
        "a.ipynb", "{\"a\": 1}", "/cluster/count",
        "a.ipynb:1:1: is no notebook: it has no list \"cells\" (save it from Jupyter)");
    check("a.ipynb", "{\"cells\": [}", "/cluster/count",
          "a.ipynb:1:12: \"}\" closes what \"[\" opened (write \"]\")");
}

/* --- manifests -------------------------------------------------------------------- */

#define MEGATRON                                                                   \
    "pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 " \
    "--seq-length 512 --max-position-embeddings 512 --micro-batch-size 2"
#define POD(command) \
    "{containers: [{name: c, " command ", resources: {limits: {nvidia.com/gpu: 4}}}]}"
#define HEAD(kind) "apiVersion: v1\nkind: " kind "\nmetadata: {name: j}\n"

static const struct {
    const char *text, *pointer, *expected;
} manifests[] = {
    { HEAD("PyTorchJob") "spec:\n  pytorchReplicaSpecs:\n    Worker:\n      replicas: "
                         "3\n      template:\n "
                         "       spec: " POD("command: [bash, -c, 'torchrun " MEGATRON
                                             " --lr $LR']") "\n",
      "/cluster/count", "3" },
    { HEAD("PyTorchJob") "spec:\n  pytorchReplicaSpecs:\n    Worker:\n      replicas: "
                         "3\n      template:\n "
                         "       spec: " POD("command: [bash, -c, 'torchrun " MEGATRON
                                             "']") "\n",
      "/cluster/gpus_per_instance", "4" },
    { HEAD(
          "PyTorchJob") "spec:\n  pytorchReplicaSpecs:\n    Worker:\n      replicas: "
                        "3\n      template:\n "
                        "       spec: " POD(
                            "command: [bash, -c, 'torchrun --nproc_per_node=2 " MEGATRON
                            "']") "\n",
      "/cluster/gpus_per_instance", "2" },
    { HEAD("MPIJob") "spec:\n  mpiReplicaSpecs:\n    Launcher:\n      template: {spec: "
                     "{containers: "
                     "[{command: [mpirun, -np, '16', -N, '8', python, pretrain_gpt.py, "
                     "--num-layers, "
                     "'24', --hidden-size, '1024', --num-attention-heads, '16']}]}}\n  "
                     "  Worker:\n      "
                     "replicas: 2\n      template: {spec: {containers: [{resources: "
                     "{limits: "
                     "{nvidia.com/gpu: 8}}}]}}\n",
      "/cluster/count", "2" },
    { HEAD(
          "Job") "spec:\n  parallelism: 4\n  template:\n    spec:\n      nodeSelector: "
                 "{node.kubernetes.io/instance-type: p4d.24xlarge}\n      containers: "
                 "[{command: [bash, -c, 'torchrun " MEGATRON
                 "'], resources: {limits: {nvidia.com/gpu: '8'}}}]\n",
      "/cluster/instance", "\"p4d.24xlarge\"" },
    { HEAD("TrainJob") "spec: {trainer: {numNodes: 5, command: [bash, -c, "
                       "'torchrun " MEGATRON
                       "'], resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}}\n",
      "/cluster/count", "5" },
    { HEAD(
          "PyTorchJob") "spec:\n  pytorchReplicaSpecs:\n    Worker:\n      replicas: "
                        "$NUM_NODES\n      template:\n        spec: " POD(
                            "command: [torchrun, --nnodes=$NUM_NODES, pretrain_gpt.py, "
                            "--num-layers, '24', --hidden-size, '1024', "
                            "--num-attention-heads, '16']") "\n",
      "/cluster/count", "none" },
    { HEAD(
          "PyTorchJob") "spec:\n  pytorchReplicaSpecs:\n    Worker:\n      replicas: "
                        "'${N}'\n      template:\n        spec: " POD(
                            "command: [python, pretrain_gpt.py, --num-layers, '24', "
                            "--hidden-size, '1024', --num-attention-heads, '16']") "\n",
      "/cluster/count", "none" },
    { HEAD("ConfigMap") "data: {}\n---\n" HEAD("Pod") "spec: " POD(
          "env: [{name: TP, value: '2'}], command: [bash, -c, 'torchrun " MEGATRON
          " --tensor-model-parallel-size $TP']") "\n",
      "/parallelism/tensor", "2" },
    { HEAD("Pod") "spec:\n  containers:\n  - command: [python, train.py]\n    "
                  "resources: "
                  "{limits: {amd.com/gpu: 8}}\n",
      "/cluster/count",
      "j.yaml:6: the container asks for amd.com/gpu, which is not simulated (give a "
      "job on "
      "NVIDIA's GPUs)" },
    { HEAD("RayJob") "spec:\n  entrypoint: torchrun " MEGATRON
                     " --lr 1\n  rayClusterSpec:\n    workerGroupSpecs:\n    - "
                     "replicas: 6\n      template: {spec: {containers: [{name: w, "
                     "resources: {limits: {nvidia.com/gpu: 8}}}]}}\n",
      "/cluster/count", "6" },
    { HEAD(
          "Job") "spec:\n  template:\n    spec:\n      nodeSelector: "
                 "{node.kubernetes.io/instance-type: trn1.32xlarge}\n      containers: "
                 "[{command: [bash, -c, 'torchrun " MEGATRON "']}]\n",
      "/cluster/count",
      "j.yaml:8: trn1.32xlarge is not simulated: AWS Trainium: smsim knows NVIDIA's "
      "GPUs "
      "alone (give --set /cluster/instance=NAME)" },
    { "num_nodes: 3\nresources: {accelerators: 'A100:8'}\nrun: |\n  torchrun "
      "--nnodes=$SKYPILOT_NUM_NODES "
      "--nproc_per_node=${SKYPILOT_NUM_GPUS_PER_NODE} " MEGATRON "\n",
      "/cluster/gpus_per_instance", "8" },
    { "resources: {accelerators: {'tpu-v5e-8': 1}}\nrun: python train.py\n",
      "/cluster/count",
      "j.yaml:2: tpu-v5e-8 is not simulated: TPU: smsim knows NVIDIA's GPUs alone "
      "(give "
      "--set /cluster/instance=NAME)" },
    { "type: task\nnodes: 2\ncommands:\n- torchrun --nnodes=$DSTACK_NODES_NUM "
      "--nproc-per-node=$DSTACK_GPUS_PER_NODE " MEGATRON
      " ${{ run.args }}\nresources: {gpu: {name: H100, count: 4}}\n",
      "/cluster/gpus_per_instance", "4" },
    { "type: task\nnodes: 2\ncommands:\n- torchrun --nnodes=$DSTACK_NODES_NUM " MEGATRON
      "\nresources: {gpu: '1..8'}\n",
      "/cluster/count", "2" },
    { "type: task\ncommands: [python train.py]\nresources: {gpu: MI300X}\n",
      "/cluster/count",
      "j.yaml:2: MI300X is not simulated: AMD Instinct: smsim knows NVIDIA's GPUs "
      "alone "
      "(give --set /cluster/instance=NAME)" },
    { HEAD("Pod") "spec:\n  containers:\n  - image: x\n", "/cluster/count",
      "j.yaml:6: the container of this Pod has no command (give its training script "
      "instead)" },
};

static void test_manifests(void)
{
    for (size_t i = 0; i < COUNT(manifests); i++)
        check("j.yaml", manifests[i].text, manifests[i].pointer, manifests[i].expected);
}

/* Each word is on its line, Kubernetes' $(NAME) is the shell's. */
static void test_manifest_text(void)
{
    static const char text[] = HEAD(
        "Job") "spec:\n  template:\n    spec:\n      containers:\n      - command:\n   "
               "     - torchrun\n        - --nnodes=$(N)\n        - a b\n        "
               "args:\n "
               "       - $x\n        - \"it's\"\n";
    struct arena arena;
    struct err err = { 0 };
    struct yaml y;
    struct manifest m;
    arena_init(&arena);
    CU_ASSERT_EQUAL_FATAL(yaml_read(&y, &arena, text, strlen(text), &err), 0);
    manifest_read(&m, &arena, y.documents.v, y.documents.n);
    CU_ASSERT_STRING_EQUAL(m.shell,
                           "\n\n\n\n\n\n\n\n\"torchrun\" \\\n\"--nnodes=${N}\" "
                           "\\\n\"a b\" \\\n\\\n\"$x\" \\\n\"it's\"\n");
    CU_ASSERT_EQUAL(m.pods.n, 1);
    manifest_release(&m);
    yaml_release(&y);
    arena_release(&arena);
}

/* --- other documents -------------------------------------------------------------- */

static void test_documents(void)
{
    check("a.yaml", "what: ever\n", "/cluster/count",
          "a.yaml: no dialect has these keys (smsim help dialects; a document of a "
          "program's "
          "own is read with the program that is given it)");
    check("a.toml", "what = 1\n", "/cluster/count",
          "a.toml: no dialect has these keys (smsim help dialects; a document of a "
          "program's "
          "own is read with the program that is given it)");
    check("a.yml", "a: [1\nb: 2\n", "/cluster/count",
          "a.yml:3:1: it is no YAML: flow sequence without a closing bracket");
    check(
        "a.toml", "a = \n", "/cluster/count",
        "a.toml:1:5: a value is missing here (give a number, a string in quotes, true "
        "or false)");
    check("a.yaml", "kind: Job\nmetadata:\n  name: {{ .Values.name }}\n",
          "/cluster/count",
          "a.yaml:3:9: it is a template of Helm's, whose {{ }} is not filled in (give "
          "what "
          "`helm template` prints)");
    check("a.yaml", "# nothing\n", "/cluster/count",
          "a.yaml:1:1: the file has no values");
    check("ds.yaml",
          "zero_optimization: {stage: 2}\ntrain_micro_batch_size_per_gpu: 4\n",
          "/training/micro_batch_size", "4");
    check("ds.toml",
          "train_micro_batch_size_per_gpu = 4\n[zero_optimization]\nstage = 3\n",
          "/parallelism/library", "\"deepspeed\"");
    CU_ASSERT_TRUE(launch_is_script("a.yaml") && launch_is_script("a.yml") &&
                   launch_is_script("a.toml") && launch_is_script("a.ipynb") &&
                   launch_is_script("a.yaml-template") &&
                   launch_is_script("a.yml.tmpl"));
    CU_ASSERT_FALSE(launch_is_script("a.csv") || launch_is_script("a.template") ||
                    launch_is_script("yaml.template"));
}

void test_documents_register(void)
{
    CU_pSuite s = CU_add_suite("documents", NULL, NULL);
    CU_add_test(s, "cells of a notebook", test_cells);
    CU_add_test(s, "a notebook's scenario", test_notebook_scenario);
    CU_add_test(s, "manifests", test_manifests);
    CU_add_test(s, "a manifest's text", test_manifest_text);
    CU_add_test(s, "documents", test_documents);
}
