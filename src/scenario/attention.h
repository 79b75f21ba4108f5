/* Which kernel computes attention: what the scenario writes, or else what the job's
 * software would take by itself, by library, version, family, GPU and format
 * (MODEL.md, 3.15). */
#ifndef SCENARIO_ATTENTION_H
#define SCENARIO_ATTENTION_H

#include "scenario/scenario.h"

/* The words of training/attention, and of launch scripts. Those below OP_ATTENTION_N
 * are kernels by name; the others depend on the GPU. */
enum {
    ATTENTION_OPEN = -1, /* not written */
    ATTENTION_SDPA = OP_ATTENTION_N
};
extern const struct name_value attention_words[];

/* Whether fused attention skips what it has not to compute by a rule of its own, or is
 * handed a tensor that says which scores count. */
enum { ATTENTION_MASK_OPEN = -1, ATTENTION_MASK_KERNEL, ATTENTION_MASK_TENSOR };
extern const struct name_value attention_masks[];

/* A kernel, and which rule takes it; `why` lives in the arena or for ever. */
struct attention {
    enum op_attention kernel;
    const char *why;
};

/* Whether PyTorch's fused attention is handed a mask: as written, or else since
 * sequences are padded. Needs the micro-batch, too. */
bool attention_has_mask(const struct scenario *s);

/* What the scenario's job runs on a GPU. Its model, training (attention_word and
 * precision), framework and degrees have to be known. */
struct attention attention_on(const struct scenario *s, const struct gpu *gpu,
                              struct arena *arena);

/* Why a written mask cannot be, and what to write; NULL: it can, or none is written. */
const char *attention_mask_refusal(const struct scenario *s);

/* Why the kernel that the scenario writes cannot run on a GPU, with what to write; NULL:
 * it can, or none is written. */
const char *attention_refusal(const struct scenario *s, const struct gpu *gpu,
                              struct arena *arena);

/* Whether the job's attention is Transformer Engine's choice, and whether the variables
 * NVTE_FLASH_ATTN and NVTE_FUSED_ATTN leave it none but products around a fused softmax. */
bool attention_is_engine(const struct scenario *s);
bool attention_engine_is_plain(const struct scenario *s);

#endif
