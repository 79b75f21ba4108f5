#include "cost/gemm.h"

#include <math.h>

/* A tile of the output that one SM makes at a time, 2^m_bits x 2^n_bits, in clusters of
 * 2^m_cluster x 2^n_cluster SMs; for products of at least m_least rows, and of m_most
 * rows and n_least to n_most columns where these are given. */
struct tile {
    int m_bits, n_bits, m_cluster, n_cluster;
    double m_least, m_most, n_least, n_most;
    double write; /* of it, over what its bytes take; 0: 1 */
};

/* A library's menu. Libraries with heuristics split k; CUTLASS's kernels are fixed by
 * the number of rows. */
struct menu {
    int n;
    bool splits, pairs;
    struct tile tiles[10];
};

enum { SPLITS_N = 10, TILES_SMALL_MAX = 16384, SPLIT_K_MIN = 256 };

/* cuBLAS splits k where the tiles fill one wave or less; of more tiles only long loops
 * (MODEL.md, 3.5). */
enum { SPLIT_WAVES_K_MIN = 6000, SPLIT_WAVES_MAX = 8 };

/* A small tile alone on its SM over one of two that hide each other's waiting
 * (MODEL.md, 3.4): fitted to the kernels data of A100. */
static const double lone_tile = 1.06;

/* Writing a tile of 256 x 128 on Ada, with scales of rows and columns, over a tile of
 * 128 x 128's rate: fitted to vLLM's fp8 rows of L40S (MODEL.md, 3.16). */
#define ADA_WIDE_WRITE 2.6

/* Of cuBLAS those tiles that make all the difference data show; the last ones are for
 * products of a few rows. Of CUTLASS what vLLM 0.24 compiles for fp8 with one scale a
 * tensor: csrc/quantization/w8a8/cutlass/c3x/scaled_mm_sm{90,100,120}_fp8_dispatch.cuh
 * (128 x 128 in clusters of 2 x 1; 256 x 128 over two SMs in clusters of 2 x 2). On Ada
 * columns choose, too (cutlass_w8a8/scaled_mm_c2x_sm89_fp8_dispatch.cuh). */
static const struct menu menus[GEMM_TILES_N] = {
    [GEMM_TILES_AMPERE] = { 8,
                            true,
                            true,
                            { { 8, 7, 0, 0, 0 },
                              { 7, 8, 0, 0, 0 },
                              { 7, 7, 0, 0, 0 },
                              { 6, 8, 0, 0, 0 },
                              { 6, 7, 0, 0, 0 },
                              { 6, 6, 0, 0, 0 },
                              { 6, 5, 0, 0, 0 },
                              { 5, 5, 0, 0, 0 } } },
    [GEMM_TILES_HOPPER] = { 8,
                            true,
                            false,
                            { { 8, 7, 0, 0, 0 },
                              { 7, 8, 0, 0, 0 },
                              { 7, 7, 0, 0, 0 },
                              { 6, 8, 0, 0, 0 },
                              { 6, 7, 0, 0, 0 },
                              { 6, 6, 0, 0, 0 },
                              { 6, 5, 0, 0, 0 },
                              { 6, 4, 0, 0, 0 } } },
    [GEMM_TILES_CUTLASS] = { 3,
                             false,
                             false,
                             { { 7, 7, 0, 0, 129 },
                               { 7, 6, 0, 0, 0 },
                               { 6, 6, 0, 0, 0 } } },
    [GEMM_TILES_CUTLASS_ADA] = { 9,
                                 false,
                                 false,
                                 { { 8, 7, 0, 0, 257, 0, 4097, 8192, ADA_WIDE_WRITE },
                                   { 7, 7, 0, 0, 257, 0, 0, 4096 },
                                   { 7, 7, 0, 0, 257, 0, 8193, 0 },
                                   { 7, 7, 0, 0, 129, 256, 4097, 0 },
                                   { 6, 7, 0, 0, 129, 256, 0, 4096 },
                                   { 7, 6, 0, 0, 65, 128, 16385, 0 },
                                   { 7, 7, 0, 0, 65, 128, 8193, 16384 },
                                   { 6, 7, 0, 0, 65, 128, 0, 8192 },
                                   { 6, 6, 0, 0, 0, 64, 0, 0 } } },
    [GEMM_TILES_CUTLASS_HOPPER] = { 3,
                                    false,
                                    false,
                                    { { 7, 7, 1, 0, 129 },
                                      { 6, 7, 1, 0, 0 },
                                      { 6, 6, 0, 0, 0 } } },
    [GEMM_TILES_CUTLASS_BLACKWELL] = { 3,
                                       false,
                                       false,
                                       { { 7, 7, 1, 1, 257 },
                                         { 7, 7, 1, 0, 65 },
                                         { 6, 6, 0, 0, 0 } } },
    [GEMM_TILES_GROUPED] = { 10,
                             false,
                             false,
                             { { 8, 8, 0, 0, 0 },
                               { 8, 7, 0, 0, 0 },
                               { 7, 8, 0, 0, 0 },
                               { 7, 7, 0, 0, 0 },
                               { 6, 8, 0, 0, 0 },
                               { 6, 7, 0, 0, 0 },
                               { 5, 8, 0, 0, 0 },
                               { 5, 7, 0, 0, 0 },
                               { 4, 8, 0, 0, 0 },
                               { 4, 7, 0, 0, 0 } } },
};
static const int splits[SPLITS_N] = { 1, 2, 3, 4, 5, 6, 8, 12, 16, 24 };

