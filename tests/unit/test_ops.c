/* Operator lists against the byte and FLOP tables they were made from (MODEL.md,
 * "Operator lists"): A = tokens x hidden, S = heads x s x s x batch, W = hidden^2. */
#include "op_bench.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_ops_register(void);

/* Coefficients of A, S and W. */
struct abc {
    double a, s, w;
};

static double value(struct abc c)
{
    double tokens = (double)BATCH * SEQ;
    return c.a * tokens * H + c.s * (double)HEADS * SEQ * SEQ * BATCH +
           c.w * (double)H * H;
}

struct table {
    const char *name;
    enum op_precision precision;
    const struct framework *framework;
    bool gpt;
    struct abc f_read, f_write, b_read, b_write, kept;
};

static const struct table tables[] = {
    { "T1",
      OP_FP16,
      &op_old_eager,
      false,
      { 56, 10, 24 },
      { 50, 11, 0 },
      { 144, 15, 24 },
      { 56, 8, 24 },
      { 34, 7, 0 } },
    { "T1 torch > 1.10",
      OP_BF16,
      &op_eager,
      false,
      { 56, 10, 24 },
      { 50, 11, 0 },
      { 144, 15, 24 },
      { 56, 8, 24 },
      { 34, 5, 0 } },
    { "T1 fp32",
      OP_FP32,
      &op_old_eager,
      false,
      { 112, 20, 48 },
      { 98, 21, 0 },
      { 286, 29, 48 },
      { 112, 16, 48 },
      { 66, 13, 0 } },
    { "T1 tf32",
      OP_TF32,
      &op_eager,
      false,
      { 112, 20, 48 },
      { 98, 21, 0 },
      { 286, 29, 48 },
      { 112, 16, 48 },
      { 66, 9, 0 } },
    { "T2",
      OP_AMP_FP16,
      &op_old_eager,
      false,
      { 80, 18, 72 },
      { 66, 19, 24 },
      { 192, 27, 48 },
      { 88, 18, 72 },
      { 42, 11, 0 } },
    { "T2 torch > 1.10",
      OP_AMP_BF16,
      &op_eager,
      false,
      { 80, 18, 72 },
      { 66, 19, 24 },
      { 192, 27, 48 },
      { 88, 18, 72 },
      { 42, 7, 0 } },
    { "T3",
      OP_FP16,
      &op_fused,
      true,
      { 42, 6, 24 },
      { 40, 7, 0 },
      { 128, 13, 24 },
      { 48, 6, 24 },
      { 34, 5, 0 } },
};

static void check_table(const struct table *t)
{
    struct arena a;
    arena_init(&a);
    struct model m = t->gpt ? op_gpt() : op_bert;
    struct op_list list = op_make(&a, &m, op_settings_of(t->precision, t->framework));
    const struct op_block *layer = &list.blocks[1];
    struct op_sums f = op_sum(layer->forward, layer->n_forward);
    struct op_sums b = op_sum(layer->backward, layer->n_backward);
    double tokens = (double)BATCH * SEQ;
    double flops = 24 * tokens * H * H + 4.0 * SEQ * tokens * H;
    CU_ASSERT_EQUAL(f.flops, flops);
    CU_ASSERT_EQUAL(b.flops, 2 * flops);
    CU_ASSERT_EQUAL(f.read_B, value(t->f_read));
    CU_ASSERT_EQUAL(f.write_B, value(t->f_write));
    CU_ASSERT_EQUAL(b.read_B, value(t->b_read));
    CU_ASSERT_EQUAL(b.write_B, value(t->b_write));
    CU_ASSERT_EQUAL((double)op_block_kept_B(layer), value(t->kept));
    arena_release(&a);
}

static void test_tables(void)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        check_table(&tables[i]);
}

/* Biases that products do not add themselves: 9A elements of a layer's outputs read and
 * written again (QKV 3, out 1, up 4, down 1), 5A where the activation adds the 4. */
