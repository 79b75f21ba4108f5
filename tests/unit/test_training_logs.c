/* Logs of trainers, of NCCL and of nvidia-smi, as public threads show them: what is read
 * of each format, after prefixes of launchers, and what is no training step. */
#include "logs/logs.h"
#include "logs/steady.h"
#include "logs/stream.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

void test_training_logs_register(void);

/* Lines of a text, as a file has them. */
static void feed(struct logs *l, const char *text)
{
    char line[LOGS_LINE_MAX + 1];
    VEC_PUSH(&l->files, ((struct logs_file) { .name = "a.log" }));
    while (*text) {
        size_t n = strcspn(text, "\n");
        memcpy(line, text, n);
        logs_line(l, line, n);
        text += n + (text[n] == '\n');
    }
    logs_end(l);
}

/* --- formats ---------------------------------------------------------------------------- */

/* A step of 64 samples of 2048 tokens on 8 GPUs, in 4 passes. */
static const struct logs_step does = { 64, 64.0 * 2048, 8, 4 };

static const struct format_case {
    const char *name, *text;
    int64_t n;
    double median_s, tflops, allocated_B, reserved_B; /* 0: not said */
} cases[] = {
    { "Megatron's iterations",
      " [2024-04-06 03:02:12] iteration       71/     100 | consumed samples:         "
      "9088 | elapsed time per iteration (ms): 5361.6 | throughput per GPU "
      "(TFLOP/s/GPU): 243.6 | learning rate: 1.420000E-05 | global batch size:   128 | "
      "lm loss: 1.818812E+00 | number of nan iterations:   0 |\n"
      "[Rank 0] (after 1 iterations) memory (MB) | allocated: 100.00 | max allocated: "
      "1024.00 | reserved: 2000.00 | max reserved: 2048.00\n",
      1, 5.3616, 243.6, 0x1p30, 0x1p31 },
    { "Megatron's iterations", /* Megatron-DeepSpeed, in seconds */
      "[default7]: iteration        2/   95367 | consumed samples:          256 | "
      "elapsed time per iteration (s): 23.44 | learning rate: 6.0E-08 | global batch "
      "size:   512 | samples per second: 21.843 | TFLOPs: 150.61 |\n",
      1, 23.44, 150.61, 0, 0 },
    { "Megatron's iterations", /* of two, the first is warm-up */
      " iteration 1/ 2 | elapsed time per iteration (ms): 6851.4 |\n"
      " iteration 2/ 2 | elapsed time per iteration (ms): 3980.2 |\n",
      2, 3.9802, 0, 0, 0 },
    { "DeepSpeed-Chat's steps",
      "|E2E latency=3.85s |Gather latency=0.00s (0.00%) |Generate time=2.58s (67.11%) "
      "|Training time=1.04s (27.01%) |Others=0.23 (5.88%)|CurSamplesPerSec=16.62 "
      "|AvgSamplesPerSec=16.79\n",
      1, 3.85, 0, 0, 0 },
    { "Megatron's iterations", /* gpt-neox */
      " samples/sec: 12.345 | iteration      10/  320000 | elapsed time per iteration "
      "(ms): 5184.2 | learning rate: 1E-04 | approx flops per GPU: 61.2TFLOPS |\n",
      1, 5.1842, 0, 0, 0 },
    { "Megatron-Bridge's step times",
      "Step Time : 12.78s GPU utilization: 528.1MODEL_TFLOP/s/GPU\n", 1, 12.78, 528.1,
      0, 0 },
    { "NeMo's step timing",
      "Epoch 0: :   3%|#         | 9000/301500 [1:42:42<55:37:46, v_num=0-56, "
      "reduced_train_loss=nan.0, global_step=9e+3, consumed_samples=6.3e+5, "
      "train_step_timing in s=0.615, val_loss=7.040]\n",
      1, 0.615, 0, 0, 0 },
    { "NeMo's step timing",
      "Training epoch 0, iteration 7/99 | lr: 1.2e-06 | global_batch_size: 64 | "
      "global_step: 7 | reduced_train_loss: 11.03 | train_step_timing in s: 2.345 | "
      "consumed_samples: 512\n",
      1, 2.345, 0, 0, 0 },
    { "torchtitan's steps", /* tokens of a GPU */
      "[rank0]:[titan] 2025-06-16 22:30:50,322 - root - INFO - \033[31mstep: 200  "
      "\033[32mloss:  6.1384  \033[33mmemory: 49.66GiB(52.28%)  \033[34mtps: 5,856  "
      "tflops: 339.16  mfu: 34.29%\033[39m\n"
      "[rank1]:[titan] 2025-06-16 22:30:50,322 - root - INFO - step: 200  loss:  "
      "6.1384 "
      " memory: 49.66GiB(52.28%)  tps: 5,800  tflops: 339.16  mfu: 34.29%\n",
      1, 64 * 2048 / 8 / 5856.0, 339.16, 0, 49.66 * 0x1p30 },
    { "nanotron's iterations",
      "10/17/2025 16:31:56 [INFO|DP=0|PP=0|TP=0]: iteration: 327281 / 378950 | "
      "consumed_tokens: 85.8G | elapsed_time_per_iteration_ms: 11.5K | tokens_per_sec: "
      "22.8K | tokens_per_sec_per_gpu: 11.4K | global_batch_size: 64 | lm_loss: 2.38 | "
      "lr: 1e-05 | model_tflops_per_gpu: 38.3 | grad_norm: 1.25\n",
      1, 11.5, 38.3, 0, 0 },
    { "OLMo's steps",
      "2025-12-22 10:00:00 [step=10/1000,epoch=1,eta=1h]\n"
      "    gpu_memory/GPU reserved mem (GiB)=62.69\n"
      "    optim/LR (group 0)=0.0005\n"
      "    throughput/device/BPS=3.939\n"
      "    throughput/device/BPS (actual avg)=2.990\n"
      "    throughput/device/TPS=258,163\n"
      "    throughput/device/flopsPS=441.0T\n"
      "[step=20/1000,epoch=1,eta=1h]\n",
      1, 1 / 3.939, 441.0, 0, 62.69 * 0x1p30 },
    { "nanoGPT's iterations", "iter 1631: loss 4.0863, time 561.94ms, mfu 41.2%\n", 1,
      0.56194, 0, 0, 0 },
    { "MaxText's steps",
      "completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924, Tokens/s/device: "
      "8672.758, total_weights: 196608, loss: 10.374\n",
      1, 5.667, 134.924, 0, 0 },
    { "torchtune's steps",
      "Step 12 | loss:1.1174635887145996 lr:2e-05 "
      "tokens_per_second_per_gpu:542.9797193194343 peak_memory_active:13.1 "
      "peak_memory_alloc:12.5 peak_memory_reserved:14.25\n",
      1, 64 * 2048 / 8 / 542.9797193194343, 0, 12.5 * 0x1p30, 14.25 * 0x1p30 },
    { "picotron's steps", /* its own batch, in tokens */
      "[rank 2] Step: 7     | Loss: 8.5469 | Global batch size:   2.05K | Tokens/s:   "
      "1.68K | Tokens/s/GPU:  209.63 | Tokens:   4.10K | MFU:  0.07% | Memory usage:   "
      "1.75GB\n",
      1, 2050 / 1680.0, 0, 0, 1.75e9 },
    { "DeepSpeed's throughput",
      "[2023-06-21 07:39:09,443] [INFO] [timer.py:199:stop] epoch=0/micro_step=80/"
      "global_step=10, RunningAvgSamplesPerSec=83.4, CurrSamplesPerSec=84.2, "
      "MemAllocated=0.26GB, MaxMemAllocated=9.02GB\n",
      1, 64 / 84.2, 0, 9.02 * 0x1p30, 0 },
    { "DeepSpeed's throughput", /* of its pipelines */
      "steps: 2 loss: 12.6157 iter time (s): 2.673 samples/sec: 95.775\n"
      "[Rank 0] (after 1 iterations) memory (MB) | allocated: 882.568359375 | max "
      "allocated: 13808.224609375 | reserved: 14718.0 | max reserved: 14718.0\n",
      1, 2.673, 0, 13808.224609375 * 0x1p20, 14718.0 * 0x1p20 },
    { "DeepSpeed's mean throughput",
      "[2022-03-11 02:06:58,985] [INFO] [timer.py:189:stop] 0/40, "
      "SamplesPerSec=83.48609168106144, MemAllocated=0.26GB, MaxMemAllocated=9.02GB\n",
      1, 64 / 83.48609168106144, 0, 9.02 * 0x1p30, 0 },
    { "SageMaker's batches",
      "2024-05-01 10:00:00 I [train.py:97] Batch 12 Loss: 10.90000, Speed: 12.30 "
      "samples/sec, lr: 0.000010\n",
      1, 64 / 12.3, 0, 0, 0 },
    { "Composer's batches",
      "[batch=12/200]:\n\t Train memory/peak_reserved_mem: 14.6740\n\t Train "
      "throughput/batches_per_sec: 0.1250\n\t Train throughput/samples_per_sec: 40.1\n"
      "\t Train throughput/device/flops_per_sec: 120000000000000.0\n",
      1, 8, 120, 0, 14.6740e9 },
    { "Composer's batches", /* before 0.16: what is reserved after a batch */
      "[batch=12/200]:\n\t Train memory/allocated_mem: 6.8051\n\t Train "
      "memory/reserved_mem: 14.6740\n\t Train throughput/batches_per_sec: 0.1250\n",
      1, 8, 0, 0, 14.6740e9 },
    { "ms-swift's mean speed",
      "2025-05-21T03:50:42.01Z {'loss': 0.42228584, 'grad_norm': 5.19, 'memory(GiB)': "
      "76.72, 'train_speed(iter/s)': 0.194334, 'epoch': 0.2, 'global_step/max_steps': "
      "'300/4491', 'percentage': '6.68%'}\n",
      1, 1 / 0.194334, 0, 0, 76.72 * 0x1p30 },
    { "the Trainer's summary", /* axolotl: numbers are texts */
      "{'loss': '0.7157', 'memory/max_active (GiB)': '2.98', 'memory/max_allocated "
      "(GiB)': "
      "'2.98', 'memory/device_reserved (GiB)': '4.12', 'epoch': '0.1333'}\n"
      "{'train_runtime': '55.71', 'train_samples_per_second': '3.303', "
      "'train_steps_per_second': '0.413', 'train_loss': '0.06318'}\n",
      1, 1 / 0.413, 0, 2.98 * 0x1p30, 4.12 * 0x1p30 },
    { "the Trainer's summary",
      "{'train_runtime': 512.6, 'train_samples_per_second': 12.485, "
      "'train_steps_per_second': 0.195, 'train_loss': 1.2, 'epoch': 1.0}\n",
      1, 1 / 0.195, 0, 0, 0 },
    { "progress lines", /* of the trainer, and of other things */
      "Map: 100%|####| 1000/1000 [00:01<00:00, 900.11 examples/s]\n"
      "Loading checkpoint shards:  50%|##   | 1/2 [00:03<00:03,  3.11s/it]\n"
      "  0%|          | 0/345 [00:00<?, ?it/s]\n"
      "  3%|3         | 12/345 [00:07<06:50,  1.25s/it][2023-06-21] [INFO] x\n"
      "  4%|4         | 13/345 [00:07<05:03,  1.25s/it]\n",
      2, 1.25, 0, 0, 0 },
    { "progress lines", /* Lightning's: two decimals do not say a slow rate */
      "Epoch 0:   3%|2   | 8/260 [17:04<8:57:59,  0.01it/s, v_num=2]\n", 1,
      4 * 1024 / 8.0, 0, 0, 0 }, /* and count passes */
    { "progress lines", /* Lightning's rich bars: of training, and of validation */
      "Epoch 0/9  \xe2\x94\x81\xe2\x94\x81 10/938 0:00:05 \xe2\x80\xa2 0:00:40 "
      "20.00it/s "
      "v_num: 0.000\n"
      "Validation \xe2\x94\x81\xe2\x94\x81 10/938 0:00:05 \xe2\x80\xa2 0:00:40 "
      "50.00it/s\n"
      "Epoch 0/9  \xe2\x94\x81\xe2\x94\x81 0/938 0:00:00 \xe2\x80\xa2 -:--:-- 0.00it/s "
      "\n",
      1, 4 / 20.0, 0, 0, 0 },
    { "progress lines", /* NeMo's of Lightning: steps */
      "Epoch 0: :   3%|2   | 8/260 [00:16<8:57:59,  2.00s/it, v_num=2, "
      "global_step=7.0]\n",
      1, 2, 0, 0, 0 },
    { "Megatron's iterations", /* Megatron-DeepSpeed since 2024; DeepSpeed's rate is less */
      "[2025-11-10 09:43:36,161992][I][megatron/training_log:402:training_log]  "
      "iteration=      40/     100 | consumed_samples=      245760 | "
      "elapsed_time_per_iteration_ms=3415.3 | learning_rate=2e-05 | global_batch_size= "
      "6144 | lm loss=12.3 | TFLOPs=53.66 |\n"
      "[2025-11-10 09:43:39,573] [INFO] [timer.py:264:stop] epoch=0/micro_step=5/"
      "global_step=5, RunningAvgSamplesPerSec=2443.9, CurrSamplesPerSec=2553.4, "
      "MemAllocated=3.71GB, MaxMemAllocated=39.0GB\n",
      1, 3.4153, 53.66, 39 * 0x1p30, 0 },
    { "nanochat's steps",
      "step 00039/54531 (0.07%) | loss: 5.968302 | lrm: 1.00 | dt: 7361.74ms | "
      "tok/sec: "
      "71,217 | mfu: 22.27 | epoch: 1 | total time: 3.56m | eta: 6691.2m\n",
      1, 7.36174, 0, 0, 0 },
    { "nanochat's steps", /* build-nanogpt */
      "step     1 | loss: 9.514 | lr 1.7e-06 | norm: 4.1 | dt: 338.48ms | tok/sec: "
      "1548960.02\n",
      1, 0.33848, 0, 0, 0 },
    { "llm.c's steps",
      "step    2/19560 | loss 10.955 (+0.00z)| norm 15.3 (+nanz)| lr 1.7e-06 | 3400.50 "
      "ms | 60.1% bf16 MFU | 154180 tok/s\n",
      1, 3.4005, 0, 0, 0 },
    { "modded-nanogpt's steps", /* validation is not in the clock */
      "step:10/1530 train_loss:7.1 train_time:0ms step_avg:nanms\n"
      "step:12/1530 train_loss:6.9 train_time:322ms step_avg:161.00ms\n"
      "step:12/1530 val_loss:6.5 train_time:322ms step_avg:161.00ms\n",
      1, 0.161, 0, 0, 0 },
    { "litgpt's steps", /* passes are summed */
      "Epoch 1 | iter 1 step 0 | loss train: 1.6, val: n/a | iter time: 820.00 ms\n"
      "Epoch 1 | iter 2 step 1 | loss train: 1.6, val: n/a | iter time: 548.00 ms "
      "(step)\n",
      1, 1.368, 0, 0, 0 },
    { "litgpt's steps", /* one of 4 is said */
      "Epoch 1 | iter 400 step 100 | loss train: 1.6, val: n/a | iter time: 300.00 ms "
      "(step) remaining time: 1 day, 2:03:04\n",
      1, 4 * 0.3, 0, 0, 0 },
    { "LLaMA-Factory's steps", /* whole seconds: 20 of them */
      "{\"current_steps\": 10, \"total_steps\": 510, \"loss\": 0.66, \"lr\": 9.9e-06, "
      "\"epoch\": 0.1, \"percentage\": 1.5, \"elapsed_time\": \"1 day, 0:25:11\", "
      "\"remaining_time\": \"1 day, 3:09:15\"}\n"
      "{\"current_steps\": 12, \"total_steps\": 510, \"loss\": 0.66, \"elapsed_time\": "
      "\"1 day, 0:25:26\", \"remaining_time\": \"1:00:00\"}\n"
      "{\"current_steps\": 14, \"total_steps\": 510, \"loss\": 0.66, \"elapsed_time\": "
      "\"1 day, 0:25:41\", \"remaining_time\": \"1:00:00\"}\n",
      1, 7.5, 0, 0, 0 },
    { "LLaMA-Factory's steps", /* another node writes to the file, with fewer steps */
      "{\"current_steps\": 10, \"total_steps\": 51, \"elapsed_time\": \"0:01:40\"}\n"
      "{\"current_steps\": 9, \"total_steps\": 51, \"elapsed_time\": \"0:01:50\"}\n"
      "{\"current_steps\": 20, \"total_steps\": 51, \"elapsed_time\": \"0:03:20\"}\n",
      1, 10, 0, 0, 0 },
    { "LLaMA-Factory's steps", /* days are left, and none has gone */
      "{\"current_steps\": 20, \"total_steps\": 510, \"elapsed_time\": \"0:15:10\", "
      "\"remaining_time\": \"2 days, 16:16:18\"}\n"
      "{\"current_steps\": 60, \"total_steps\": 510, \"elapsed_time\": \"0:44:59\", "
      "\"remaining_time\": \"1 day, 14:58:45\"}\n",
      1, 1789 / 40.0, 0, 0, 0 },
    { "progress lines", /* hours */
      "Epoch 0:  50%|##  | 50/100 [1:02:30<1:02:30,  0.01it/s]\n", 1, 75, 0, 0, 0 },
    { "progress lines", /* a bar without its time: the rate is all there is */
      "Epoch 0:  50%|##  | 50/100 [?<?,  0.02it/s]\n", 1, 50, 0, 0, 0 },
    { "NeMo's step timing", /* with memory, in bytes */
      "Training epoch 0, iteration 45/99 | lr: 6.9e-06 | global_batch_size: 64 | "
      "global_step: 45 | max_memory_reserved: 127785762816 | max_memory_allocated: "
      "115792977920 | reduced_train_loss: 11.96 | train_step_timing in s: 6.08 | "
      "TFLOPS_per_GPU: 1.249e+03\n",
      1, 6.08, 1249, 115792977920, 127785762816 },
    { "NeMo's step timing",
      "Training epoch 0, iteration 49/99 | global_step: 49 | peak_memory_usage: "
      "72972500992 | memory_allocated: 34466545664 | train_step_timing in s: 2.693\n",
      1, 2.693, 0, 0, 72972500992 },
    { "Composer's batches", /* a slow rate is better in samples */
      "[batch=12/200]:\n\t Train throughput/batches_per_sec: 0.0027\n\t Train "
      "throughput/samples_per_sec: 0.1730\n\t Train throughput/device/samples_per_sec: "
      "0.0216\n",
      1, 64 / 0.173, 0, 0, 0 },
    { "OLMo's steps", /* likewise, in tokens of a GPU */
      "[step=10/1000,epoch=1,eta=1h]\n    throughput/device/TPS=258\n    "
      "throughput/device/BPS=0.016\n[step=20/1000,epoch=1,eta=1h]\n",
      1, 64 * 2048 / 8 / 258.0, 0, 0, 0 },
    { "DeepSpeed's wall clock", /* forward, backward and step: nothing else says a time */
      "[2024-06-21 10:50:42,167] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | "
      "fwd_microstep: 25.1 | bwd_microstep: 77.2 | bwd_inner_microstep: 75.8 | "
      "bwd_allreduce_microstep: 1.9 | step_microstep: 2.2\n"
      "[2024-06-21 10:50:42,168] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | "
      "fwd: 250.5 | bwd: 775.5 | bwd_inner: 757.5 | bwd_allreduce: 19.5 | step: 22.0\n",
      1, 1.048, 0, 0, 0 },
    { "DeepSpeed's throughput", /* the log says another batch than the job */
      "[INFO] [config.py:1003:print]   train_batch_size ............. 32\n"
      "[INFO] [config.py:1003:print]   train_micro_batch_size_per_gpu  2\n"
      "[timer.py:264:stop] epoch=0/micro_step=20/global_step=10, "
      "RunningAvgSamplesPerSec=46.9, CurrSamplesPerSec=50, MemAllocated=5.53GB, "
      "MaxMemAllocated=8.5GB\n",
      1, 32 / 50.0, 0, 8.5 * 0x1p30, 0 },
    { "progress lines", /* several a second */
      "  4%|4         | 13/345 [00:07<05:03,  1.6it/s]\n", 1, 0.625, 0, 0, 0 },
};

