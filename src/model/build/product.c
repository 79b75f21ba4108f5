/* The products of a block and what goes with them: casts, quantized operands, biases. */
#include "model/build/emit.h"
#include "model/recipe.h"

static enum op_formatted formatted_of(const struct build *b, enum module part)
{
    if (part >= MODULE_QKV && part <= MODULE_KV_UP)
        return OP_FORMAT_QKV;
    if (part >= MODULE_GATE && part <= MODULE_DOWN)
        return b->m->mlp.experts > 0 ? OP_FORMAT_EXPERTS : OP_FORMAT_MLP;
    if (part >= MODULE_SHARED_GATE && part <= MODULE_SHARED_DOWN)
        return OP_FORMAT_SHARED;
    if (part == MODULE_EXPERTS_IN || part == MODULE_EXPERTS_OUT)
        return OP_FORMAT_LATENT;
    if (part >= MODULE_STATE_IN && part <= MODULE_STATE_STEP)
        return OP_FORMAT_STATE_IN;
    if (part == MODULE_LOGITS)
        return OP_FORMAT_HEAD;
    return part == MODULE_OUT         ? OP_FORMAT_OUT
           : part == MODULE_STATE_OUT ? OP_FORMAT_STATE_OUT
                                      : OP_FORMATS;
}

/* The precision of a product, which may be its module's own. */
static enum op_precision precision_of(const struct build *b, enum module part)
{
    enum op_formatted f = formatted_of(b, part);
    uint8_t own = f < OP_FORMATS ? b->s->formats.of[f] : 0;
    return own > 0 ? (enum op_precision)(own - 1) : b->s->precision;
}

void build_set_formats(struct build *b)
{
    for (int i = MODULE_NONE + 1; i < MODULE_LINEARS; i++) {
        struct linear *l = &b->linears[i];
        bool own = b->s->formats.of[OP_FORMAT_HEAD] > 0 && i == MODULE_LOGITS;
        if (dtype_is_quantized(l->dtype) || own)
            l->dtype = op_compute_dtype(precision_of(b, (enum module)i));
    }
}

/* Elements of the input that a product reads: rows of a convolution share them. */
static double input_elements(const struct linear *l)
{
    return (double)l->rows * (double)l->k / (l->overlap > 0 ? l->overlap : 1);
}

static const struct op_recipe *recipe_of(const struct build *b, enum module part)
{
    return op_recipe_of(precision_of(b, part));
}

static double weights(const struct linear *l)
{
    return (double)l->k * (double)l->n * (double)l->batch;
}

static void own_linear(struct build *b, enum module part, const struct linear *l)
{
    if (l->owned) {
        const char *name = build_name(b, part, ".weight");
        struct op_param *weight = build_param(b, name, weights(l), true);
        weight->expert = l->expert;
        weight->hidden =
            b->module == OP_ATTENTION || b->module == OP_MLP || part == MODULE_MTP;
        weight->quantized = dtype_is_quantized(l->dtype) && part != MODULE_LOGITS;
        build_freeze(b, part, weight);
    }
    if (l->bias) {
        const char *name = build_name(b, part, ".bias");
        struct op_param *bias =
            build_param(b, name, (double)l->n * (double)l->batch, false);
        bias->expert = l->expert;
        build_freeze(b, part, bias);
    }
}

/* Experts' kernels one by one over TE's streams (transformer_engine 2.4
 * pytorch/cpp_extensions/gemm.py, general_grouped_gemm; common/gemm/cublaslt_gemm.cu,
 * num_cublas_streams). Gate and up are one product there. */
static void loop_experts(const struct build *b, struct op *op, enum module part,
                         const struct linear *l)
{
    enum { STREAMS = 4 };
    bool joined = part == MODULE_GATE && b->flags & HAS_FUSED_GATE;
    const struct framework_experts *fw = &b->s->framework->experts;
    bool turns = fw->turn_reads > 0;
    if (!l->expert || !(fw->looped || turns) || joined)
        return;
    int64_t streams = turns ? 1 : STREAMS;
    op->loops = (int32_t)l->batch;
    op->launches = (int32_t)((l->batch + streams - 1) / streams);
}

/* TorchInductor pads n and k of a single product to 16 bytes where they are not whole
 * pieces, in the kernels that write its operands (torch/_inductor/fx_passes/pad_mm.py,
 * get_alignment_size and should_pad_mm; config.py: shape_padding). */
static int64_t padded(const struct build *b, const struct linear *l, int64_t n)
{
    int64_t piece = 16 / (int64_t)dtype_bytes(l->dtype);
    if (!b->s->framework->kernels.pads_products || l->batch > 1)
        return n;
    return (n + piece - 1) / piece * piece;
}