static void check_biases(bool by_activation, double elements)
{
    struct arena a;
    arena_init(&a);
    struct framework fw = op_eager;
    struct op_list with = op_make(&a, &op_bert, op_settings_of(OP_FP16, &fw));
    struct framework apart = op_eager;
    apart.kernels.fused_bias = false;
    apart.kernels.fused_bias_gelu = by_activation;
    struct op_list without = op_make(&a, &op_bert, op_settings_of(OP_FP16, &apart));
    const struct op_block *l = &with.blocks[1], *m = &without.blocks[1];
    struct op_sums f = op_sum(l->forward, l->n_forward),
                   g = op_sum(m->forward, m->n_forward);
    double bytes = 2.0 * elements * BATCH * SEQ * H;
    CU_ASSERT_EQUAL(g.read_B - f.read_B, bytes);
    CU_ASSERT_EQUAL(g.write_B - f.write_B, bytes);
    CU_ASSERT_EQUAL(g.flops, f.flops);
    CU_ASSERT_EQUAL(op_block_kept_B(m), op_block_kept_B(l));
    arena_release(&a);
}

static void test_biases(void)
{
    check_biases(false, 9);
    check_biases(true, 5);
}

/* Llama: coefficients of A over g = kv heads / heads and c = ffn / hidden. */
static void check_llama(int64_t kv_heads, int64_t ffn)
{
    struct arena a;
    arena_init(&a);
    struct model m = op_llama(kv_heads, ffn);
    struct op_settings s = op_settings_of(OP_BF16, &op_eager);
    s.attention = OP_ATTENTION_FLASH;
    struct op_list list = op_make(&a, &m, s);
    const struct op_block *layer = &list.blocks[1];
    struct op_sums f = op_sum(layer->forward, layer->n_forward);
    struct op_sums b = op_sum(layer->backward, layer->n_backward);
    double g = (double)kv_heads / HEADS, c = (double)ffn / H, h = H;
    double tokens = (double)BATCH * SEQ, big = tokens * h, w = h * h;
    double lse = 4 * tokens * HEADS;
    CU_ASSERT_EQUAL(f.flops, (4 + 4 * g + 6 * c) * big * h + 2 * SEQ * big);
    CU_ASSERT_EQUAL(f.read_B, (37 + 15 * g + 8 * c) * big + (4 + 4 * g + 6 * c) * w);
    CU_ASSERT_EQUAL(f.write_B, (25 + 13 * g + 8 * c) * big + lse);
    CU_ASSERT_EQUAL((double)op_block_kept_B(layer), (12 + 4 * g + 8 * c) * big + lse);
    CU_ASSERT_EQUAL(b.flops, 2 * (4 + 4 * g + 6 * c) * big * h + 5 * SEQ * big);
    double read = (2 + 2 + 4 + 4 + 12 + 2 + 4 + 8 + 2 + 2 + 6 + 2 + 8 + 12) +
                  (8 + 15 + 4 + 4) * g + (2 + 6 + 4 + 4 + 4) * c + 13;
    CU_ASSERT_EQUAL(b.read_B, read * big + (4 + 4 * g + 6 * c) * w);
    double write =
        (4 + 2 + 4 + 2 + 2 + 2 + 6 + 4 + 4) + (4 + 15) * g + (2 + 4 + 2) * c + 13;
    CU_ASSERT_EQUAL(b.write_B, write * big + (4 + 4 * g + 6 * c) * w);
    arena_release(&a);
}

static void test_llama(void)
{
    check_llama(HEADS, 4 * H);
    check_llama(HEADS / 4, 3584);
    check_llama(1, 2816);
}

/* Kept bytes of a Megatron layer over tensor degrees: A (10 + 24/t) + 5 S/t, without
 * the last term where attention is fused (which keeps one number a query and head);
 * everything over t with sequence parallelism. Korthikanti 2022, table 2. */
static void test_tensor_degrees(void)
{
    double big = (double)BATCH * SEQ * H, scores = (double)HEADS * SEQ * SEQ * BATCH;
    struct model m = op_gpt();
    for (int64_t t = 1; t <= 16; t *= 2) {
        for (int flash = 0; flash < 2; flash++) {
            for (int sp = 0; sp < 2; sp++) {
                struct arena a;
                arena_init(&a);
                struct op_settings s = op_settings_of(OP_FP16, &op_fused);
                s.tensor = t;
                s.sequence_parallel = sp;
                s.attention = flash ? OP_ATTENTION_FLASH : OP_ATTENTION_FUSED_SOFTMAX;
                struct op_list list = op_make(&a, &m, s);
                double n = (double)t;
                double core = (flash ? 4.0 * BATCH * SEQ * HEADS : 5 * scores) / n;
                double kept = big * (sp ? 34 / n : 10 + 24 / n) + core;
                CU_ASSERT_EQUAL((double)op_block_kept_B(&list.blocks[1]), kept);
                arena_release(&a);
            }
        }
    }
}