static void check_value(const char *name, double got, double wanted)
{
    bool holds =
        wanted > 0 ? fabs(got - wanted) <= 1e-9 * wanted : isnan(got) || got == 0;
    if (!holds)
        printf("%s: %g is not %g\n", name, got, wanted);
    CU_ASSERT_TRUE(holds);
}

static void test_formats(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct format_case *c = &cases[i];
        struct logs l;
        logs_init(&l);
        feed(&l, c->text);
        struct logs_steady s = logs_steady_find(&l, &does);
        if (s.n != c->n || s.format < 0)
            printf("case %zu (%s): %d records\n", i, c->name, (int)s.n);
        CU_ASSERT_EQUAL_FATAL(s.n, c->n);
        CU_ASSERT_STRING_EQUAL(logs_format_name(s.format), c->name);
        check_value(c->name, s.median_s, c->median_s);
        check_value(c->name, s.tflops, c->tflops);
        check_value(c->name, l.allocated_B, c->allocated_B);
        check_value(c->name, l.reserved_B, c->reserved_B);
        logs_release(&l);
    }
}

/* What trainers say of the batch, each as it writes it; what is another number. */
static void test_batches(void)
{
    static const struct {
        const char *text;
        double batch;
    } said[] = {
        { "INFO|trainer.py:2050] 2024-01-01 >>   Total train batch size (w. parallel, "
          "distributed & accumulation) = 512\n",
          512 },
        { "  Instantaneous batch size per device = 4\n", 0 },
        { "  global_batch_size ............................... 1152\n", 1152 },
        { "[titan] - INFO - Trainer is initialized with local batch size 8, global "
          "batch "
          "size 64, gradient accumulation steps 1, sequence length 2048\n",
          64 },
        { "global_train_batch_size: 256\n", 256 },
        { " iteration 10/ 99 | consumed samples: 2560 | elapsed time per iteration "
          "(ms): "
          "9.0 |\n iteration 20/ 99 | consumed samples: 5120 | elapsed time per "
          "iteration (ms): 9.0 |\n",
          256 },
        { " iteration 10/ 99 | consumed samples: 2560 | elapsed time per iteration "
          "(ms): "
          "9.0 |\n",
          0 },
        { "Epoch 0: : 1%|1| 99/100 [10:48<00:00, global_step=99.00, "
          "consumed_samples=25600.0, train_step_timing in s=3.1]\nEpoch 0: : 1%|1| "
          "100/100 [10:48<00:00, global_step=100.0, consumed_samples=25856.0, "
          "train_step_timing in s=3.1]\n",
          256 },
        { "cmd = main.py --per_device_train_batch_size 2\n", 0 },
        { "  global_batch_size=524288,\n", 0 }, /* of OLMo-core: in tokens */
        { "  train_batch_size ............. auto\n", 0 },
        { "[INFO|DP=0]: iteration: 2 / 9 | elapsed_time_per_iteration_ms: 11.5K | "
          "global_batch_size: 64 | lm_loss: 2.3\n",
          64 },
        { "[INFO|DP=0]: iteration: 2 / 9 | elapsed_time_per_iteration_ms: 11.5K | "
          "global_batch_size: 1.02K | lm_loss: 2.3\n", /* rounded */
          0 },
    };
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        struct logs l;
        logs_init(&l);
        feed(&l, said[i].text);
        CU_ASSERT_EQUAL(l.global_batch, said[i].batch);
        logs_release(&l);
    }
}

