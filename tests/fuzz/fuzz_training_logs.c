/* Whatever bytes come as a log of a run, reading ends, what is kept is bounded and has no
 * control characters, and times are finite and above zero. Build it with clang's
 * fuzzer, or with -DFUZZ_ALONE (fuzz_alone.h). */
#include "logs/logs.h"
#include "logs/steady.h"

#include "base/plain.h"
#include "base/xmalloc.h"

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

static void check(const struct logs *l)
{
    static const struct logs_step does = { .samples = 64,
                                           .tokens = 64.0 * 2048,
                                           .gpus = 8 };
    struct logs_steady s = logs_steady_find(l, &does);
    int64_t n = 0;
    for (int i = 0; i < LOGS_KINDS; i++) {
        n += s.parts[i].n;
        require(isfinite(s.parts[i].lost_s) && s.parts[i].lost_s >= 0);
    }
    require(s.n == 0 || n > 0);
    require(s.n == 0 || (s.median_s > 0 && s.p10_s <= s.median_s &&
                         s.median_s <= s.p90_s && isfinite(s.p90_s)));
    require(l->allocated_B >= 0 && l->reserved_B >= 0);
    for (int32_t i = 0; i < l->timers.n; i++) {
        require_plain(l->timers.of[i].name);
        require(l->timers.of[i].least_s <= l->timers.of[i].most_s);
    }
    require_plain(l->nccl.version);
    require_plain(l->nccl.network);
    for (int32_t i = 0; i < l->variables.n; i++)
        require_plain(l->variables.of[i].value);
    for (int32_t i = 0; i < l->variables.n; i++)
        require_plain(l->variables.of[i].name);
    require_plain(l->nccl.provider);
    require_plain(l->nccl.plugin);
    require(s.n == 0 || isnan(s.loading_s) || s.loading_s >= 0);
    require(isfinite(l->global_batch) && l->global_batch >= 0);
    for (int32_t i = 0; i < l->smi.n; i++) {
        require_plain(l->smi.gpus[i].host);
        require(isfinite(l->smi.gpus[i].clock) && isfinite(l->smi.gpus[i].power));
        require(isfinite(l->smi.gpus[i].width) && isfinite(l->smi.gpus[i].generation));
        require(isfinite(l->smi.gpus[i].replays) && isfinite(l->smi.gpus[i].ecc));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char line[LOGS_LINE_MAX + 1];
    struct logs l;
    logs_init(&l);
    VEC_PUSH(&l.files, ((struct logs_file) { .name = "fuzz" }));
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t n = end ? (size_t)(end - data) - at : size - at;
        size_t used = n < LOGS_LINE_MAX ? n : LOGS_LINE_MAX;
        memcpy(line, data + at, used);
        logs_line(&l, line, used);
        at += n + 1;
    }
    logs_end(&l);
    check(&l);
    logs_release(&l);
    return 0;
}

#ifdef FUZZ_ALONE
#include "fuzz_alone.h"

static const char *const seeds[] = {
    " iteration 71/ 100 | elapsed time per iteration (ms): 5361.6 | throughput per GPU "
    "(TFLOP/s/GPU): 243.6 | global batch size: 128 |\n"
    "[Rank 0] (after 1 iterations) memory (MB) | allocated: 1.0 | max allocated: 2.0\n"
    "saving checkpoint at iteration 71 to x\n iteration 72/ 100 | elapsed time per "
    "iteration (ms): 9361.6 |\n",
    "(min, max) time across ranks (ms):\n    forward-backward ....: (94.7, 96.4)\n"
    "time (ms) | forward: 27.41 | backward: 73.44\n",
    "[batch=12/200]:\n Train throughput/batches_per_sec: 0.1250\n[batch=13/200]:\n"
    "[step=10/1000,epoch=1]\n    throughput/device/BPS=3.939\n",
    "  3%|3         | 12/345 [00:07<06:50,  1.25s/it]\n  3%|3| 13/345 [00:07<06:50, "
    "2.1it/s]\n",
    "NCCL version 2.21.5+cuda12.4\nh:1:2 [0] NCCL INFO NCCL_IB_DISABLE set by "
    "environment to 0.\nh:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via "
    "NET/IB/0/GDRDMA\nh:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0\n",
    "index, clocks.sm [MHz], power.draw [W], clocks_throttle_reasons.active\n0, 1410 "
    "MHz, 390.12 W, 0x04\n1, 1410 MHz, [N/A], 0x0\n",
    "#Entity SMCLK PMAXC POWER GPUTL DVCCTR PCILG PCIMG PCIEW RPCTR EDVTL\nGPU 0 1980 "
    "1980 "
    "680.1 99 0 5 5 16 0 0\nGPU 1 1200 1980 700.2 98 4 4 5 8 900 2\n",
    "DCGM_FI_DEV_SM_CLOCK{gpu=\"0\",Hostname=\"a\"} 1980\nDCGM_FI_DEV_ECC_DBE_VOL_TOTAL"
    "{gpu=\"0\",Hostname=\"a\"} 1\n",
    "steps: 2 loss: 12.6157 iter time (s): 2.673 samples/sec: 95.775\n[timer.py] "
    "epoch=0/micro_step=80/global_step=10, RunningAvgSamplesPerSec=83.4, "
    "CurrSamplesPerSec=84.2, MaxMemAllocated=9.02GB\nCUDA_LAUNCH_BLOCKING=1\n",
    "completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924\n{'memory(GiB)': "
    "76.72, "
    "'train_speed(iter/s)': 0.194334, 'global_step/max_steps': '300/4491'}\n",
    "{'train_runtime': 512.6, 'train_samples_per_second': 12.485, "
    "'train_steps_per_second': 0.195}\nstep: 4 loss: 7 memory: 66.91GiB(37.51%)  tps: "
    "10,050  tflops: 314.71\n",
};
static const char *const words[] = {
    " ",
    "\n",
    "|",
    ":",
    "0",
    "-1",
    "nan",
    "inf",
    "1e308",
    "1e-308",
    "9,999",
    "\033[31m",
    "[rank3]:",
    "[1,mpirank:9,algo-1]<stdout>:",
    "K",
    "/",
    "[",
    "]",
    "%|",
    "\xff",
    "\xc2\x9b",
    "\t",
    "99999999999999999999",
    "s/it",
    "it/s",
    "tps:",
    "loss:",
    "Train memory/peak_",
};

FUZZ_MAIN(seeds, words, NULL)
#endif
