/* A GPU from its datasheet: kernels by rule from the nearest GPU whose products were
 * measured (topologies/products), or whose kernels were fitted to whole steps where its
 * generation has none such. MODEL.md (3.19). */
#ifndef HARDWARE_GPU_RULE_H
#define HARDWARE_GPU_RULE_H

#include "hardware/product.h"

/* The nearest such GPU other than the one of that name, by generation, compute
 * capability, NVLink and power a FLOP; NULL: there is none, or after reporting at
 * `where`. Needs sm_arch, tdp_w, the peak rates and nvlink_links. */
const struct gpu *gpu_nearest(struct cfg_loader *loader, const struct gpu *gpu,
                              struct cfg where);

/* Constants of products on `from` as they are on `to`. */
struct gpu_gemm gpu_rule_gemm(const struct gpu *to, const struct gpu *from,
                              const struct gpu_gemm *gemm);
struct product gpu_rule_product(const struct gpu *to, const struct gpu *from,
                                const struct product *product);

/* Products of the GPU of that name: what is measured of it, or else by rule of the
 * nearest; read once per loader and shared. NULL where there is none, or after reporting
 * at `where`. */
const struct products *gpu_rule_products(struct cfg_loader *loader, const char *gpu,
                                         struct cfg where);

/* What a GPU file without "gemm" leaves open: products, attention, memory-bound kernels,
 * the context where the file does not give them, and where they are from. Warns at the
 * file. -1 after reporting. */
int gpu_rule_fill(struct cfg_loader *loader, struct gpu *gpu, struct cfg file);

#endif