/* T3's "/t" marks. */
static void test_tensor_traffic(void)
{
    struct arena a;
    arena_init(&a);
    struct model m = op_gpt();
    struct op_settings s = op_settings_of(OP_FP16, &op_fused);
    s.tensor = 4;
    struct op_list list = op_make(&a, &m, s);
    const struct op_block *layer = &list.blocks[1];
    struct op_sums f = op_sum(layer->forward, layer->n_forward);
    struct op_sums b = op_sum(layer->backward, layer->n_backward);
    double t = 4, big = (double)BATCH * SEQ * H, w = (double)H * H;
    double scores = (double)HEADS * SEQ * SEQ * BATCH,
           flops = 24 * big * H + 4 * SEQ * big;
    CU_ASSERT_EQUAL(f.flops, flops / t);
    CU_ASSERT_EQUAL(b.flops, 2 * flops / t);
    CU_ASSERT_EQUAL(f.read_B, big * (16 + 26 / t) + (6 * scores + 24 * w) / t);
    CU_ASSERT_EQUAL(f.write_B, big * (14 + 26 / t) + 7 * scores / t);
    CU_ASSERT_EQUAL(b.read_B, big * (42 + 86 / t) + (13 * scores + 24 * w) / t);
    CU_ASSERT_EQUAL(b.write_B, big * (16 + 32 / t) + (6 * scores + 24 * w) / t);
    arena_release(&a);
}

static struct model of_key_heads(int64_t heads)
{
    struct model m = op_gpt();
    m.attention.kv_heads = heads;
    m.attention.kv_width = heads * m.attention.head_dim;
    return m;
}

/* A group of more ranks than key-value heads: a rank's layer is that of a model with a
 * head for each rank; without copies the degree is refused. */
