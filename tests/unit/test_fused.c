/* Kernels that frameworks fuse, and those that they write out step by step (MODEL.md,
 * 8.15 to 8.21): launches, bytes and what is kept. */
#include "op_bench.h"

#include <string.h>

void test_fused_register(void);

/* Bytes of the operators whose names end so. */
static double ending_B(const struct op *ops, int32_t n, const char *ending)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        size_t length = strlen(ops[i].name), tail = strlen(ending);
        if (length >= tail && strcmp(ops[i].name + length - tail, ending) == 0)
            sum += ops[i].read_B + ops[i].write_B;
    }
    return sum;
}

/* Casts around fp8 products (MODEL.md, 8.18) and what fp8 inputs keep. */
static void test_fp8(void)
{
    struct arena a;
    arena_init(&a);
    struct framework plain = op_fused, merged = op_fused;
    merged.kernels.fp8_norm = merged.tensors.fp8_weights_kept = true;
    struct model m = op_gpt();
    struct op_settings s = op_settings_of(OP_FP8, &plain),
                       wide = op_settings_of(OP_BF16, &plain);
    double big = (double)BATCH * SEQ * H, w = (double)H * H;
    s.attention = wide.attention = OP_ATTENTION_FLASH;
    struct op_list apart = op_make(&a, &m, s), half = op_make(&a, &m, wide);
    s.framework = &merged;
    struct op_list together = op_make(&a, &m, s);
    const struct op_block *x = &apart.blocks[1], *y = &together.blocks[1];
    /* inputs A + A + A + 4A, gradients 3A + A + 4A + A: read 2 B, write twice 1 B */
    CU_ASSERT_EQUAL(ending_B(x->forward, x->n_forward, "_input_fp8"), 4 * 7 * big);
    CU_ASSERT_EQUAL(ending_B(x->forward, x->n_forward, "_weight_fp8"), 4 * 12 * w);
    CU_ASSERT_EQUAL(ending_B(x->backward, x->n_backward, "_grad_fp8"), 4 * 9 * big);
    CU_ASSERT_EQUAL(ending_B(y->forward, y->n_forward, "_input_fp8"), 4 * 5 * big);
    CU_ASSERT_EQUAL(ending_B(y->forward, y->n_forward, "_weight_fp8"), 0);
    CU_ASSERT_EQUAL(ending_B(y->backward, y->n_backward, "_input_transpose"), 4 * big);
    /* inputs of the four products in 8 bits; attention keeps the context in 16 too */
    double saved =
        (double)op_block_kept_B(&half.blocks[1]) - (double)op_block_kept_B(x);
    CU_ASSERT_EQUAL(saved, (1 + 1 + 4) * big - big);
    /* the head's product is no fp8 one */
    const struct op_block *head = &apart.blocks[2];
    CU_ASSERT_EQUAL(ending_B(head->forward, head->n_forward, "_fp8"), 0);
    CU_ASSERT_EQUAL(op_block_kept_B(head), op_block_kept_B(&half.blocks[2]));
    arena_release(&a);
}

/* Whether a product has rows that are no whole pieces of 16 bytes. */
static bool any_odd(const struct op *ops, int32_t n, int64_t element_B)
{
    bool odd = false;
    for (int32_t i = 0; i < n; i++)
        odd |= ops[i].kind == OP_GEMM &&
               (ops[i].n * element_B % 16 || ops[i].k * element_B % 16);
    return odd;
}

/* Compiled code pads an odd vocabulary's products; FLOPs are the model's (MODEL.md,
 * 8.7). */
