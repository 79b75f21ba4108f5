#include "logs/notices.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *text;
    enum logs_notice notice;
} rows[] = {
    { "saving checkpoint", NOTICE_CHECKPOINT },          /* Megatron-LM, checkpointing.py */
    { "saved checkpoint", NOTICE_CHECKPOINT },
    { "Saving checkpoint", NOTICE_CHECKPOINT },
    { "Saving the checkpoint", NOTICE_CHECKPOINT },      /* torchtitan */
    { "Saving model checkpoint", NOTICE_CHECKPOINT },    /* transformers, trainer.py */
    { "Saving model state", NOTICE_CHECKPOINT },
    { "Finished saving the checkpoint", NOTICE_CHECKPOINT },
    { "[Torch] Saving", NOTICE_CHECKPOINT },             /* DeepSpeed */
    { "saving model to", NOTICE_CHECKPOINT },            /* Lightning */
    { "Model checkpoint of size", NOTICE_CHECKPOINT },   /* torchtune */
    { "validation loss at", NOTICE_EVALUATION },         /* Megatron-LM, training.py */
    { "Evaluating on", NOTICE_EVALUATION },
    { "***** Running Evaluation", NOTICE_EVALUATION },   /* transformers */
    { "***** Running Prediction", NOTICE_EVALUATION },
    { "'eval_runtime'", NOTICE_EVALUATION },
    { "[Eval batch=", NOTICE_EVALUATION },               /* Composer */
    { "validate step:", NOTICE_EVALUATION },             /* torchtitan */
    { "Validation DataLoader", NOTICE_EVALUATION },      /* Lightning */
    { "[GC] P", NOTICE_PAUSE },                          /* torchtitan, tools/utils.py */
    { "Dumping profiler traces", NOTICE_PAUSE },
    { "Dumping memory snapshot", NOTICE_PAUSE },
    { "recompile_limit", NOTICE_RECOMPILED },            /* torch._dynamo */
    { "cache_size_limit", NOTICE_RECOMPILED },
    { "pytorch allocator cache flushes since last step", NOTICE_CACHE_FLUSH }, /* DeepSpeed, stage3.py */
    { "cudaMalloc retries:", NOTICE_CACHE_FLUSH },        /* torch.cuda.memory_summary() */
    { "CUDA memory allocation retries", NOTICE_CACHE_FLUSH }, /* torchtitan, metrics.py */
    { "CUDA out of memory", NOTICE_OUT_OF_MEMORY },
    { "not compiled with flash attention", NOTICE_NO_FLASH }, /* PyTorch, sdp_utils */
    { "flash_attn is not installed", NOTICE_NO_FLASH },
    { "FlashAttention is not installed", NOTICE_NO_FLASH },
    { "flash-attn is not installed", NOTICE_NO_FLASH },
    { "alling back to eager attention", NOTICE_EAGER },  /* transformers */
    { "alling back to the manual attention implementation", NOTICE_EAGER },
    { "P2P is disabled between NVLINK connected GPUs", NOTICE_NO_P2P }, /* NCCL, graph/paths.cc */
    { "fused kernels are not available", NOTICE_NO_FUSED_KERNELS },
    { "Apex is not installed", NOTICE_NO_FUSED_KERNELS },
    { "OVERFLOW! Rank", NOTICE_OVERFLOW },               /* DeepSpeed */
    { "OVERFLOW! Skipping step", NOTICE_OVERFLOW },
    { "Watchdog caught collective operation timeout", NOTICE_TIMEOUT }, /* PyTorch */
    { "suggested max number of worker", NOTICE_FEW_WORKERS },
    { "does not have many workers", NOTICE_FEW_WORKERS }, /* Lightning */
    { "NVRM: Xid", NOTICE_XID },
    { "pad_to_max_length=True", NOTICE_PADDING },        /* arguments as the Trainer's scripts print them */
    { "pad_to_max_length': True", NOTICE_PADDING },
    { "pad_to_sequence_len: true", NOTICE_PADDING },     /* axolotl's configuration */
    { "pad_to_sequence_len\": true", NOTICE_PADDING },
    { "padding='max_length'", NOTICE_PADDING },
    { "\"padding\": \"max_length\"", NOTICE_PADDING },
};

static const char *const texts[NOTICES] = {
    [NOTICE_CHECKPOINT] = "a checkpoint was written",
    [NOTICE_EVALUATION] = "an evaluation ran",
    [NOTICE_PAUSE] = "garbage was collected, or a trace written",
    [NOTICE_RECOMPILED] = "torch.compile gave up after too many compilations",
    [NOTICE_CACHE_FLUSH] = "the allocator flushed its cache: memory is nearly full",
    [NOTICE_OUT_OF_MEMORY] = "CUDA ran out of memory",
    [NOTICE_NO_FLASH] = "flash attention is not installed",
    [NOTICE_EAGER] = "attention fell back to eager kernels",
    [NOTICE_NO_P2P] = "P2P is disabled between GPUs that NVLink connects",
    [NOTICE_NO_FUSED_KERNELS] = "fused kernels are missing",
    [NOTICE_OVERFLOW] = "a step was skipped: the loss scale overflowed",
    [NOTICE_TIMEOUT] = "a collective timed out",
    [NOTICE_FEW_WORKERS] = "PyTorch warns of the number of data-loader workers",
    [NOTICE_XID] = "the driver reported a GPU error (Xid)",
    [NOTICE_PADDING] = "sequences are padded to the longest",
};
/* clang-format on */

const char *logs_notice_text(enum logs_notice notice)
{
    return texts[notice];
}

/* Whether a text is a count's name, and the count is 0. */
static bool counts_none(const char *at, const char *text)
{
    static const char count[] = "cudaMalloc retries:";
    return strcmp(text, count) == 0 && atof(at + sizeof(count) - 1) <= 0;
}

unsigned logs_notices_read(struct logs_notices *all, const char *line, int64_t number,
                           int32_t file)
{
    static const unsigned events[NOTICES] = {
        [NOTICE_CHECKPOINT] = LOGS_CHECKPOINT,
        [NOTICE_EVALUATION] = LOGS_EVALUATION,
        [NOTICE_PAUSE] = LOGS_PAUSE,
    };
    unsigned found = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *at = strstr(line, rows[i].text);
        if (!at || counts_none(at, rows[i].text))
            continue;
        enum logs_notice notice = rows[i].notice;
        if (all->of[notice].n++ == 0) {
            all->of[notice].line = number;
            all->of[notice].file = file;
        }
        found |= events[notice];
    }
    return found;
}
