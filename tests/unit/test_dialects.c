/* One reading of SageMaker's dictionary: in a scenario and in a launch script it runs
 * the same job, says as much and refuses the same. */
#include "dialect/launch/launch.h"
#include "launch_bench.h"
#include "scenario/scenario.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_dialects_register(void);

struct loaded {
    struct cfg_loader loader;
    struct launch launch;
    struct scenario s;
    bool script;
    int rc;
};

static void unload(struct loaded *l)
{
    if (l->script)
        launch_release(&l->launch);
    cfg_loader_release(&l->loader);
}

#define MPI "'mpi': {'enabled': True, 'processes_per_host': 8}"
#define SMP(more) \
    "'smdistributed': {'modelparallel': {'enabled': True, 'parameters': " more "}}"

/* BERT-large on two p4d.24xlarge; `batch` is of a rank and pass. */
static void load_json(struct loaded *l, const char *dictionary, const char *pytorch,
                      int batch)
{
    char text[2000];
    snprintf(
        text, sizeof(text),
        "{'model': 'bert-large-uncased', 'cluster': {'instance': 'ml.p4d.24xlarge', "
        "'count': 2}, 'training': {'sequence_length': 384, 'micro_batch_size': %d},"
        " 'software': {'pytorch': '%s'}, 'distribution': {%s}}",
        batch, pytorch, dictionary);
    *l = (struct loaded) { 0 };
    cfg_loader_init(&l->loader);
    l->rc = scenario_read(&l->s, &l->loader,
                          cfg_parse(&l->loader, "text", text, strlen(text)));
}

static void load_script(struct loaded *l, const char *dictionary, const char *pytorch,
                        int batch)
{
    char text[2000];
    snprintf(
        text, sizeof(text),
        "estimator = PyTorch(entry_point='train.py', instance_type='ml.p4d.24xlarge',\n"
        "    instance_count=2, framework_version='%s', distribution={%s},\n"
        "    hyperparameters={'model_name_or_path': 'bert-large-uncased',\n"
        "        'max_seq_length': 384, 'per_device_train_batch_size': %d})\n",
        pytorch, dictionary, batch);
    *l = (struct loaded) { .script = true };
    struct cfg root = load_alone(&l->launch, &l->loader, text, ".py", NULL);
    CU_ASSERT_EQUAL(launch_complete(&l->launch, root), 0);
    l->rc = scenario_read(&l->s, &l->loader, root);
}

/* The message after its place, which is another in a script. */
static const char *message(const char *diag)
{
    const char *at = strstr(diag, ": /");
    return at ? at : diag;
}

static void compare(struct loaded *a, struct loaded *b, const char *what)
{
    struct diags *x = &a->loader.diags, *y = &b->loader.diags;
    bool same = a->rc == b->rc && x->n_errors == y->n_errors &&
                x->n_warnings == y->n_warnings && a->s.n_notes == b->s.n_notes;
    for (int i = 0; same && i < x->n_errors; i++)
        same = strcmp(message(diags_error_text(x, i)),
                      message(diags_error_text(y, i))) == 0;
    for (int i = 0; same && i < x->n_warnings; i++)
        same = strcmp(message(diags_warning_text(x, i)),
                      message(diags_warning_text(y, i))) == 0;
    if (same && a->rc == 0)
        same = memcmp(&a->s.parallel, &b->s.parallel, sizeof(a->s.parallel)) == 0 &&
               a->s.cluster.n_gpus == b->s.cluster.n_gpus &&
               a->s.training.microbatches == b->s.training.microbatches &&
               a->s.training.global_batch_size == b->s.training.global_batch_size &&
               a->s.software.protocol == b->s.software.protocol &&
               memcmp(&a->s.software.limits, &b->s.software.limits,
                      sizeof(a->s.software.limits)) == 0;
    CU_ASSERT(same);
    if (!same)
        fprintf(stderr, "%s: scenario %d (%d notes), script %d (%d notes)\n", what,
                a->rc, a->s.n_notes, b->rc, b->s.n_notes);
}

static void test_dictionaries(void)
{
    static const struct {
        const char *dictionary;
        const char *pytorch;
        int microbatches; /* by which a script's batch is cut */
    } cases[] = {
        { MPI, "1.13.1", 1 },
        { "'mpi': {'enabled': True, 'processes_per_host': 4, 'custom_mpi_options': "
          "'-x NCCL_ALGO=Tree -x NCCL_PROTO=LL128 --verbose'}",
          "1.13.1", 1 },
        { "'mpi': {'enabled': False, 'processes_per_host': 4}", "1.13.1", 1 },
        { "'mpi': {'enabled': True, 'processes_per_host': 16}", "1.13.1", 1 },
        { "'smdistributed': {'dataparallel': {'enabled': True}}", "1.13.1", 1 },
        { "'smdistributed': {'dataparallel': {'enabled': True, 'custom_mpi_options': "
          "'-x NCCL_PROTO=LL'}}",
          "1.13.1", 1 },
        { SMP("{'partitions': 2, 'microbatches': 4, 'ddp': True}") ", " MPI, "1.13.1",
          4 },
        { SMP("{'sharded_data_parallel_degree': 8, 'ddp': True, 'bf16': True}") ","
                                                                                " " MPI,
          "1.12.0", 1 },
        { SMP("{'tensor_parallel_degree': 4, 'ddp': True, 'placement_strategy': "
              "'spread'}") ", " MPI,
          "1.13.1", 1 },
        { SMP("{'tensor_parallel_degree': 4}") ", " MPI, "1.13.1", 1 },
        { SMP("{'hybrid_shard_degree': 8, 'tensor_parallel_degree': 2}") ", "
                                                                         "'torch_"
                                                                         "distributed':"
                                                                         " {'enabled': "
                                                                         "True}",
          "2.2.0", 1 },
        { "'smdistributed': {'modelparallel': {'enabled': 1}}, " MPI, "1.13.1", 1 },
        { "'torch_distributed': {'enabled': True}", "2.2.0", 1 },
        { "'pytorchddp': {'enabled': True}", "1.13.1", 1 },
        { "'parameter_server': {'enabled': True}", "1.13.1", 1 },
        { "'pytorchxla': {'enabled': True}", "1.13.1", 1 },
        { "'multi_worker_mirrored_strategy': {'enabled': False}", "1.13.1", 1 },
        { "'instance_groups': ['a'], 'pytorchddp': {'enabled': True}", "1.13.1", 1 },
        { MPI ", 'pytorchddp': {'enabled': True}", "1.13.1", 1 },
        { "'pytorchddp': {}", "1.13.1", 1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded json, script;
        load_json(&json, cases[i].dictionary, cases[i].pytorch, 4);
        load_script(&script, cases[i].dictionary, cases[i].pytorch,
                    4 * cases[i].microbatches);
        compare(&json, &script, cases[i].dictionary);
        unload(&json);
        unload(&script);
    }
}

void test_dialects_register(void)
{
    CU_pSuite s = CU_add_suite("dialects", NULL, NULL);
    CU_add_test(s, "dictionaries of scenarios and scripts", test_dictionaries);
}
