/* Matrix products as a release of some software runs them on a GPU: the constants of
 * MODEL.md (3.1) to (3.6) and (3.16) to (3.18) by number format, fitted to measured
 * products.
 *
 * Read from topologies/products/NAME.json, NAME being the GPU's. GPU files (gpu.h) say
 * how products run in training; these say how benchmarks of inference software ran
 * them, with the state in which that software measures. */
#ifndef HARDWARE_PRODUCT_H
#define HARDWARE_PRODUCT_H

#include "hardware/gpu.h"

/* A number format of operands, with its scales. */
struct product_format {
    const char *name;
    enum dtype dtype;
};

struct product {
    const char *software; /* "vllm 0.24.0" */
    const struct product_format *format;
    struct gpu_gemm gemm; /* without "sustained" and "misaligned": rows are aligned */
    enum gemm_tiles tiles;
    double loop_loss;      /* what the power limit adds to a long product, repeated */
    double loop_half_s;    /* length of the product to which it adds half of that */
    double quantize_frac;  /* share of the memory bandwidth of quantizing the input */
    double quantize_row_s; /* least time of a row of it */
    int64_t quantize_step; /* numbers of a row that a block quantizes at once; 0: 1 */
    double host_s;         /* of the host between products without CUDA graphs */
};

struct products {
    int64_t n;
    const struct product *v; /* in the file's order */
    const char *provenance;
};

extern const struct product_format product_formats[];  /* a NULL name ends */
extern const struct name_value product_format_names[]; /* places in product_formats */
extern const struct name_value gemm_tiles_names[];

/* NULL: there is none of that name. */
const struct product_format *product_format_find(const char *name);

/* An operand's element, and its share of a scale; what quantization from 16 bits moves
 * an element, 0 where there is none. */
double product_element_B(const struct product_format *format);
double product_quantize_B(const struct product_format *format);

/* The dense peak rate; 0: the GPU has no such arithmetic. */
double product_peak_flops(const struct gpu *gpu, const struct product_format *format);

/* What the file of a GPU's products holds; read once per loader and shared. NULL after
 * reporting at `where` (or in the file). */
const struct products *products_get(struct cfg_loader *loader, const char *gpu,
                                    struct cfg where);

/* The products of a software's release in a format; of another release of it where
 * that one has none, and else of any software. NULL: nobody measured the format. */
const struct product *products_find(const struct products *products,
                                    const char *software, const char *format);

#endif