/* What lines state of the run, the first of each; and what only looks like it. */
static void test_stated(void)
{
    static const struct {
        const char *text;
        int is; /* enum logs_statement */
        double value;
    } said[] = {
        { "using world size: 32, data-parallel size: 8\n", STATED_RANKS, 32 },
        { "Process rank: 0, world size: 8, device: cuda:0\n", STATED_RANKS, 8 },
        { "cmd: --dist_world_size=16\n", STATED_RANKS, 0 },
        { "[INFO] [launch.py:164:main] dist_world_size=16\n", STATED_RANKS, 16 },
        { "  micro_batch_size ................ 4\n  micro_batch_size ........ 2\n",
          STATED_MICRO_BATCH, 4 },
        { "  Instantaneous batch size per device = 4\n", STATED_MICRO_BATCH, 4 },
        { "[config.py:960:print] train_micro_batch_size_per_gpu  2\n",
          STATED_MICRO_BATCH, 2 },
        { "  rampup_micro_batch_size ....... 4\n", STATED_MICRO_BATCH, 0 },
        { "steps 1, sequence length 8192, total steps 9\n", STATED_SEQUENCE, 8192 },
        { "  encoder_seq_length ......... 4096\n", STATED_SEQUENCE, 0 },
        { "  num_layers ................. 4.5\n", STATED_LAYERS, 0 },
        { "Model llama3 8B size: 8,030,261,248 total parameters\n", STATED_PARAMETERS,
          8030261248 },
        { "number of parameters: 123.59M\n", STATED_PARAMETERS, 123.59e6 },
        { "Total number of parameters in billions: 6.74\n", STATED_PARAMETERS, 6.74e9 },
    };
    static const char *const devices[][2] = {
        { "|   0  NVIDIA A100-SXM4-80GB          On  | 0\n", "NVIDIA A100-SXM4-80GB" },
        { "CUDA capacity: NVIDIA H100 80GB HBM3 with 79.10GiB\n",
          "NVIDIA H100 80GB HBM3" },
        { "You are using a CUDA device ('NVIDIA GeForce RTX 3090')\n",
          "NVIDIA GeForce RTX 3090" },
        { "   \\\\   /|    GPU: Tesla T4. Max memory: 14.7 GB\n", "Tesla T4" },
        { "0, NVIDIA L40S, 1410 MHz\n", "NVIDIA L40S" },
        { "GPU 0: NVIDIA A100 GPUs\n", "NVIDIA A100" },
        { "| NVIDIA-SMI 535.104.05   Driver Version: 535\n", "" },
        { "Copyright (c) NVIDIA CORPORATION. NVIDIA Release 23.10\n", "" },
    };
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        struct logs l;
        logs_init(&l);
        feed(&l, said[i].text);
        CU_ASSERT_EQUAL(l.stated.of[said[i].is], said[i].value);
        CU_ASSERT_EQUAL(l.stated.at[said[i].is].line, said[i].value > 0);
        logs_release(&l);
    }
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        struct logs l;
        logs_init(&l);
        feed(&l, devices[i][0]);
        CU_ASSERT_STRING_EQUAL(l.stated.device, devices[i][1]);
        logs_release(&l);
    }
}