static void set_product(const struct build *b, struct op *op, const struct linear *l,
                        int64_t m, int64_t n, int64_t k)
{
    op->m = m;
    op->n = padded(b, l, n);
    op->k = padded(b, l, k);
    op->batch = l->batch;
    op->dtype = l->dtype;
    op->flops = 2.0 * (double)l->rows * (double)l->k * (double)l->n;
    op->slower = l->slower;
}

/* Autocast keeps fp32 parameters: the weight is cast before its product (held with the
 * parameters, op_param.matrix, not as an activation), its gradient after. */
static struct op *emit_weight_cast(struct build *b, enum module part,
                                   const struct linear *l, bool backward)
{
    struct op *op = build_op(b, build_name(b, part, backward ? "_grad_cast" : "_cast"),
                             OP_STREAM, backward);
    enum width from = backward ? WIDTH_NARROW : WIDTH_WIDE;
    enum width to = backward ? WIDTH_WIDE : WIDTH_NARROW;
    op->read_B = b->width[from] * weights(l);
    op->write_B = b->width[to] * weights(l);
    op->launches = op->dispatches = l->bias ? 2 : 1;
    return op;
}

/* Quantized weights come out of their bits before every product that reads them, into a
 * matrix that lives as long as it (bitsandbytes 0.44 autograd/_functions.py,
 * MatMul4Bit); doubly quantized, their scales before. */
static void emit_dequantize(struct build *b, enum module part, const struct linear *l,
                            bool backward)
{
    const struct lora *lora = &b->s->lora;
    struct op *op =
        build_op(b, build_name(b, part, backward ? "_dequantize_bwd" : "_dequantize"),
                 OP_STREAM, backward);
    bool twice = lora->base == LORA_BASE_NF4 && lora->double_quantization;
    op->read_B = build_quantized_B(b, part) * weights(l);
    op->write_B = b->width[WIDTH_NARROW] * weights(l);
    op->launches = twice ? 3 : 1;
    op->dispatches = backward ? 0 : op->launches;
    build_out(b, op, op->write_B, NULL);
}

/* A bias that the product does not add itself: a kernel of its own, in place, unless
 * the activation after it adds it. */
static struct op *emit_bias_add(struct build *b, const struct row *row,
                                const struct linear *l, struct op *product)
{
    const struct framework *fw = b->s->framework;
    bool by_activation = row->part == MODULE_UP && fw->kernels.fused_bias_gelu;
    if (!l->bias || fw->kernels.fused_bias || by_activation)
        return product;
    struct op *op =
        build_op(b, build_name(b, row->part, "_bias_add"), OP_STREAM, false);
    double split = l->by_columns ? (double)b->s->tensor : 1; /* after the scatter */
    op->read_B = op->write_B =
        b->width[WIDTH_NARROW] * (double)l->rows * (double)l->n / split;
    return op;
}

static int64_t rows_each(const struct linear *l)
{
    return (l->rows + l->batch - 1) / l->batch;
}

/* Rows that are summed over: they lie one after the other in both operands, so that no
 * odd number of them is one that tensor cores load badly (3.6). Those of quantized
 * products are padded (Megatron-Core, fp8_utils.py, get_fp8_align_size: 16, and 32 of
 * MXFP8). */
static int64_t whole_rows(const struct linear *l)
{
    int64_t piece = dtype_is_quantized(l->dtype) ? 32 : 8;
    return (rows_each(l) + piece - 1) / piece * piece;
}

/* Bytes of an element that the product reads. */
static double operand_B(const struct build *b, const struct linear *l)
{
    return dtype_is_quantized(l->dtype) ? dtype_element_B(l->dtype)
                                        : b->width[WIDTH_NARROW];
}

/* Copies of an operand of products: a second one where the weight's gradient reads it in
 * the other direction (Transformer Engine 2, module/linear.py: columnwise_usage). */
static double copies_of(const struct build *b, enum module part)
{
    const struct op_recipe *r = recipe_of(b, part);
    return build_trains(b, part) ? op_recipe_copies(r, b->s->sm_arch) : 1;
}

/* Bytes of an element that is quantized: read for its scale, if the norm has not found
 * it, and read once more. */
static double unquantized_B(const struct build *b, enum module part,
                            enum recipe_norm norm)
{
    double search_B = recipe_of(b, part)->search_B;
    return b->width[WIDTH_NARROW] + (norm == RECIPE_NORM_WRITES_16BIT ? search_B : 0);
}

/* Of each expert, from one loop in C++: the search for its largest value, and the cast
 * (transformer_engine 2.11 pytorch/csrc/extensions/cast.cpp, split_quantize and
 * multi_tensor_quantize_impl). */
enum { FP8_CALLS = 2 };

