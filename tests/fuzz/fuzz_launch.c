/* Whatever bytes come as a launch script, Python's or a shell's, reading ends with a
 * scenario or with errors, in time near linear in the text. Build it with clang's
 * fuzzer, or with -DFUZZ_ALONE for a main that mutates seeds: fuzz_launch [SECONDS
 * [SEED]]. */
#include "dialect/launch/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(const char *ending, const uint8_t *data, size_t size)
{
    char file[64];
    snprintf(file, sizeof(file), "/tmp/fuzz_launch_%ld%s", (long)getpid(), ending);
    FILE *out = fopen(file, "wb");
    if (!out || fwrite(data, 1, size, out) != size || fclose(out))
        abort();
    struct cfg_loader loader;
    struct launch l = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = launch_load(&l, &loader, file, NULL);
    if (!root.json && loader.diags.n_errors == 0)
        abort();
    if (root.json)
        launch_complete(&l, root);
    launch_place(&l);
    launch_release(&l);
    cfg_loader_release(&loader);
    unlink(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_as(".py", data, size);
    read_as(".sh", data, size);
    return 0;
}

#ifdef FUZZ_ALONE
#include "fuzz_alone.h"

static const char *const seeds[] = {
    "model_type = 'INTERNLM2'\ndata = dict(seq_len=4096, micro_num=8, micro_bsz=1)\n"
    "model = dict(hidden_size=6144, num_layers=48, num_attention_heads=48, "
    "vocab_size=92544,\n             mlp_ratio=8 / 3, checkpoint=0.5, num_chunks=2)\n"
    "parallel = dict(zero1=dict(size=-1), tensor=dict(size=4, mode='msp'), "
    "pipeline=4)\n",
    "from sagemaker.pytorch import PyTorch as P\nh = {'max_seq_length': 384, 'fp16': "
    "True}\n"
    "h['a'] = h\nh.update({'max_steps': -1}, b=2)\nd = {'mpi': {'enabled': True, "
    "**h}}\n"
    "e = P(entry_point='run_qa.py', instance_type='ml.p3.16xlarge', instance_count=2,\n"
    "      distribution=d, hyperparameters=h, env={'HF_MODEL_ID': 'gpt2'})\n",
    "In [1]:\n%%bash\nls\n\nIn [None]:\nx = y = r'\\d' \"\"\"a\nb\"\"\" f'{x}' "
    "u'\\u00e9\\x41'\n"
    "a, b = (1, 2.5e3), [0x1f, *x]\nfor i in range(3): a += 1\n```\nx = 1\n```\n",
    "#!/bin/bash\n#SBATCH --nodes=4\nexport N=8 # GPUs\nTP=${TP:-2}\nG=$(( $N * 4 / "
    "(TP "
    "+ 2) ))\nif [[ $TP -gt 1 && -z \"$X\" ]]; then\n  "
    "A+=(--sequence-parallel)\nelse\n "
    " exit 1\nfi\ncat <<EOT > ds.json\n{ \"zero_optimization\": { \"stage\": $TP } "
    "}\nEOT\n"
    "case $G in 4|8) P=\"--bf16 $1\" ;; *) P=--fp16 ;; esac\nrun() { \"$@\"; }\n"
    "for i in 1 2; do B=\"$B --x $i\"; done\nCMD=\"pretrain_gpt.py --num-layers 24 "
    "--hidden-size 1024 $P $B ${A[@]}\"\nsrun bash -c 'torchrun --nproc_per_node $N "
    "--nnodes $SLURM_NNODES $CMD --deepspeed_config ds.json'\n",
    "z = lambda a, b=1: a if b else {k: v for k, v in c.items()}\nz[1:2]['b'] = "
    "-1_000\n"
    "e = Estimator(..., image_uri='{}/pytorch-training:1.11.0'.format(r), "
    "hyperparameters=dumps({'a': [1, ...]}))\nwith open('f') as f, g: pass\n",
};

static const char *const words[] = {
    "$",
    "${",
    "$((",
    "$(",
    "`",
    "x=(",
    "x+=\"$x $x\"\n",
    "if [ ",
    "[[ ",
    " ]]",
    "; then\n",
    "else\n",
    "fi\n",
    "case $x in\n",
    "*) ",
    ";;",
    "esac\n",
    "while ",
    "do\n",
    "done\n",
    "f() {\n",
    "cat <<E >f\n",
    "\nE\n",
    "eval ",
    "bash -c ",
    "torchrun ",
    "pretrain_gpt.py ",
    "--num-layers ",
    "--hidden-size=",
    "--deepspeed_config f ",
    "&& ",
    "|| ",
    "| ",
    ":-",
    "@]}",
    "#SBATCH --nodes=",
    "exit\n",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "=",
    ":",
    ",",
    ".",
    "...",
    "**",
    "'",
    "\"",
    "\"\"\"",
    "\\",
    "\n",
    "\n```\n",
    "\nIn [2]:\n",
    "lambda ",
    "for ",
    "in ",
    "if ",
    "x",
    "e",
    "h",
    "PyTorch(",
    "distribution=",
    "hyperparameters=",
    "instance_count=",
    "True",
    "1",
    ";",
    "#",
    "\xc3\xa9",
    "\xff",
    "+",
    "-",
    " ",
    "x=x+x\n",
    "h={'a':h,'b':h}\n",
    "import ",
    ".update(",
    ".format(",
    "f'{",
    "dict(",
    "'microbatches':",
    "+=",
    "%%sh\n",
};

FUZZ_MAIN(seeds, words, NULL)
#endif
