/* Memory of a pass: tensors of operators, gradients, local variables. */
#ifndef STEP_PASS_PASS_MEMORY_H
#define STEP_PASS_PASS_MEMORY_H

#include "step/builder.h"

/* What an operator makes, while that of the one before is freed if nobody keeps it (or
 * at once). */
void pass_allocate(struct builder *b, const struct op *op);
void pass_free_transient(struct builder *b);

/* The gradient of a parameter, made to be added to its sum. */
void pass_make_gradient(struct builder *b, double made_B, double sum_B);

/* Whether autograd is given a dummy for the gradient of that parameter, which the
 * product has added to the sum itself; bytes of all dummies (MODEL.md, 5.6). */
bool pass_has_dummy(const struct stage *stage, const struct op_block *block,
                    const struct op_param *p);
int64_t pass_dummies_B(const struct stage *stage);

/* Frees what forward kept for this operator of the block's backward. */
void pass_free_kept(struct builder *b, int32_t block, int32_t backward);

/* Autocast's 16-bit copies of a block's weights, made in forward and dropped in
 * backward (a sharded unit is gathered in 16 bits). */
int64_t pass_autocast_B(const struct stage *stage, const struct op_block *block);

/* Before a forward operator of the block; after the last: local variables live until
 * their function returns. */
/* The forward operator that is run once more for its module's backward; -1: no more. */
void pass_scope_again(struct builder *b, int32_t block, int32_t at);
void pass_scope(struct builder *b, int32_t block, int32_t at);
void pass_leave_scope(struct builder *b);

/* What the forward block's scatters within the tensor group have read comes back when
 * the GPU has passed them (MODEL.md, 5.7): at the end of the microbatch, or in pipelines,
 * where the host is ahead of the GPU, of the pass. */
void pass_hold_late(struct builder *b, int32_t block, bool backward,
                    const struct host_spent *spent);

/* Of what the backward pass at hand has freed, that which the GPU will not have passed
 * at the end of a forward after it, if the host waits for nobody in between. */
/* cuBLAS's, of one thread. */
int64_t pass_product_workspace_B(const struct stage *stage);

/* What a collective before the operator writes; where buffers for what products gather
 * stay, into these. Bytes of both. */
void pass_gather(struct builder *b, const struct op *op, const struct op_comm *comm);
int64_t pass_gather_buffers_B(const struct stage *stage);

/* Gradients of the microbatch are added to the sums where these are flat. */
void pass_add_gradients(struct builder *b);

/* As what they are booked. */
enum ledger_kind pass_late_kind(const struct builder *b);

struct late_blocks pass_left_late(const struct builder *b);

/* Of what the forward at hand has freed, that which is among the launches by which a
 * host leads at most, if it waits for nobody and so much is held already. */
struct late_blocks pass_led(const struct builder *b, const struct late_blocks *held);

/* More blocks are held; all are free. */
void pass_hold_blocks(struct builder *b, struct late_blocks *held,
                      const struct late_blocks *more, enum ledger_kind kind);
void pass_free_blocks(struct builder *b, struct late_blocks *held);

#endif