/* A tensor as its products read it, by the recipe (recipe.h). */
static struct op *emit_quantize(struct build *b, enum module part, const char *what,
                                double elements, double read_B, double copies,
                                bool backward)
{
    const struct op_recipe *r = recipe_of(b, part);
    struct op *op = build_op(b, build_name(b, part, what), OP_STREAM, backward);
    const struct linear *l = &b->linears[part];
    int64_t kernels = b->s->framework->experts.fp8_kernels;
    const struct framework_kernels *k = &b->s->framework->kernels;
    elements *= r->format == DTYPE_NVFP4 ? k->fp4_cast : k->fp8_cast;
    op->read_B = read_B * elements;
    op->write_B = copies * dtype_element_B(r->format) * elements;
    op->launches = read_B > b->width[WIDTH_NARROW] ? 2 : 1;
    op->dispatches = 0; /* in the product's node */
    if (l->expert &&
        kernels > 0) { /* without a largest value to find, the cast alone */
        int64_t calls = r->search_B > 0 ? FP8_CALLS : 1;
        op->loops = (int32_t)(l->batch * calls);
        op->launches = (int32_t)(l->batch * (r->search_B > 0 ? kernels : 1));
    }
    return op;
}

/* An input's second copy is for the gradient of the weight: Transformer Engine does not
 * make it where none follows, in forward that is run again (module/grouped_linear.py,
 * columnwise). */
static void emit_quantized_input(struct build *b, enum module part, double elements,
                                 double read_B)
{
    double copies = copies_of(b, part);
    struct op *op =
        emit_quantize(b, part, "_input_fp8", elements, read_B, copies, false);
    op->ungraded = (op->read_B + op->write_B / copies) / (op->read_B + op->write_B);
}

/* What is there quantized in one order alone is transposed. */
static void emit_transpose(struct build *b, enum module part, const char *what,
                           double elements)
{
    struct op *op = build_op(b, build_name(b, part, what), OP_STREAM, true);
    op->read_B = op->write_B = elements;
    op->dispatches = 0;
}

/* Products that a tensor group splits by their input's columns, and whose inputs no norm
 * of a layer has made. */
static bool is_last_of_sublayer(enum module part)
{
    return part == MODULE_OUT || part == MODULE_DOWN || part == MODULE_STATE_OUT;
}

/* The rank's share of what a tensor group gathers for a product, which it quantizes
 * before; 1: all of it is there. */
static double gathered_share(const struct build *b, enum module part, bool backward)
{
    bool by_rows = is_last_of_sublayer(part);
    bool dispatched = b->flags & HAS_EXPERTS && part != MODULE_OUT &&
                      (part >= MODULE_GATE || part == MODULE_DOWN);
    bool gathered = b->s->sequence_parallel && by_rows == backward && !dispatched &&
                    b->s->framework->tensor.gathers_quantized;
    return gathered ? 1 / (double)b->s->tensor : 1;
}

/* What the norm before a product does for it. */
static enum recipe_norm norm_of(const struct build *b, enum module part)
{
    bool after_norm = !is_last_of_sublayer(part) && part != MODULE_STATE_SELECT &&
                      part != MODULE_STATE_STEP && part != MODULE_MTP;
    bool fuses = b->s->framework->kernels.fp8_norm && after_norm && !b->m->norms.post &&
                 !b->m->norms.no_input && !(b->flags & HAS_EXPERTS);
    return fuses ? recipe_of(b, part)->norm : RECIPE_NORM_WRITES_16BIT;
}

/* The gate's and the up product's input is one. */
static bool shares_input(const struct build *b, enum module part)
{
    return part == MODULE_UP && (b->flags & HAS_GATE);
}

/* Whether the product before has quantized it: the activation's result, or its
 * gradient. */
static bool is_fused(const struct build *b, enum module part, bool backward)
{
    bool inside = part == MODULE_GATE || part == MODULE_UP;
    return b->flags & HAS_FUSED_EXPERTS && (backward ? inside : part == MODULE_DOWN);
}

static void emit_quantized_operands(struct build *b, enum module part,
                                    const struct linear *l)
{
    double inputs = (double)l->rows * (double)l->k;
    if (!dtype_is_quantized(l->dtype))
        return;
    if (!b->s->framework->tensors.fp8_weights_kept && !b->s->quantized_parameters)
        emit_quantize(b, part, "_weight_fp8", weights(l),
                      unquantized_B(b, part, RECIPE_NORM_WRITES_16BIT),
                      op_recipe_copies(recipe_of(b, part), b->s->sm_arch), false);
    enum recipe_norm norm = norm_of(b, part);
    if (norm == RECIPE_NORM_QUANTIZES || shares_input(b, part) ||
        is_fused(b, part, false))
        return;
    emit_quantized_input(b, part, inputs * gathered_share(b, part, false),
                         unquantized_B(b, part, norm));
    bool kept = part == MODULE_OUT && build_trains(b, part);
    if (kept && b->flags & HAS_FLASH) /* which keeps its own in 16 bits */
        build_out(b, &b->block->forward[b->block->n_forward - 1],
                  inputs * dtype_element_B(l->dtype), build_name(b, part, "_wgrad"));
}