/* Each format is after each prefix what it is without. */
static void test_prefixes(void)
{
    static const char *const prefixes[] = {
        "[1,mpirank:0,algo-1]<stdout>:",
        "[1,3]<stdout>:",
        "0: ",
        "[rank0]: ",
        "[default0]:",
        "algo-1  | ",
        "(RayTrainWorker pid=950, ip=10.0.0.2) ",
        "2025-05-21T03:50:42.015709928Z ",
    };
    for (size_t p = 0; p < sizeof(prefixes) / sizeof(prefixes[0]); p++)
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            char text[4096] = "";
            const char *at = cases[i].text;
            struct logs l;
            if (strstr(at, "[rank1]") || strstr(at, "[default7]"))
                continue; /* they have ranks of their own */
            for (; *at; at += strcspn(at, "\n") + 1) {
                strcat(text, prefixes[p]);
                strncat(text, at, strcspn(at, "\n") + 1);
            }
            logs_init(&l);
            feed(&l, text);
            struct logs_steady s = logs_steady_find(&l, &does);
            CU_ASSERT_EQUAL(s.n, cases[i].n);
            check_value(cases[i].name, s.median_s, cases[i].median_s);
            logs_release(&l);
        }
}

/* Numbers that are none, or none that a step can take. */
static void test_refused(void)
{
    static const char *const texts[] = {
        "iteration 1/10 | elapsed time per iteration (ms): nan |\n",
        "iteration 1/10 | elapsed time per iteration (ms): -5 |\n",
        "iteration 1/10 | elapsed time per iteration (ms): 1e400 |\n",
        "iteration 1/10 | elapsed time per iteration (ms):\n",
        "validate step: 20  loss:  6.1384  memory: 49.66GiB(52.28%)  tps: 5,856\n",
        "Evaluating:  50%|##   | 1/2 [00:03<00:03,  3.11s/it]\n",
        "train_small:  32%|###  | 31745/100000 [01:51<00:19, 3538.83it/s]\n",
        "Capturing CUDA graph shapes:   3%|#  | 1/35 [00:00<00:18,  1.88it/s]\n",
        "Loading checkpoint shards:  75%|#  | 3/4 [00:04<00:01,  1.50s/it]\nLoading "
        "checkpoint shards:\n0:   75%|##  | 3/4 [00:04<00:01,  1.47s/it]\n",
        "an iteration of the elapsed time\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct logs l;
        logs_init(&l);
        feed(&l, texts[i]);
        CU_ASSERT_EQUAL(l.records.n, 0);
        CU_ASSERT_FALSE(logs_found(&l) && l.reserved_B == 0);
        logs_release(&l);
    }
}