enum gemm_tiles gemm_tiles_of(int64_t sm_arch)
{
    return sm_arch >= 90 && sm_arch < 120 ? GEMM_TILES_HOPPER : GEMM_TILES_AMPERE;
}

/* a / b rounded up, for whole numbers below 2^52. */
static inline double ceil_div(double a, double b)
{
    return (double)(int64_t)((a + b - 1) / b);
}

/* (4): rounds of tiles that the busiest SM goes through, main loop and write-out. */
static inline double loop_and_write_s(const struct gemm *g, bool pairs, double pieces,
                                      double elements, double loop_s, double write_s)
{
    double whole = ceil_div(pieces, g->sms), p = g->partial_waves;
    if (p > 0) {
        double waves = pieces > g->sms ? p * pieces / g->sms + (1 - p) * whole : whole;
        return waves * loop_s + whole * write_s;
    }
    if (!pairs || elements > TILES_SMALL_MAX)
        return whole * (loop_s + write_s);
    if (pieces <= g->sms)
        return lone_tile * loop_s + write_s;
    return 2 * ceil_div(pieces, 2 * g->sms) * (loop_s + write_s); /* two share an SM */
}

/* Into how many parts k is split at most. */
static int64_t splits_most(const struct gemm *g, const struct menu *menu, double pieces)
{
    bool stays =
        pieces > g->sms && (g->partial_waves >= 1 || g->k < SPLIT_WAVES_K_MIN ||
                            pieces > SPLIT_WAVES_MAX * g->sms);
    return !menu->splits || stays ? 1 : g->k / SPLIT_K_MIN;
}

/* Tiles of the output, with those that a cluster computes in vain. */
static double pieces_of(const struct gemm *g, const struct tile *tile, double rows,
                        double columns)
{
    double m_group = (double)(1 << tile->m_cluster);
    double n_group = (double)(1 << tile->n_cluster);
    if (g->blocks)
        return g->blocks[tile->m_bits] * n_group * ceil_div(g->n, columns * n_group) *
               g->batch;
    return m_group * ceil_div(g->m, rows * m_group) * n_group *
           ceil_div(g->n, columns * n_group) * g->batch;
}

/* One k of a tile: the port is an SM's part of what L2 gives all of them, and where
 * pieces leave SMs idle the busy ones have more of it. */
static inline double step_of(const struct gemm *g, double own_s, double load_s,
                             double pieces)
{
    double part = pieces < g->sms && g->port_gain > 1
                      ? fmax(pieces / g->sms, 1 / g->port_gain)
                      : 1;
    return fmax(own_s, load_s * part);
}

/* Whether the library takes the tile for products of that size. */
static inline bool is_for(const struct tile *tile, const struct gemm *g)
{
    return g->m >= tile->m_least && (tile->m_most <= 0 || g->m <= tile->m_most) &&
           g->n >= tile->n_least && (tile->n_most <= 0 || g->n <= tile->n_most);
}

/* (1)-(5) for one tile: the best over the ways to split k; `best` where no way is
 * better. */
static double tile_s(const struct gemm *g, const struct menu *menu,
                     const struct tile *tile, double best)
{
    double rows = (double)(1 << tile->m_bits), columns = (double)(1 << tile->n_bits);
    double elements = rows * columns;
    double pieces = pieces_of(g, tile, rows, columns);
    double arithmetic_s = 2 * elements / g->flops;
    double load_s = g->element_B * (rows + columns) / g->port_Bps;
    double own_s = fmax(arithmetic_s, g->latency_s);
    double least_s = pieces * (double)g->k * step_of(g, own_s, load_s, pieces);
    if (!is_for(tile, g) || least_s >= best * g->sms)
        return best; /* even if all SMs were always busy */
    double write_s = g->epilogue * g->result_B * elements * g->sms / g->hbm_Bps *
                     (tile->write > 0 ? tile->write : 1);
    double partial_s = 4 * g->batch * g->m * g->n / g->hbm_Bps;
    int64_t most = splits_most(g, menu, pieces);
    for (int i = 0; i < SPLITS_N; i++) {
        int64_t s = splits[i];
        double sum_s = s > 1 ? g->split_s + (double)s * partial_s : 0;
        if (s > 1 && (s > most || sum_s >= best))
            break;
        double depth = (double)((g->k + 32 * s - 1) / (32 * s) * 32);
        double t = loop_and_write_s(
                       g, menu->pairs, pieces * (double)s, elements,
                       depth * step_of(g, own_s, load_s, pieces * (double)s), write_s) +
                   sum_s;
        best = t < best ? t : best;
        if (g->partial_waves >= 1 && pieces * (double)s > g->sms)
            break; /* all SMs are busy: more parts only add work */
    }
    return best;
}

/* (6)-(8): the best tile, joined with the memory traffic by a 4-norm. */
double gemm_s(const struct gemm *g)
{
    const struct menu *menu = &menus[g->tiles];
    double best = INFINITY;
    for (int i = 0; i < menu->n; i++)
        best = tile_s(g, menu, &menu->tiles[i], best);
    double k = (double)g->k;
    double matrices = g->blocks ? g->groups : 1;
    double read_B = g->element_B * g->batch * (g->m * k + matrices * g->n * k);
    double moved_B = read_B + g->result_B * g->batch * g->m * g->n;
    double memory_s = moved_B / g->hbm_Bps;
    double a = best * best, b = memory_s * memory_s;
    return g->launch_s + sqrt(sqrt(a * a + b * b));
}