/* Before the gradients' products: the output's gradient, and what the norm has made but
 * not transposed. */
static void emit_quantized_gradient(struct build *b, enum module part,
                                    const struct linear *l)
{
    if (!dtype_is_quantized(l->dtype))
        return;
    bool again = build_trains(b, part) && copies_of(b, part) > 1;
    if (!is_fused(b, part, true))
        emit_quantize(b, part, "_grad_fp8",
                      (double)l->rows * (double)l->n * gathered_share(b, part, true),
                      unquantized_B(b, part, RECIPE_NORM_WRITES_16BIT),
                      copies_of(b, part), true);
    if (again && norm_of(b, part) == RECIPE_NORM_QUANTIZES && !shares_input(b, part))
        emit_transpose(b, part, "_input_transpose", (double)l->rows * (double)l->k);
    if (b->s->framework->tensors.fp8_weights_transposed &&
        op_recipe_transposes(recipe_of(b, part), b->s->sm_arch))
        emit_transpose(b, part, "_weight_transpose", weights(l));
}

void build_linear(struct build *b, const struct row *row)
{
    const struct linear *l = &b->linears[row->part];
    if (build_quantized_B(b, row->part) > 0)
        emit_dequantize(b, row->part, l, false);
    else if (b->flags & HAS_AMP)
        emit_weight_cast(b, row->part, l, false);
    emit_quantized_operands(b, row->part, l);
    struct op *op = build_op(b, build_name(b, row->part, ""), OP_GEMM, false);
    set_product(b, op, l, rows_each(l), l->n, l->k);
    loop_experts(b, op, row->part, l);
    double e = b->width[WIDTH_NARROW];
    op->read_B = operand_B(b, l) * (input_elements(l) + weights(l));
    op->write_B = e * (double)l->rows * (double)l->n;
    own_linear(b, row->part, l);
    build_outs(b, emit_bias_add(b, row, l, op), row);
    build_adapters(b, row->part);
}

void build_dgrad(struct build *b, const struct row *row)
{
    const struct linear *l = &b->linears[row->part];
    build_adapters_bwd(b, row->part);
    emit_quantized_gradient(b, row->part, l);
    if (build_quantized_B(b, row->part) > 0)
        emit_dequantize(b, row->part, l, true);
    struct op *op = build_op(b, build_name(b, row->part, "_dgrad"), OP_GEMM, true);
    set_product(b, op, l, rows_each(l), l->k, l->n);
    loop_experts(b, op, row->part, l);
    double e = b->width[WIDTH_NARROW];
    op->read_B = operand_B(b, l) * ((double)l->rows * (double)l->n + weights(l));
    op->write_B = e * input_elements(l);
    build_outs(b, op, row);
}

void build_wgrad(struct build *b, const struct row *row)
{
    const struct linear *l = &b->linears[row->part];
    if (!build_trains(b, row->part))
        return;
    struct op *op = build_op(b, build_name(b, row->part, "_wgrad"), OP_GEMM, true);
    set_product(b, op, l, l->k, l->n, whole_rows(l));
    loop_experts(b, op, row->part, l);
    op->dispatches = 0;
    double e = b->width[WIDTH_NARROW];
    op->read_B = operand_B(b, l) * ((double)l->rows * (double)l->n + input_elements(l));
    op->write_B = e * weights(l);
    if (b->flags & HAS_AMP) {
        build_out(b, op, op->write_B, NULL);
        op = emit_weight_cast(b, row->part, l, true);
    }
    bool own_row = row[1].kind == ROW_BIAS && row[1].part == row->part &&
                   build_has(b, row[1].when, row[1].unless);
    if (l->owned)
        build_completes(b, op, row->part, ".weight", l->bias && !own_row ? 2 : 1);
    else if (l->bias && !own_row)
        build_completes(b, op, row->part, ".bias", 1);
}

void build_bias_grad(struct build *b, const struct row *row)
{
    const struct linear *l = &b->linears[row->part];
    if (!l->bias || !build_trains(b, row->part))
        return;
    struct op *op = build_op(b, build_name(b, row->part, "_bias"), OP_STREAM, true);
    op->dispatches = 0;
    op->read_B = b->width[WIDTH_NARROW] * (double)l->rows * (double)l->n;
    build_completes(b, op, row->part, ".bias", 1);
}