/* --- steps set apart -------------------------------------------------------------------- */

static void iteration(struct logs *l, int step, double ms)
{
    char line[256];
    snprintf(line, sizeof(line),
             " iteration %8d/    1000 | elapsed time per iteration (ms): %.1f |\n",
             step, ms);
    logs_line(l, line, strlen(line) - 1);
}

/* A long run with a slow start, two checkpoints, an evaluation and a stall. */
static void test_steady(void)
{
    struct logs l;
    char save[] = "saving checkpoint at iteration 40 to /fsx",
         eval[] = " validation loss at iteration 60 | lm loss value: 2.1E+00 |";
    logs_init(&l);
    VEC_PUSH(&l.files, ((struct logs_file) { .name = "a.log" }));
    for (int i = 1; i <= 100; i++) {
        double ms = i == 1 ? 30000 : i == 2 ? 1500 : 1000 + i % 5;
        if (i == 41 || i == 81) {
            logs_line(&l, save, strlen(save));
            ms = 8000;
        }
        if (i == 61) {
            logs_line(&l, eval, strlen(eval));
            ms = 4000;
        }
        if (i == 71)
            ms = 3000;
        iteration(&l, i, ms);
    }
    logs_end(&l);
    struct logs_steady s = logs_steady_find(&l, &does);
    CU_ASSERT_EQUAL(s.n, 100);
    CU_ASSERT_EQUAL(s.parts[LOGS_WARMUP].n, 2);
    CU_ASSERT_EQUAL(s.parts[LOGS_AT_CHECKPOINT].n, 2);
    CU_ASSERT_EQUAL(s.parts[LOGS_AT_EVALUATION].n, 1);
    CU_ASSERT_EQUAL(s.parts[LOGS_STALL].n, 1);
    CU_ASSERT_EQUAL(s.parts[LOGS_STALL].first_step, 71);
    CU_ASSERT_EQUAL(s.parts[LOGS_STEADY].n, 94);
    CU_ASSERT_DOUBLE_EQUAL(s.median_s, 1.002, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.p10_s, 1.0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.p90_s, 1.004, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.parts[LOGS_AT_CHECKPOINT].lost_s, 2 * (8 - 1.002), 1e-9);
    /* of 94 steady steps, the two slow ones at their median, 16, 4 and 3 s */
    CU_ASSERT_DOUBLE_EQUAL(logs_steady_lost(&s, LOGS_AT_CHECKPOINT), 13.996 / 119.19,
                           1e-4);
    CU_ASSERT_DOUBLE_EQUAL(logs_steady_lost(&s, LOGS_STALL), 1.998 / 119.19, 1e-4);
    CU_ASSERT_EQUAL(logs_steady_lost(&s, LOGS_WARMUP), 0);
    CU_ASSERT_EQUAL(logs_steady_lost(&s, LOGS_STEADY), 0);
    logs_release(&l);
}