static void test_padded(void)
{
    struct arena a;
    arena_init(&a);
    struct framework pads = op_fused;
    pads.kernels.pads_products = true;
    struct model m = op_gpt();
    m.ends.vocab = 50257;
    struct op_settings plain = op_settings_of(OP_BF16, &op_fused),
                       wide = op_settings_of(OP_FP32, &pads);
    struct op_list odd = op_make(&a, &m, plain);
    plain.framework = &pads;
    struct op_list even = op_make(&a, &m, plain), fp32 = op_make(&a, &m, wide);
    const struct op_block *x = &odd.blocks[2], *y = &even.blocks[2],
                          *z = &fp32.blocks[2];
    CU_ASSERT_TRUE(any_odd(x->forward, x->n_forward, 2));
    CU_ASSERT_TRUE(any_odd(x->backward, x->n_backward, 2));
    CU_ASSERT_FALSE(any_odd(y->forward, y->n_forward, 2));
    CU_ASSERT_FALSE(any_odd(y->backward, y->n_backward, 2));
    CU_ASSERT_FALSE(any_odd(z->forward, z->n_forward, 4));
    CU_ASSERT_EQUAL(op_sum(x->forward, x->n_forward).flops,
                    op_sum(y->forward, y->n_forward).flops);
    CU_ASSERT_EQUAL(op_sum(x->backward, x->n_backward).flops,
                    op_sum(y->backward, y->n_backward).flops);
    arena_release(&a);
}

/* Kernels of a block, but for products. */
static int64_t launches(const struct op_block *block)
{
    int64_t n = 0;
    for (int32_t i = 0; i < block->n_forward; i++)
        n += block->forward[i].launches;
    for (int32_t i = 0; i < block->n_backward; i++)
        n += block->backward[i].launches;
    return n;
}

/* An activation with its gate in one kernel (MODEL.md, 8.19): reads both, writes their
 * product, and keeps nothing between. */
static void test_fused_gate(void)
{
    struct arena a;
    arena_init(&a);
    struct framework one = op_eager;
    one.kernels.fused_gate = true;
    struct model m = op_llama(HEADS, 3 * H);
    struct op_list apart = op_make(&a, &m, op_settings_of(OP_BF16, &op_eager));
    struct op_list fused_list = op_make(&a, &m, op_settings_of(OP_BF16, &one));
    const struct op_block *x = &apart.blocks[1], *y = &fused_list.blocks[1];
    double inside = 3.0 * BATCH * SEQ * H;
    struct op_sums f = op_sum(x->forward, x->n_forward),
                   b = op_sum(x->backward, x->n_backward);
    struct op_sums g = op_sum(y->forward, y->n_forward),
                   c = op_sum(y->backward, y->n_backward);
    CU_ASSERT_EQUAL(f.read_B + f.write_B - g.read_B - g.write_B, 4 * inside);
    CU_ASSERT_EQUAL(b.read_B + b.write_B - c.read_B - c.write_B, 6 * inside);
    CU_ASSERT_EQUAL((double)(op_block_kept_B(x) - op_block_kept_B(y)), 2 * inside);
    CU_ASSERT_EQUAL(f.flops, g.flops);
    arena_release(&a);
}

/* RMSNorm of several kernels keeps 4 B an element more than one kernel: the input in fp32
 * in place of its 16 bits, and what a trained weight multiplies. */