static void test_copied_keys(void)
{
    static const struct {
        int64_t heads, tensor, as;
    } cases[] = { { 1, 4, 4 }, { 2, 8, 8 }, { 4, 4, 4 }, { 8, 4, 8 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct model few = of_key_heads(cases[i].heads),
                     all = of_key_heads(cases[i].as);
        struct op_settings s = op_settings_of(OP_FP16, &op_fused), own;
        s.tensor = cases[i].tensor;
        s.sequence_parallel = true;
        own = s;
        own.copies_keys = true;
        struct op_list copied = op_make(&a, &few, own), whole = op_make(&a, &all, s);
        const struct op_block *x = &copied.blocks[1], *y = &whole.blocks[1];
        struct op_sums f = op_sum(x->forward, x->n_forward),
                       g = op_sum(y->forward, y->n_forward);
        CU_ASSERT_EQUAL(op_block_parameters(x), op_block_parameters(y));
        CU_ASSERT_EQUAL(f.flops, g.flops);
        CU_ASSERT_EQUAL(f.read_B, g.read_B);
        CU_ASSERT_EQUAL(op_block_kept_B(x), op_block_kept_B(y));
        struct err err = { 0 };
        struct op_list list;
        CU_ASSERT_EQUAL(op_list_make(&list, &a, &few, &s, &err),
                        cases[i].heads % s.tensor ? -1 : 0);
        arena_release(&a);
    }
}

/* --- what any list holds ---------------------------------------------------------- */

/* A kept tensor is freed within the backward list; gradients complete once each. */
static void check_block(const struct op_block *block)
{
    int32_t completed[64] = { 0 };
    for (int32_t i = 0; i < block->n_forward; i++) {
        const struct op *op = &block->forward[i];
        CU_ASSERT_TRUE(op->read_B >= 0 && op->write_B >= 0 && op->launches >= 1);
        CU_ASSERT_TRUE(!op->backward && op->grad_n == 0);
        for (int32_t j = 0; j < op->n_outs; j++)
            CU_ASSERT_TRUE(op->outs[j].size_B > 0 &&
                           op->outs[j].kept_until < block->n_backward);
    }
    for (int32_t i = 0; i < block->n_backward; i++) {
        const struct op *op = &block->backward[i];
        CU_ASSERT_TRUE(op->backward);
        for (int32_t j = 0; j < op->grad_n; j++)
            completed[op->grad_first + j]++;
        for (int32_t j = 0; j < op->n_outs; j++)
            CU_ASSERT_EQUAL(op->outs[j].kept_until, -1);
    }
    for (int32_t i = 0; i < block->n_params; i++) {
        CU_ASSERT_EQUAL(completed[i], 1);
        CU_ASSERT_TRUE(block->params[i].elements > 0);
    }
}

static struct model variant(int i)
{
    struct model m = op_gpt();
    switch (i) {
    case 1:
        return op_llama(4, 2816);
    case 2:
        m.parallel_residual = m.attention.fused_qkv = m.attention.rotary = true;
        break;
    case 3:
        m.parallel_residual = m.norms.one = m.attention.rotary = true;
        m.ends.tied = false;
        m.ends.head_bias = true;
        break;
    case 4:
        m = op_llama(4, 2816);
        m.mlp.experts = 8;
        m.mlp.experts_per_token = 2;
        break;
    case 5:
        m.arch = MODEL_ENCODER_DECODER;
        m.decoder_layers = m.layers;
        m.attention.relative_buckets = 32;
        m.norms.rms = true;
        m.ends.positions = 0;
        break;
    case 6:
        return op_bert;
    }
    return m;
}

enum { VARIANTS = 7 };

/* Every model under every precision, attention, framework, head and degree makes a list
 * whose parts fit together. */
static void test_all(void)
{
    const struct framework *frameworks[] = { &op_eager, &op_old_eager, &op_fused };
    for (int i = 0; i < VARIANTS * OP_PRECISION_N * 3 * 3 * 6; i++) {
        int n = i;
        struct model m = variant(n % VARIANTS);
        n /= VARIANTS;
        struct op_settings s =
            op_settings_of((enum op_precision)(n % OP_PRECISION_N), &op_eager);
        n /= OP_PRECISION_N;
        s.attention = (enum op_attention)(n % 3);
        s.framework = frameworks[n / 3 % 3];
        m.ends.head = (enum model_head)(n / 9);
        if (m.ends.head == MODEL_HEAD_PRETRAIN && m.arch != MODEL_ENCODER)
            continue;
        s.predicted = i % 2 ? 20 : 0;
        s.tensor = i % 3 ? 1 : 2;
        s.sequence_parallel = i % 6 == 0;
        struct arena a;
        arena_init(&a);
        struct op_list list = op_make(&a, &m, s);
        for (int32_t j = 0; j < list.n_blocks; j++)
            check_block(&list.blocks[j]);
        CU_ASSERT_TRUE(op_list_flops(&list, true) >=
                       1.99 * op_list_flops(&list, false));
        arena_release(&a);
    }
}

static double traffic(const struct op_list *list)
{
    double sum_B = 0;
    for (int32_t i = 0; i < list->n_blocks; i++) {
        const struct op_block *block = &list->blocks[i];
        struct op_sums f = op_sum(block->forward, block->n_forward);
        struct op_sums b = op_sum(block->backward, block->n_backward);
        sum_B += (double)block->repeat * (f.read_B + f.write_B + b.read_B + b.write_B);
    }
    return sum_B;
}

/* More tokens cost more of everything; more tensor ranks, less. */
static void test_monotone(void)
{
    for (int v = 0; v < VARIANTS; v++) {
        struct model m = variant(v);
        double flops = 0, bytes = 0, kept = 0, flops_t = 1e30, bytes_t = 1e30;
        for (int64_t x = 1; x <= 4; x *= 2) {
            struct arena a;
            arena_init(&a);
            struct op_settings s = op_settings_of(OP_BF16, &op_eager), parallel;
            s.batch = x;
            s.sequence = 64 * x;
            s.vocab_padding = 128;
            parallel = op_settings_of(OP_BF16, &op_eager);
            parallel.vocab_padding = 128;
            parallel.tensor = x;
            struct op_list one = op_make(&a, &m, s), two = op_make(&a, &m, parallel);
            double f = op_list_flops(&one, false),
                   k = (double)op_block_kept_B(&one.blocks[1]);
            CU_ASSERT_TRUE(f > flops && traffic(&one) > bytes && k > kept);
            CU_ASSERT_TRUE(op_list_flops(&two, false) < flops_t &&
                           traffic(&two) < bytes_t);
            flops = f;
            bytes = traffic(&one);
            kept = k;
            flops_t = op_list_flops(&two, false);
            bytes_t = traffic(&two);
            arena_release(&a);
        }
    }
}

/* Masked positions alone go through the head when their number is given. */
static void test_predicted(void)
{
    struct arena a;
    arena_init(&a);
    struct op_settings s = op_settings_of(OP_FP16, &op_eager);
    struct op_list all = op_make(&a, &op_bert, s);
    s.predicted = SEQ / 4;
    struct op_list some = op_make(&a, &op_bert, s);
    struct op_sums f = op_sum(all.blocks[2].forward, all.blocks[2].n_forward);
    struct op_sums g = op_sum(some.blocks[2].forward, some.blocks[2].n_forward);
    CU_ASSERT_EQUAL(f.flops, 4 * g.flops);
    CU_ASSERT_EQUAL(f.flops, 2.0 * BATCH * SEQ * H * (H + 30522));
    CU_ASSERT_EQUAL(op_list_parameters(&all), op_list_parameters(&some));
    arena_release(&a);
}

static const struct op *named(const struct op *ops, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    CU_FAIL("no such operator");
    return &ops[0];
}

/* A loss in chunks: the same FLOPs, tensors over the words of one chunk, and products one
 * after the other, all but the first of which add to the gradient of the matrix. Liger's
 * chunks of 512 tokens of 1024 columns and 51200 words are 16. */
static void test_chunks(void)
{
    static const int32_t written[] = { 4, OP_CHUNKS_LIGER }, chunks[] = { 4, 32 };
    const double matrix_B = 2.0 * H * 51200, rows = BATCH * SEQ;
    struct model m = op_llama(HEADS, 4 * H);
    for (int i = 0; i < 2; i++) {
        struct arena a;
        arena_init(&a);
        struct op_settings s = op_settings_of(OP_BF16, &op_eager);
        struct op_list whole = op_make(&a, &m, s);
        s.loss_chunks = written[i];
        struct op_list parts = op_make(&a, &m, s);
        const struct op_block *w = &whole.blocks[2], *p = &parts.blocks[2];
        double n = (double)chunks[i];
        CU_ASSERT_EQUAL(op_list_flops(&whole, false), op_list_flops(&parts, false));
        CU_ASSERT_EQUAL(op_list_flops(&whole, true), op_list_flops(&parts, true));
        const struct op *logits = named(p->forward, p->n_forward, "logits"),
                        *all = named(w->forward, w->n_forward, "logits"),
                        *wgrad = named(p->backward, p->n_backward, "logits_wgrad"),
                        *sum = named(w->backward, w->n_backward, "logits_wgrad"),
                        *dgrad = named(p->backward, p->n_backward, "logits_dgrad");
        CU_ASSERT_EQUAL(logits->serial, chunks[i]);
        CU_ASSERT_EQUAL((double)logits->m * n, rows);
        CU_ASSERT_EQUAL((double)wgrad->k * n, rows);
        CU_ASSERT_EQUAL((double)dgrad->m * n, rows);
        CU_ASSERT_EQUAL((double)logits->outs[0].size_B * n,
                        (double)all->outs[0].size_B);
        CU_ASSERT_EQUAL(logits->read_B - all->read_B, (n - 1) * matrix_B);
        CU_ASSERT_EQUAL(wgrad->read_B - sum->read_B, 2 * (n - 1) * matrix_B);
        CU_ASSERT_TRUE(op_block_kept_B(p) < op_block_kept_B(w));
        arena_release(&a);
    }
}

/* (2.19): tensors inside an MLP are of one tile, its products come one after the other,
 * and backward runs forward again. "alst": as many tiles as tokens over columns, of 512
 * over 1024 one. */
static void test_tiles(void)
{
    struct model m = op_llama(HEADS, 4 * H);
    struct arena a;
    arena_init(&a);
    struct op_settings s = op_settings_of(OP_BF16, &op_eager);
    struct op_list whole = op_make(&a, &m, s);
    s.mlp_tiles = OP_TILES_ALST;
    struct op_list alst = op_make(&a, &m, s);
    s.mlp_tiles = 4;
    struct op_list parts = op_make(&a, &m, s);
    const struct op_block *w = &whole.blocks[1], *p = &parts.blocks[1];
    const struct op *up = named(p->forward, p->n_forward, "up"),
                    *all = named(w->forward, w->n_forward, "up"),
                    *down = named(p->forward, p->n_forward, "down"),
                    *dgrad = named(p->backward, p->n_backward, "up_dgrad"),
                    *wgrad = named(p->backward, p->n_backward, "up_wgrad"),
                    *sum = named(w->backward, w->n_backward, "up_wgrad");
    CU_ASSERT_EQUAL(op_block_kept_B(&alst.blocks[1]), op_block_kept_B(w));
    CU_ASSERT_EQUAL(up->m * 4, all->m);
    CU_ASSERT_EQUAL(up->serial, 4);
    CU_ASSERT_EQUAL(up->outs[0].size_B * 4, all->outs[0].size_B);
    CU_ASSERT_EQUAL(down->outs[0].size_B,
                    named(w->forward, w->n_forward, "down")->outs[0].size_B);
    CU_ASSERT_EQUAL(wgrad->k * 4, sum->k);
    CU_ASSERT_EQUAL(dgrad->slower, 2);
    CU_ASSERT_EQUAL(op_list_flops(&parts, false), op_list_flops(&whole, false));
    double again = 0;
    const char *const names[] = { "gate", "up", "down" };
    for (int i = 0; i < 3; i++)
        again += named(w->forward, w->n_forward, names[i])->flops * (double)w->repeat;
    CU_ASSERT_DOUBLE_EQUAL(op_list_flops(&parts, true),
                           op_list_flops(&whole, true) + again, 1e-6 * again);
    CU_ASSERT_TRUE(op_block_kept_B(p) < op_block_kept_B(w));
    arena_release(&a);
}

/* T5's bias in place of a scale and a mask: a tensor of scores, fp32 under autocast, is
 * read as they are summed, and the sum is cast. Its gradient is added to those of the
 * layers above. Bytes a score. */
static void test_relative_bias(void)
{
    static const struct {
        enum op_precision precision;
        double forward, backward; /* more than with scale and mask */
    } rows[] = { { OP_FP32, 0 - 4, 12 - 8 },
                 { OP_BF16, 0 - 2, 6 - 4 },
                 { OP_AMP_BF16, 14 - 10, 18 - 4 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a;
        arena_init(&a);
        struct model plain = op_gpt(), biased;
        struct op_settings s = op_settings_of(rows[i].precision, &op_eager);
        s.attention = OP_ATTENTION_UNFUSED;
        biased = plain;
        biased.attention.relative_buckets = 32;
        struct op_list without = op_make(&a, &plain, s), with = op_make(&a, &biased, s);
        const struct op_block *b = &with.blocks[1], *p = &without.blocks[1];
        struct op_sums f = op_sum(b->forward, b->n_forward),
                       g = op_sum(p->forward, p->n_forward),
                       x = op_sum(b->backward, b->n_backward),
                       y = op_sum(p->backward, p->n_backward);
        double scores = (double)HEADS * SEQ * SEQ * BATCH;
        CU_ASSERT_DOUBLE_EQUAL((f.read_B + f.write_B - g.read_B - g.write_B) / scores,
                               rows[i].forward, 1e-9);
        CU_ASSERT_DOUBLE_EQUAL((x.read_B + x.write_B - y.read_B - y.write_B) / scores,
                               rows[i].backward, 1e-9);
        arena_release(&a);
    }
}

/* T5: keys and values of cross-attention are the encoder's tokens, all else of the
 * decoder and the head its own. */
static void test_decoder_length(void)
{
    struct model t5 = op_gpt();
    t5.arch = MODEL_ENCODER_DECODER;
    t5.decoder_layers = 3;
    t5.ends.positions = 0;
    t5.attention.fused_qkv = false;
    for (int flash = 0; flash < 2; flash++) {
        struct arena a;
        arena_init(&a);
        struct op_settings s = op_settings_of(OP_BF16, &op_eager);
        s.attention = flash ? OP_ATTENTION_FLASH : OP_ATTENTION_UNFUSED;
        struct op_list even = op_make(&a, &t5, s);
        s.decoder = SEQ;
        struct op_list same = op_make(&a, &t5, s);
        s.decoder = SEQ / 4;
        struct op_list less = op_make(&a, &t5, s);
        double d = BATCH * SEQ / 4.0, e = BATCH * SEQ, h = H;
        double causal = flash ? 0.5 : 1; /* unfused attention masks what it made */
        struct op_sums f = op_sum(less.blocks[3].forward, less.blocks[3].n_forward);
        CU_ASSERT_DOUBLE_EQUAL(f.flops,
                               2 * h * h * (4 * d + 2 * d + 2 * e + 8 * d) +
                                   4 * h * d * (causal * SEQ / 4 + SEQ),
                               1e-9 * f.flops);
        for (int i = 0; i < 5; i++) {
            bool shorter = i >= 3;
            struct op_sums x =
                op_sum(even.blocks[i].backward, even.blocks[i].n_backward);
            struct op_sums y =
                op_sum(same.blocks[i].backward, same.blocks[i].n_backward);
            struct op_sums z =
                op_sum(less.blocks[i].backward, less.blocks[i].n_backward);
            CU_ASSERT_EQUAL(x.flops, y.flops);
            CU_ASSERT_EQUAL(x.read_B + x.write_B, y.read_B + y.write_B);
            CU_ASSERT_EQUAL(z.read_B < x.read_B, shorter);
            CU_ASSERT_EQUAL(op_block_kept_B(&less.blocks[i]) <
                                op_block_kept_B(&even.blocks[i]),
                            shorter);
        }
        CU_ASSERT_EQUAL(less.blocks[3].tokens, BATCH * SEQ / 4);
        CU_ASSERT_EQUAL(less.blocks[2].tokens, BATCH * SEQ);
        CU_ASSERT_EQUAL(op_list_parameters(&even), op_list_parameters(&less));
        double all = model_flops_per_sample(&t5, SEQ, 0, false);
        CU_ASSERT_EQUAL(all, model_flops_per_sample(&t5, SEQ, SEQ, false));
        if (!flash)
            CU_ASSERT_DOUBLE_EQUAL(model_flops_per_sample(&t5, SEQ, SEQ / 4, false),
                                   3 * op_list_flops(&less, false) / BATCH, 1e-9 * all);
        arena_release(&a);
    }
}

/* A mask (3.29): no pair of tokens is left out, whatever the window. */
static void test_masked(void)
{
    struct arena a;
    arena_init(&a);
    struct model m = op_llama(HEADS, 4 * H);
    struct op_settings s = op_settings_of(OP_BF16, &op_eager);
    s.attention = OP_ATTENTION_EFFICIENT;
    struct op_list list = op_make(&a, &m, s);
    m.attention.window = SEQ / 2;
    m.attention.windowed_share = 0.5;
    s.masked = true;
    struct op_list masked = op_make(&a, &m, s);
    for (int i = 0, n = list.blocks[1].n_forward; i < n; i++) {
        const struct op *one = &list.blocks[1].forward[i],
                        *all = &masked.blocks[1].forward[i];
        CU_ASSERT_EQUAL(all->flops, one->flops * (one->kind == OP_FLASH ? 2 : 1));
        CU_ASSERT_EQUAL(all->efficient, one->kind == OP_FLASH);
        CU_ASSERT_FALSE(all->causal);
        CU_ASSERT_EQUAL(all->windowed, 0);
    }
    arena_release(&a);
}

/* Inputs of products that stay gathered are kept whole on every rank (R5): of a layer
 * two, of b s h. */
static void test_keeps_gathered(void)
{
    struct arena a;
    arena_init(&a);
    struct framework whole = op_eager;
    whole.tensor.keeps_gathered = true;
    struct model m = op_gpt();
    int64_t inputs_B = INT64_C(2) * 2 * BATCH * SEQ * m.hidden;
    struct op_settings s = op_settings_of(OP_BF16, &op_eager);
    s.tensor = 4;
    s.sequence_parallel = true;
    struct op_list parts = op_make(&a, &m, s);
    s.framework = &whole;
    struct op_list list = op_make(&a, &m, s);
    CU_ASSERT_EQUAL(op_block_kept_B(&list.blocks[1]) -
                        op_block_kept_B(&parts.blocks[1]),
                    inputs_B * 3 / 4);
    arena_release(&a);
}

/* What checkpoints by operators keep does not depend on what products read (8.23). */
static void test_saves(void)
{
    struct arena a;
    arena_init(&a);
    struct model m = op_gpt();
    struct op_list wide = op_make(&a, &m, op_settings_of(OP_BF16, &op_eager));
    struct op_list narrow = op_make(&a, &m, op_settings_of(OP_FP8, &op_eager));
    int32_t saved[2] = { 0 };
    for (int32_t i = 0; i < wide.blocks[1].n_forward; i++)
        saved[0] += op_block_saves(&wide.blocks[1], i);
    for (int32_t i = 0; i < narrow.blocks[1].n_forward; i++)
        saved[1] += op_block_saves(&narrow.blocks[1], i);
    CU_ASSERT_EQUAL(saved[0], 3); /* query, value, up */
    CU_ASSERT_EQUAL(saved[1], saved[0]);
    arena_release(&a);
}

static void test_refusals(void)
{
    static const struct {
        int64_t batch, sequence, predicted, tensor, padding;
        const char *error;
    } cases[] = {
        { 0, 128, 0, 1, 0, "must be at least 1" },
        { 1, 128, 129, 1, 0, "129 predicted positions in a sequence of 128" },
        { 1, 1024, 0, 1, 0, "exceeds the model's 512 positions" },
        { 1, 128, 0, 3, 0, "tensor degree 3 does not divide the model's 16 attention" },
        { 1, 128, 0, 4, 0, "30522 words of the vocabulary (set vocab_padding" },
        { INT64_C(1) << 40, 512, 0, 1, 0, "more than 2^50 elements" },
        { 1, 128, 0, 4, 128, "" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        struct op_list list;
        struct err err = { 0 };
        struct op_settings s = op_settings_of(OP_FP16, &op_eager);
        s.batch = cases[i].batch;
        s.sequence = cases[i].sequence;
        s.predicted = cases[i].predicted;
        s.tensor = cases[i].tensor;
        s.vocab_padding = cases[i].padding;
        arena_init(&a);
        CU_ASSERT_EQUAL(op_list_make(&list, &a, &op_bert, &s, &err),
                        cases[i].error[0] ? -1 : 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, cases[i].error));
        arena_release(&a);
    }
}

void test_ops_register(void)
{
    CU_pSuite suite = CU_add_suite("ops", NULL, NULL);
    CU_add_test(suite, "tables of bytes and FLOPs", test_tables);
    CU_add_test(suite, "biases apart from products", test_biases);
    CU_add_test(suite, "table of Llama", test_llama);
    CU_add_test(suite, "kept bytes over tensor degrees", test_tensor_degrees);
    CU_add_test(suite, "traffic over tensor degrees", test_tensor_traffic);
    CU_add_test(suite, "copies of key-value heads", test_copied_keys);
    CU_add_test(suite, "every list fits together", test_all);
    CU_add_test(suite, "more costs more", test_monotone);
    CU_add_test(suite, "predicted positions", test_predicted);
    CU_add_test(suite, "chunks of a loss", test_chunks);
    CU_add_test(suite, "tiles of an MLP", test_tiles);
    CU_add_test(suite, "T5's bias", test_relative_bias);
    CU_add_test(suite, "a decoder's own length", test_decoder_length);
    CU_add_test(suite, "inputs that stay gathered", test_keeps_gathered);
    CU_add_test(suite, "masks", test_masked);
    CU_add_test(suite, "checkpoints by operators", test_saves);
    CU_add_test(suite, "refusals", test_refusals);
}