/* Quantiles lie between the times that are next to them. */
static void test_quantiles(void)
{
    static const int order[] = { 3, 0, 7, 1, 9, 4, 10, 2, 8, 5, 6, 11 };
    enum { N = sizeof(order) / sizeof(order[0]) };
    struct logs l;
    logs_init(&l);
    VEC_PUSH(&l.files, ((struct logs_file) { .name = "a.log" }));
    iteration(&l, 1, 30000);
    for (int i = 0; i < N; i++)
        iteration(&l, i + 2, 1000 + 10 * order[i]);
    logs_end(&l);
    struct logs_steady s = logs_steady_find(&l, &does);
    CU_ASSERT_EQUAL(s.parts[LOGS_STEADY].n, N);
    CU_ASSERT_DOUBLE_EQUAL(s.p10_s, 1.0 + 0.01 * 0.1 * (N - 1), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.median_s, 1.0 + 0.01 * 0.5 * (N - 1), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(s.p90_s, 1.0 + 0.01 * 0.9 * (N - 1), 1e-9);
    logs_release(&l);
}

/* Steps that become slower: the last third over the first. */
static void test_drift(void)
{
    for (int grows = 0; grows <= 1; grows++) {
        struct logs l;
        logs_init(&l);
        feed(&l, "\n");
        for (int i = 1; i <= 61; i++)
            iteration(&l, i, 1000 + (grows ? 5.0 * i : i % 3));
        logs_end(&l);
        struct logs_steady s = logs_steady_find(&l, &does);
        CU_ASSERT_DOUBLE_EQUAL(s.drift, grows ? 1.19 : 1, 0.01);
        logs_release(&l);
    }
}

/* Of bars without a name, the one with the trainer's steps, though another has more. */
static void test_bars(void)
{
    static const char *const said[] = { "\n", "  Total optimization steps = 1,008\n" };
    for (int i = 0; i < 2; i++) {
        struct logs l;
        logs_init(&l);
        feed(&l, said[i]);
        feed(&l, " 50%|##  | 504/1008 [00:50<00:50,  21.5s/it]\n"
                 " 12%|#   | 2/17 [00:00<00:03,  5.0it/s]\n"
                 " 18%|#   | 3/17 [00:00<00:02,  5.0it/s]\n"
                 " 24%|#   | 4/17 [00:00<00:02,  5.0it/s]\n");
        struct logs_steady s = logs_steady_find(&l, &does);
        CU_ASSERT_DOUBLE_EQUAL(s.median_s, i ? 21.5 : 0.2, 1e-9);
        CU_ASSERT_TRUE(s.doubtful);
        feed(&l, "{'loss': 1.5}\n");
        CU_ASSERT_FALSE(logs_steady_find(&l, &does).doubtful);
        logs_release(&l);
    }
}

/* Of several kinds of times, the one of intervals is used; and a rate whose unit the
 * job lacks gives no time. */
static void test_chosen(void)
{
    struct logs l;
    static const struct logs_step nothing = { 0, 0, 0, 0 };
    logs_init(&l);
    feed(&l, "{'train_runtime': 9, 'train_steps_per_second': 0.5}\n"
             "epoch=0/micro_step=80/global_step=10, CurrSamplesPerSec=32\n"
             " iteration 1/10 | elapsed time per iteration (ms): 1900 |\n");
    CU_ASSERT_DOUBLE_EQUAL(logs_steady_find(&l, &does).median_s, 1.9, 1e-12);
    logs_release(&l);
    logs_init(&l);
    feed(&l, "epoch=0/micro_step=80/global_step=10, CurrSamplesPerSec=32\n");
    struct logs_steady s = logs_steady_find(&l, &nothing);
    CU_ASSERT_EQUAL(s.n, 0);
    CU_ASSERT_EQUAL(s.n_unknown, 1);
    logs_release(&l);
}

/* --- timers, NCCL, GPUs ------------------------------------------------------------------ */

static void test_timers(void)
{
    struct logs l;
    logs_init(&l);
    feed(&l,
         "(min, max) time across ranks (ms):\n"
         "    forward-backward ...............................: (9412.72, 9416.49)\n"
         "    optimizer ......................................: (100.00, 120.00)\n"
         "[2023-06-21 07:39:09,443] [INFO] [logging.py:96:log_dist] [Rank 0] rank=0 "
         "time (ms) | forward: 27.41 | backward: 73.44 | backward_inner: 50.99 | "
         "backward_allreduce: 22.40 | step: 72.82\n"
         "time (ms) | forward: 27.59 | backward: 73.44 | batch generator: 4.65\n");
    const struct logs_timer *f = logs_timers_get(&l.timers, "forward"),
                            *o = logs_timers_get(&l.timers, "optimizer");
    CU_ASSERT_EQUAL_FATAL(l.timers.n, 8);
    CU_ASSERT_EQUAL(f->n, 2);
    CU_ASSERT_DOUBLE_EQUAL(f->most_s, 0.055, 1e-12);
    CU_ASSERT_PTR_NOT_NULL(logs_timers_get(&l.timers, "batch generator"));
    CU_ASSERT_DOUBLE_EQUAL(o->least_s, 0.1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(o->most_s, 0.12, 1e-12);
    logs_release(&l);
}

static void test_nccl(void)
{
    struct logs l;
    logs_init(&l);
    feed(
        &l,
        "NCCL version 2.21.5+cuda12.4\n"
        "[1,30]<stdout>:w-3:27:569 [6] NCCL INFO NET/OFI Initializing aws-ofi-nccl "
        "1.9.1-aws\n"
        "h-2:6831:6840 [0] NCCL INFO NET/OFI Selected Provider is efa (found 16 nics)\n"
        "h-2:6831:6840 [0] NCCL INFO Using network Libfabric\n"
        "h:1:2 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 0.\n"
        "h:1:2 [0] NCCL INFO comm 0x1 rank 3 nRanks 16 nNodes 2 localRanks 8\n"
        "h:1:2 [0] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [receive] via "
        "NET/Libfabric/0/GDRDMA\n"
        "h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via "
        "NET/Libfabric/0/GDRDMA\n"
        "h:1:2 [0] NCCL INFO Channel 01/0 : 0[0] -> 8[0] [send] via NET/Socket/0\n"
        "h:1:2 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM/read\n"
        "h:1:2 [0] NCCL INFO NVLS multicast support is not available on dev 0\n"
        "h:1:2 [0] NCCL INFO 16 coll channels, 0 collnet channels, 16 nvls channels\n"
        "h:1:2 [0] NCCL WARN Call to ibv_modify_qp failed\n");
    const struct logs_nccl *n = &l.nccl;
    CU_ASSERT_STRING_EQUAL(n->version, "2.21.5");
    CU_ASSERT_STRING_EQUAL(n->plugin, "1.9.1-aws");
    CU_ASSERT_STRING_EQUAL(n->network, "Libfabric");
    CU_ASSERT_STRING_EQUAL(n->provider, "efa");
    CU_ASSERT_STRING_EQUAL(logs_variable(&l.variables, "NCCL_IB_DISABLE"), "0");
    CU_ASSERT_EQUAL(n->nics, 16);
    CU_ASSERT_EQUAL(n->ranks, 16);
    CU_ASSERT_EQUAL(n->nodes, 2);
    CU_ASSERT_EQUAL(n->channels, 16);
    CU_ASSERT_EQUAL(n->via[LOGS_NET_OFI], 1);
    CU_ASSERT_EQUAL(n->via[LOGS_NET_SOCKET], 1);
    CU_ASSERT_EQUAL(n->via[LOGS_P2P], 1);
    CU_ASSERT_EQUAL(n->via_gdr, 1);
    CU_ASSERT_EQUAL(n->received_gdr, 1);
    CU_ASSERT_EQUAL(n->no_nvls, 1);
    CU_ASSERT_EQUAL(n->n_warnings, 1);
    logs_release(&l);
}

/* A plugin of before 1.7, and a network whose name is of two words. */
static void test_plugin(void)
{
    struct logs l;
    logs_init(&l);
    feed(&l, "x3:38:39 [1] NCCL INFO NET/OFI Using aws-ofi-nccl 1.6.0\n"
             "x3:38:39 [1] NCCL INFO Using network AWS Libfabric\n"
             "x3:38:39 [1] NCCL INFO Using network Socket\n");
    CU_ASSERT_STRING_EQUAL(l.nccl.plugin, "1.6.0");
    CU_ASSERT_STRING_EQUAL(l.nccl.network, "AWS Libfabric");
    logs_release(&l);
}

static void test_smi(void)
{
    struct logs l;
    logs_init(&l);
    feed(&l,
         "timestamp, index, clocks.current.sm [MHz], clocks.max.sm [MHz], power.draw "
         "[W], utilization.gpu [%], clocks_throttle_reasons.active, "
         "pcie.link.width.current\n"
         "2024/05/01 10:00:00.000, 0, 1410 MHz, 1410 MHz, 390.12 W, 99 %, "
         "0x0000000000000000, 16\n"
         "2024/05/01 10:00:00.000, 1, 1005 MHz, 1410 MHz, 400.00 W, 100 %, "
         "0x0000000000000004, 8\n"
         "2024/05/01 10:00:01.000, 1, 210 MHz, 1410 MHz, 60.00 W, 0 %, "
         "0x0000000000000001, 8\n"
         "2024/05/01 10:00:01.000, 0, [N/A], 1410 MHz\n");
    CU_ASSERT_EQUAL_FATAL(l.smi.n, 2);
    CU_ASSERT_EQUAL(l.smi.gpus[1].n, 2);
    CU_ASSERT_EQUAL(l.smi.gpus[1].n_busy, 1);
    CU_ASSERT_EQUAL(l.smi.gpus[1].clock, 1005);
    CU_ASSERT_EQUAL(l.smi.gpus[1].n_power, 1);
    CU_ASSERT_EQUAL(l.smi.gpus[1].width, 8);
    CU_ASSERT_EQUAL(l.smi.gpus[0].n_power, 0);
    logs_release(&l);
}

/* Without an index, rows are of the GPU with their bus; reasons may have columns of their own. */
static void test_smi_reasons(void)
{
    struct logs l;
    logs_init(&l);
    feed(&l,
         "pci.bus_id, clocks.sm [MHz], utilization.gpu [%], "
         "clocks_event_reasons.sw_power_cap, clocks_event_reasons.hw_thermal_slowdown\n"
         "00000000:07:00.0, 1410 MHz, 99 %, Not Active, Not Active\n"
         "00000000:0B:00.0, 900 MHz, 99 %, Active, Not Active\n"
         "00000000:0B:00.0, [N/A], 99 %, Not Active, Active\n");
    CU_ASSERT_EQUAL_FATAL(l.smi.n, 2);
    CU_ASSERT_EQUAL(l.smi.gpus[0].n_power + l.smi.gpus[0].n_heat, 0);
    CU_ASSERT_TRUE(l.smi.gpus[0].has_throttles);
    CU_ASSERT_EQUAL(l.smi.gpus[1].n_power, 1);
    CU_ASSERT_EQUAL(l.smi.gpus[1].n_heat, 1);
    CU_ASSERT_EQUAL(l.smi.gpus[1].n_busy, 2);
    CU_ASSERT_EQUAL(l.smi.gpus[1].n_clock, 1); /* one has no clock */
    logs_release(&l);
}

/* dcgmi dmon, two rounds of eight GPUs; its header comes anew. */
static void test_dmon(void)
{
    struct logs l;
    char row[128];
    logs_init(&l);
    for (int round = 0; round < 2; round++) {
        feed(&l,
             "#Entity   SMCLK   FBTTL  POWER     GPUTL  PCILW  PCIMW  RPCTR  EDVTL  "
             "DVCCTR\nID\n");
        for (int i = 0; i < 8; i++) {
            snprintf(row, sizeof(row),
                     "GPU %d   %d   81559   %s   %d   %d   16   %d   %d   %d\n", i,
                     i == 3 ? 1200 : 1980, i == 3 ? "N/A" : "650.5",
                     i == 7 && round ? 3 : 99, i == 3 ? 8 : 16,
                     5 + 500 * round * (i == 3), i == 5, i == 3 ? 4 : 0);
            feed(&l, row);
        }
    }
    feed(&l, "GPU 9   cut\n");
    CU_ASSERT_EQUAL_FATAL(l.smi.n, 8);
    const struct logs_gpu *slow = &l.smi.gpus[3], *well = &l.smi.gpus[0];
    CU_ASSERT_EQUAL(well->clock / (double)well->n_clock, 1980);
    CU_ASSERT_EQUAL(well->power / (double)well->n_draw, 650.5);
    CU_ASSERT_EQUAL(well->replays - well->first_replays, 0);
    CU_ASSERT_EQUAL(slow->clock / (double)slow->n_clock, 1200);
    CU_ASSERT_EQUAL(slow->n_draw, 0);
    CU_ASSERT_EQUAL(slow->n_power, 2);
    CU_ASSERT_TRUE(slow->width == 8 && slow->max_width == 16);
    CU_ASSERT_EQUAL(slow->replays - slow->first_replays, 500);
    CU_ASSERT_EQUAL(l.smi.gpus[5].ecc, 1);
    CU_ASSERT_EQUAL(l.smi.gpus[7].n_busy, 1);
    logs_release(&l);
}

/* nvidia-smi dmon, with and without a date, over two rounds of eight GPUs. */
static void test_nvidia_dmon(void)
{
    struct logs l;
    char row[128];
    logs_init(&l);
    for (int round = 0; round < 2; round++) {
        feed(&l,
             round ? "#Date       Time        gpu    pwr  gtemp     sm    mem   pclk\n"
                     "#YYYYMMDD   HH:MM:SS    Idx      W      C      %      %    MHz\n"
                   : "# gpu    pwr  gtemp     sm    mem   pclk\n"
                     "# Idx      W      C      %      %    MHz\n");
        for (int i = 0; i < 8; i++) {
            snprintf(row, sizeof(row), "%s    %d    %d     61     99      -   %d\n",
                     round ? " 20240501   10:00:00 " : "", i, i == 3 ? 410 : 680,
                     i == 3 ? 1100 : 1980);
            feed(&l, row);
        }
    }
    feed(&l, "    9    680     61\n");
    CU_ASSERT_EQUAL_FATAL(l.smi.n, 8);
    const struct logs_gpu *slow = &l.smi.gpus[3], *well = &l.smi.gpus[0];
    CU_ASSERT_EQUAL(well->n_busy, 2);
    CU_ASSERT_EQUAL(well->clock / (double)well->n_clock, 1980);
    CU_ASSERT_EQUAL(slow->clock / (double)slow->n_clock, 1100);
    CU_ASSERT_EQUAL(slow->power / (double)slow->n_draw, 410);
    logs_release(&l);
}

/* dcgm-exporter answers a quantity a line; the next answer begins where one comes anew. */
static void test_exporter(void)
{
    struct logs l;
    char row[256];
    logs_init(&l);
    for (int round = 0; round < 3; round++)
        for (int host = 0; host < 2; host++)
            for (int q = 0; q < 3; q++)
                for (int i = 0; i < 8; i++) {
                    static const char *const names[] = { "SM_CLOCK", "GPU_UTIL",
                                                         "PCIE_REPLAY_COUNTER" };
                    int v = q == 0 ? 1900 + i : q == 1 ? 99 : 7 + round;
                    snprintf(
                        row, sizeof(row),
                        "DCGM_FI_DEV_%s{gpu=\"%d\",UUID=\"GPU-%d\",modelName=\"NVIDIA "
                        "H100\",Hostname=\"n%d\"} %d\n",
                        names[q], i, i, host, v);
                    logs_dcgm_read(&l.smi, row);
                }
    logs_dcgm_end(&l.smi);
    CU_ASSERT_EQUAL_FATAL(l.smi.n, 16);
    for (int i = 0; i < 16; i++) {
        const struct logs_gpu *g = &l.smi.gpus[i];
        CU_ASSERT_STRING_EQUAL(g->host, i < 8 ? "n0" : "n1");
        CU_ASSERT_EQUAL(g->n, 3);
        CU_ASSERT_EQUAL(g->clock, 3 * (1900 + i % 8));
        CU_ASSERT_EQUAL(g->replays - g->first_replays, 2);
    }
    logs_release(&l);
}

static void test_variables(void)
{
    static const char *const wants[][2] = {
        { "NCCL_ALGO", "Ring" },         { "NCCL_IB_DISABLE", "1" },
        { "NCCL_BUFFSIZE", "1048576" },  { "FI_PROVIDER", "efa" },
        { "NCCL_PROTO", "Simple" },      { "NCCL_IB_HCA", "mlx5_0:1" },
        { "NCCL_P2P_DISABLE", "1" },     { "NCCL_NET_GDR_LEVEL", "?[2J" },
        { "CUDA_LAUNCH_BLOCKING", "1" },
    };
    struct logs l;
    logs_init(&l);
    feed(&l,
         "+ export NCCL_ALGO=Ring\n"
         "mpirun -x NCCL_IB_DISABLE=1 -x NCCL_BUFFSIZE=1048576 -x LD_LIBRARY_PATH -x "
         "FI_PROVIDER=\"efa\" -x MY_NCCL_NET=1 ./train\n"
         "n0:1:2 [0] NCCL INFO NCCL_PROTO set by environment to Simple.\n"
         "n0:1:2 [0] NCCL INFO NCCL_IB_HCA set to mlx5_0:1\n"
         "{'NCCL_P2P_DISABLE': '1', 'X': 2}\nNCCL_ALGO=Tree\n"
         "NCCL_NET_GDR_LEVEL=\x1b\x1b[2J\nCUDA_LAUNCH_BLOCKING=1 python x.py\n");
    CU_ASSERT_EQUAL(l.variables.n, (int32_t)(sizeof(wants) / sizeof(wants[0])));
    for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
        const char *value = logs_variable(&l.variables, wants[i][0]);
        CU_ASSERT_PTR_NOT_NULL(value);
        if (value && strcmp(wants[i][0], "NCCL_NET_GDR_LEVEL") != 0)
            CU_ASSERT_STRING_EQUAL(value, wants[i][1]);
        if (value)
            CU_ASSERT_PTR_NULL(strchr(value, '\x1b'));
    }
    logs_release(&l);
}

/* --- files ------------------------------------------------------------------------------- */

/* Plain, gzip, ends of lines of progress, and more lines than are kept. */
static void test_files(void)
{
    char plain[] = "/tmp/smsim-log-XXXXXX", zipped[64];
    FILE *out = fdopen(mkstemp(plain), "w");
    snprintf(zipped, sizeof(zipped), "%s.gz", plain);
    gzFile gz = gzopen(zipped, "wb");
    for (int i = 1; i <= 200000; i++) {
        fprintf(out, "iter %d: loss 4.0, time %d.0ms\r", i, 500 + i % 3);
        gzprintf(gz, "iter %d: loss 4.0, time %d.0ms\r\n", i, 500 + i % 3);
    }
    fprintf(out, "%*s end", LOGS_LINE_MAX + 10, "long");
    fclose(out);
    gzclose(gz);
    const char *files[] = { plain, zipped };
    for (int i = 0; i < 2; i++) {
        struct logs l;
        struct err err = { 0 };
        logs_init(&l);
        CU_ASSERT_EQUAL(logs_read(&l, files[i], &err), 0);
        CU_ASSERT_EQUAL(l.n_seen, 200000);
        CU_ASSERT_EQUAL(l.files.v[0].n_lines, 200000 + (i == 0));
        CU_ASSERT_EQUAL(l.files.v[0].n_long, i == 0);
        CU_ASSERT_TRUE(l.records.n <= 1 << 16 && l.stride == 4);
        CU_ASSERT_DOUBLE_EQUAL(logs_steady_find(&l, &does).median_s, 0.501, 1e-9);
        logs_release(&l);
        unlink(files[i]);
    }
    struct logs l;
    struct err err = { 0 };
    logs_init(&l);
    CU_ASSERT_EQUAL(logs_read(&l, "/no/such/file", &err), -1);
    CU_ASSERT_TRUE(err.set);
    logs_release(&l);
}

/* A rate in samples without a batch: lines' times say it. */
static void test_clocked(void)
{
    static const struct {
        const char *before;
        double batch, step_s;
        bool by_clock;
    } clocked[] = {
        { "", 128, 0.746, true },
        { "  train_batch_size ............................. 256\n", 256, 1.5, false },
    };
    for (int i = 0; i < 2; i++) {
        struct logs l;
        logs_init(&l);
        feed(&l, clocked[i].before);
        for (int k = 0; k < 8; k++) {
            char line[256];
            double s = 7.46 * k + (k > 5 ? 100 : 0); /* a pause */
            snprintf(line, sizeof(line),
                     "[2023-04-18 02:%02d:%02d,%03d] [INFO] [timer.py:199:stop] "
                     "epoch=0/micro_step=%d/global_step=%d, "
                     "RunningAvgSamplesPerSec=171.7, CurrSamplesPerSec=171.5\n",
                     (int)s / 60, (int)s % 60, (int)(s * 1e3) % 1000, 10 * k, 10 * k);
            feed(&l, line);
        }
        CU_ASSERT_EQUAL(l.global_batch, clocked[i].batch);
        CU_ASSERT_EQUAL(l.batch_by_clock, clocked[i].by_clock);
        CU_ASSERT_DOUBLE_EQUAL(logs_steady_find(&l, &does).median_s, clocked[i].step_s,
                               0.01);
        logs_release(&l);
    }
}

/* What wraps the text of a run: returns that rsyslog and JSON write as text, JSON within
 * JSON, quoted CSV, names of containers. */
static void test_wrapped(void)
{
#define BAR "%d%%|#  | %d/345 [00:07<06:50,  1.23s/it]"
#define BARS(e) "  1" BAR e "  1" BAR e
    static const struct {
        const char *format; /* of two lines, with their numbers twice */
        double step_s;
    } wrapped[] = {
        { "#015" BARS("#015") "\n", 1.23 },
        { "{\"events\": [{\"timestamp\": 1, \"message\": \"" BARS("\\r") "\"}]}\n",
          1.23 },
        { "{\"message\": \"  1" BAR "\\r\"}\n{\"message\": \"  1" BAR "\\r\"}\n",
          1.23 },
        { "\"@timestamp\",\"@message\"\n\"2024\",\"[1,mpirank:0,algo-1]<stderr>:" BAR
          "\"\n\"2024\",\"[1,mpirank:0,algo-1]<stderr>:" BAR "\"\n",
          1.23 },
        { "{\"message\": \"{\\\"current_steps\\\": %d0, \\\"total_steps\\\": 9%d, "
          "\\\"elapsed_time\\\": \\\"0:00:00\\\"}\"}\n{\"message\": "
          "\"{\\\"current_steps\\\": %d0, \\\"total_steps\\\": 9%d, "
          "\\\"elapsed_time\\\": \\\"0:00:25\\\"}\"}\n",
          2.5 },
        { "x1-algo-1-ab12c | iter %d: loss 4.%d, time 500.0ms\n"
          "x1-algo-1-ab12c | iter %d: loss 4.%d, time 500.0ms\n",
          0.5 },
        { "C:\\runs\\%d%d: iter 1: loss 4.0, time 500.0ms\nC:\\runs\\%d%d: iter 2: "
          "loss "
          "4.0, time 500.0ms\n",
          0.5 },
    };
    for (size_t i = 0; i < sizeof(wrapped) / sizeof(wrapped[0]); i++) {
        char name[] = "/tmp/smsim-log-XXXXXX";
        FILE *out = fdopen(mkstemp(name), "w");
        struct logs l;
        struct err err = { 0 };
        fprintf(out, wrapped[i].format, 1, 1, 2, 2);
        fclose(out);
        logs_init(&l);
        CU_ASSERT_EQUAL(logs_read(&l, name, &err), 0);
        CU_ASSERT_EQUAL(l.records.n, wrapped[i].step_s > 2 ? 1 : 2);
        CU_ASSERT_DOUBLE_EQUAL(logs_steady_find(&l, &does).median_s, wrapped[i].step_s,
                               1e-9);
        logs_release(&l);
        unlink(name);
    }
}

void test_training_logs_register(void)
{
    CU_pSuite s = CU_add_suite("training_logs", NULL, NULL);
    CU_add_test(s, "formats", test_formats);
    CU_add_test(s, "prefixes of launchers", test_prefixes);
    CU_add_test(s, "batches that logs say", test_batches);
    CU_add_test(s, "what logs state of the run", test_stated);
    CU_add_test(s, "what is no step", test_refused);
    CU_add_test(s, "an old plugin", test_plugin);
    CU_add_test(s, "steps set apart", test_steady);
    CU_add_test(s, "quantiles", test_quantiles);
    CU_add_test(s, "drift", test_drift);
    CU_add_test(s, "bars", test_bars);
    CU_add_test(s, "the best times are used", test_chosen);
    CU_add_test(s, "timers", test_timers);
    CU_add_test(s, "NCCL", test_nccl);
    CU_add_test(s, "nvidia-smi", test_smi);
    CU_add_test(s, "tables with reasons", test_smi_reasons);
    CU_add_test(s, "dcgmi dmon", test_dmon);
    CU_add_test(s, "nvidia-smi dmon", test_nvidia_dmon);
    CU_add_test(s, "dcgm-exporter", test_exporter);
    CU_add_test(s, "variables", test_variables);
    CU_add_test(s, "files", test_files);
    CU_add_test(s, "wrapped", test_wrapped);
    CU_add_test(s, "a batch by the clock", test_clocked);
}