static void test_eager_norm(void)
{
    static const struct {
        enum op_precision precision;
        int64_t rank; /* of adapters: norms are frozen */
        int64_t more_B;
    } rows[] = { { OP_BF16, 0, 4 },
                 { OP_AMP_BF16, 0, 4 },
                 { OP_BF16, 8, 2 },
                 { OP_AMP_BF16, 8, 0 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct framework one = op_eager, several = op_eager;
        one.kernels.fused_norm = true;
        several.kernels.fused_norm = false;
        struct model m = op_llama(HEADS, 3 * H);
        struct op_settings s = op_settings_of(rows[i].precision, &several);
        s.lora.rank = rows[i].rank;
        struct op_list apart = op_make(&a, &m, s);
        s.framework = &one;
        struct op_list fused_list = op_make(&a, &m, s);
        CU_ASSERT_EQUAL(op_block_kept_B(&apart.blocks[1]) -
                            op_block_kept_B(&fused_list.blocks[1]),
                        2 * rows[i].more_B * BATCH * SEQ * H);
        arena_release(&a);
    }
}

/* So do those of queries and keys: of 16-bit products in every precision. */
static void test_eager_head_norms(void)
{
    static const struct {
        enum op_precision precision;
        int64_t rank;
        int64_t more_B;
    } rows[] = { { OP_BF16, 0, 4 },
                 { OP_AMP_BF16, 0, 4 },
                 { OP_BF16, 8, 2 },
                 { OP_AMP_BF16, 8, 2 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct framework several = op_eager;
        several.kernels.fused_norm = false;
        struct model m = op_llama(HEADS, 3 * H);
        struct op_settings s = op_settings_of(rows[i].precision, &several);
        s.lora.rank = rows[i].rank;
        int64_t without = op_block_kept_B(&op_make(&a, &m, s).blocks[1]);
        m.attention.q_norm = m.attention.k_norm = H / HEADS;
        int64_t with = op_block_kept_B(&op_make(&a, &m, s).blocks[1]);
        CU_ASSERT_EQUAL(with - without, (2 + rows[i].more_B) * 2 * BATCH * SEQ * H);
        arena_release(&a);
    }
}

/* Rotary embeddings in one kernel each way read and write queries and keys once; the
 * eager chains of 10 and 18 kernels move 10 and 15 times as much, and keep the same. */
static void test_fused_rope(void)
{
    struct arena a;
    arena_init(&a);
    struct framework one = op_eager;
    one.kernels.fused_rope = true;
    struct model m = op_llama(HEADS / 4, 3 * H);
    struct op_list apart = op_make(&a, &m, op_settings_of(OP_BF16, &op_eager));
    struct op_list fused_list = op_make(&a, &m, op_settings_of(OP_BF16, &one));
    const struct op_block *x = &apart.blocks[1], *y = &fused_list.blocks[1];
    double both = 1.25 * 2 * BATCH * SEQ * H; /* bytes of q and k */
    struct op_sums f = op_sum(x->forward, x->n_forward),
                   b = op_sum(x->backward, x->n_backward);
    struct op_sums g = op_sum(y->forward, y->n_forward),
                   c = op_sum(y->backward, y->n_backward);
    CU_ASSERT_EQUAL(f.read_B - g.read_B, 4.5 * both);
    CU_ASSERT_EQUAL(f.write_B - g.write_B, 3.5 * both);
    CU_ASSERT_EQUAL(b.read_B - c.read_B, 6.5 * both);
    CU_ASSERT_EQUAL(b.write_B - c.write_B, 6.5 * both);
    CU_ASSERT_EQUAL(launches(x) - launches(y), 10 + 18 - 1 - 1);
    CU_ASSERT_EQUAL(op_block_kept_B(x), op_block_kept_B(y));

    struct framework split =
        op_eager; /* documents one by one: two copies more each way */
    split.kernels.split_rope = true;
    struct op_list split_list = op_make(&a, &m, op_settings_of(OP_BF16, &split));
    const struct op_block *z = &split_list.blocks[1];
    g = op_sum(z->forward, z->n_forward), c = op_sum(z->backward, z->n_backward);
    CU_ASSERT_EQUAL(g.read_B - f.read_B, 2 * both);
    CU_ASSERT_EQUAL(g.write_B - f.write_B, 2 * both);
    CU_ASSERT_EQUAL(c.read_B - b.read_B, 2 * both);
    CU_ASSERT_EQUAL(c.write_B - b.write_B, 2 * both);
    CU_ASSERT_EQUAL(op_block_kept_B(x), op_block_kept_B(z));
    arena_release(&a);
}

/* Activations that eager code computes step by step (MODEL.md, 8.21): kernels, bytes
 * and kept tensors over those of one kernel, in elements of the MLP's inside. */
static void test_activations(void)
{
    static const struct {
        enum model_activation which;
        int64_t more_launches;
        double read, written, kept;
    } cases[] = {
        { MODEL_ACTIVATION_KERNEL, 0, 0, 0, 0 },
        { MODEL_ACTIVATION_GELU_NEW, 17, 24, 17, 3 },
        { MODEL_ACTIVATION_GELU_FAST, 20, 32, 20, 6 },
        { MODEL_ACTIVATION_SQUARED_RELU, 4, 5, 4, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct framework one = op_eager;
        one.kernels.fused_activation = true;
        struct model m = op_gpt();
        m.activation = cases[i].which;
        struct op_list apart = op_make(&a, &m, op_settings_of(OP_BF16, &op_eager));
        struct op_list single = op_make(&a, &m, op_settings_of(OP_BF16, &one));
        const struct op_block *x = &apart.blocks[1], *y = &single.blocks[1];
        double inside = 2.0 * BATCH * SEQ * (double)m.mlp.width;
        struct op_sums f = op_sum(x->forward, x->n_forward);
        struct op_sums g = op_sum(y->forward, y->n_forward);
        struct op_sums b = op_sum(x->backward, x->n_backward);
        struct op_sums c = op_sum(y->backward, y->n_backward);
        CU_ASSERT_EQUAL(launches(x) - launches(y), cases[i].more_launches);
        CU_ASSERT_EQUAL(f.read_B + b.read_B - g.read_B - c.read_B,
                        cases[i].read * inside);
        CU_ASSERT_EQUAL(f.write_B + b.write_B - g.write_B - c.write_B,
                        cases[i].written * inside);
        CU_ASSERT_EQUAL((double)(op_block_kept_B(x) - op_block_kept_B(y)),
                        cases[i].kept * inside);
        arena_release(&a);
    }
}

/* A fused loss (MODEL.md, 8.15) holds the 16-bit logits alone: no copy in fp32, and its
 * gradient in their place. */
static void test_fused_loss(void)
{
    struct arena a;
    arena_init(&a);
    struct framework in_place = op_eager;
    in_place.loss.fused = true;
    struct model m = op_gpt();
    int64_t logits_B = INT64_C(2) * BATCH * SEQ * m.ends.vocab, held_B = 0, eager_B = 0;
    struct op_list list = op_make(&a, &m, op_settings_of(OP_BF16, &in_place));
    struct op_list apart = op_make(&a, &m, op_settings_of(OP_BF16, &op_eager));
    const struct op_block *head = &list.blocks[2], *other = &apart.blocks[2];
    for (int32_t i = 0; i < head->n_forward; i++)
        for (int32_t j = 0; j < head->forward[i].n_outs; j++)
            if (head->forward[i].outs[j].size_B >= logits_B / 2)
                held_B += head->forward[i].outs[j].size_B;
    for (int32_t i = 0; i < head->n_backward; i++)
        for (int32_t j = 0; j < head->backward[i].n_outs; j++)
            CU_ASSERT(head->backward[i].outs[j].size_B < logits_B / 2);
    CU_ASSERT_EQUAL(held_B, logits_B);
    for (int32_t i = 0; i < other->n_forward; i++)
        for (int32_t j = 0; j < other->forward[i].n_outs; j++)
            eager_B += other->forward[i].outs[j].size_B;
    CU_ASSERT(eager_B >= 5 * logits_B);
    struct framework on_copy = op_eager;
    on_copy.loss.in_place = true; /* one fp32 copy: the softmax, then the gradient */
    list = op_make(&a, &m, op_settings_of(OP_BF16, &on_copy));
    CU_ASSERT_EQUAL(op_block_kept_B(&list.blocks[2]) + 3 * logits_B,
                    op_block_kept_B(other));
    arena_release(&a);
}

static int64_t made_by_backward_B(const struct op_block *block, const char *name)
{
    int64_t sum_B = 0;
    for (int32_t i = 0; i < block->n_backward; i++)
        for (int32_t j = 0; j < block->backward[i].n_outs; j++)
            if (strcmp(block->backward[i].name, name) == 0)
                sum_B += block->backward[i].outs[j].size_B;
    return sum_B;
}

/* Compiled, the loss holds the 16-bit logits, too, and makes a separate gradient.
 * Over a split vocabulary one of several kernels may make more than that (8.15). */
static void test_compiled_loss(void)
{
    struct arena a;
    arena_init(&a);
    struct framework fw[] = { op_eager, op_eager, op_eager };
    fw[0].loss.fused = true;
    fw[1].loss.compiled = true;
    fw[2].loss.split_B = 4;
    struct model m = op_gpt();
    int64_t logits_B = INT64_C(2) * BATCH * SEQ * m.ends.vocab;
    struct op_settings s = op_settings_of(OP_BF16, &fw[0]);
    struct op_list fused_list = op_make(&a, &m, s);
    s.framework = &fw[1];
    struct op_list list = op_make(&a, &m, s);
    CU_ASSERT_EQUAL(op_block_kept_B(&list.blocks[2]),
                    op_block_kept_B(&fused_list.blocks[2]));
    CU_ASSERT_EQUAL(made_by_backward_B(&fused_list.blocks[2], "loss_bwd"), 0);
    CU_ASSERT_EQUAL(made_by_backward_B(&list.blocks[2], "loss_bwd"), logits_B);
    s.framework = &fw[2];
    list = op_make(&a, &m, s);
    CU_ASSERT_EQUAL(made_by_backward_B(&list.blocks[2], "loss_bwd"), logits_B);
    s.tensor = 4;
    list = op_make(&a, &m, s);
    CU_ASSERT_EQUAL(made_by_backward_B(&list.blocks[2], "loss_bwd"), 3 * logits_B / 4);
    /* both: the log-softmax of 4 B stays with the logits */
    s.framework = &fw[1];
    list = op_make(&a, &m, s);
    int64_t kept_B = op_block_kept_B(&list.blocks[2]);
    fw[1].loss.split_B = 4;
    list = op_make(&a, &m, s);
    CU_ASSERT_EQUAL(op_block_kept_B(&list.blocks[2]) - kept_B, 2 * logits_B / 4);
    CU_ASSERT_EQUAL(made_by_backward_B(&list.blocks[2], "loss_bwd"), 3 * logits_B / 4);
    arena_release(&a);
}

/* Log-softmax keeps 16 bits where nothing casts the logits, and whole words where each
 * rank has all of them (8.15). */
static void test_raw_loss(void)
{
    struct arena a;
    arena_init(&a);
    struct model m = op_gpt();
    int64_t logits_B = INT64_C(2) * BATCH * SEQ * m.ends.vocab;
    struct op_settings s = op_settings_of(OP_BF16, &op_eager);
    s.raw_loss = true;
    struct op_list list = op_make(&a, &m, s);
    int64_t kept_B = op_block_kept_B(&list.blocks[2]);
    CU_ASSERT_EQUAL(made_by_backward_B(&list.blocks[2], "loss_bwd"), 2 * logits_B);
    s.raw_loss = false;
    list = op_make(&a, &m, s);
    CU_ASSERT_EQUAL(op_block_kept_B(&list.blocks[2]) - kept_B, 3 * logits_B);
    /* those of an engine that holds the last stage's outputs stay, too, and those of the
     * microbatch before */
    int64_t eager_B = made_by_backward_B(&list.blocks[2], "loss_bwd");
    kept_B = op_block_kept_B(&list.blocks[2]);
    struct framework holds = op_eager;
    holds.loss.kept = true;
    s.framework = &holds;
    list = op_make(&a, &m, s);
    CU_ASSERT_EQUAL(made_by_backward_B(&list.blocks[2], "loss_bwd"),
                    eager_B + logits_B);
    CU_ASSERT_EQUAL(op_block_kept_B(&list.blocks[2]) - kept_B, logits_B);
    s.framework = &op_eager;
    s.raw_loss = true;
    s.tensor = 4;
    list = op_make(&a, &m, s);
    kept_B = op_block_kept_B(&list.blocks[2]);
    s.whole_loss = true;
    list = op_make(&a, &m, s);
    CU_ASSERT_EQUAL(op_block_kept_B(&list.blocks[2]) - kept_B, 2 * 3 * logits_B / 4);
    CU_ASSERT_EQUAL(made_by_backward_B(&list.blocks[2], "loss_bwd"), 2 * logits_B);
    arena_release(&a);
}

static const struct op *forward_op(const struct op_block *block, const char *name)
{
    for (int32_t i = 0; i < block->n_forward; i++)
        if (strcmp(block->forward[i].name, name) == 0)
            return &block->forward[i];
    return NULL;
}

/* Whole logits that come as a list are copied out of one block into the list, and joined
 * (8.15). */
static void test_listed_logits(void)
{
    struct arena a;
    arena_init(&a);
    struct framework lists = op_eager;
    lists.tensor.list_gather = true;
    struct model m = op_gpt();
    int64_t logits_B = INT64_C(2) * BATCH * SEQ * m.ends.vocab;
    struct op_settings s = op_settings_of(OP_BF16, &lists);
    s.tensor = 4;
    struct op_list list = op_make(&a, &m, s);
    CU_ASSERT_PTR_NULL(forward_op(&list.blocks[2], "logits_gather"));
    s.whole_loss = true;
    list = op_make(&a, &m, s);
    const struct op *op = forward_op(&list.blocks[2], "logits_gather");
    CU_ASSERT_PTR_NOT_NULL_FATAL(op);
    CU_ASSERT_EQUAL(op->n_outs, 1);
    CU_ASSERT_EQUAL(op->outs[0].size_B, 2 * logits_B);
    CU_ASSERT_EQUAL(op->outs[0].kept_until, -1);
    arena_release(&a);
}

/* v as a view keeps the block of q, k and v next to what rotation makes (5.5a). */
static void test_value_view(void)
{
    struct arena a;
    arena_init(&a);
    struct framework joined = op_eager, views = op_eager;
    joined.kernels.fused_qkv = views.kernels.fused_qkv = true;
    views.kernels.value_view = true;
    struct model m = op_llama(HEADS / 2, 3 * H);
    struct op_settings s = op_settings_of(OP_BF16, &joined);
    s.attention = OP_ATTENTION_FLASH;
    struct op_list own = op_make(&a, &m, s);
    s.framework = &views;
    struct op_list list = op_make(&a, &m, s);
    CU_ASSERT_EQUAL(op_block_kept_B(&list.blocks[1]) - op_block_kept_B(&own.blocks[1]),
                    INT64_C(2) * BATCH * SEQ * (H + H / 2)); /* q and k */
    CU_ASSERT_EQUAL(launches(&list.blocks[1]), launches(&own.blocks[1]));
    arena_release(&a);
}

void test_fused_register(void)
{
    CU_pSuite suite = CU_add_suite("fused operators", NULL, NULL);
    CU_add_test(suite, "casts around fp8 products", test_fp8);
    CU_add_test(suite, "compiled code pads odd products", test_padded);
    CU_add_test(suite, "a fused gate keeps nothing between", test_fused_gate);
    CU_add_test(suite, "several kernels of a norm keep fp32", test_eager_norm);
    CU_add_test(suite, "and those of heads do", test_eager_head_norms);
    CU_add_test(suite, "rotary embeddings in one kernel", test_fused_rope);
    CU_add_test(suite, "activations of several kernels", test_activations);
    CU_add_test(suite, "a fused loss holds 16-bit logits alone", test_fused_loss);
    CU_add_test(suite, "compiled loss, split loss", test_compiled_loss);
    CU_add_test(suite, "a loss of 16-bit logits", test_raw_loss);
    CU_add_test(suite, "logits gathered as a list", test_listed_logits);
    CU_add_test(suite, "values as views of the joined product", test_value_view);
}
