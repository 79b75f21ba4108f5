#include "hardware/fabric_law.h"

#include <math.h>
#include <string.h>

const struct name_value fabric_protocol_names[] = {
    { "simple", FABRIC_PROTO_SIMPLE },
    { "ll", FABRIC_PROTO_LL },
    { "ll128", FABRIC_PROTO_LL128 },
    { NULL, 0 },
};

#define LAW_TIME(k, m) CFG_QUANTITY(k, struct fabric_law, m, UNIT_SECONDS, 0, 1)
#define LAW_BYTES(k, m) CFG_QUANTITY(k, struct fabric_law, m, UNIT_BYTES, 0, 1e12)
#define LAW_RATE(k, m) \
    CFG_QUANTITY(k, struct fabric_law, m, UNIT_BYTES_PER_S, 1e6, 1e15)

static const struct cfg_field law_fields[] = {
    LAW_TIME("base", base_s),
    LAW_TIME("rank", rank_s),
    LAW_TIME("node", node_s),
    LAW_TIME("chain", chain_s),
    CFG_REAL("chain_steps", struct fabric_law, chain_steps, 0, 100),
    LAW_TIME("level", level_s),
    LAW_TIME("ramp", ramp_s),
    LAW_TIME("ramp_level", ramp_level_s),
    LAW_BYTES("ramp_bytes", ramp_B),
    CFG_REAL("fill", struct fabric_law, fill_frac, 0, 1000),
    CFG_REAL("fill_chain", struct fabric_law, fill_chain, 0, 1000),
    CFG_REAL("fill_level", struct fabric_law, fill_level, 0, 1000),
    LAW_BYTES("fill_from", fill_from_B),
    LAW_BYTES("fill_bytes", fill_B),
    LAW_BYTES("fill_rank", fill_rank_B),
    CFG_REAL("channels", struct fabric_law, rounds_channels, 1, 64),
    LAW_BYTES("chunk_half", rounds_half_B),
    CFG_REAL("efficiency", struct fabric_law, efficiency, 0.01, 2),
    LAW_RATE("max", max_Bps),
    LAW_RATE("peer", peer_Bps),
    CFG_END,
};

struct law_rows {
    struct cfg row[FABRIC_PROTO_N];
};

static const struct cfg_field rows_fields[] = {
    CFG_CHILD("simple", struct law_rows, row[FABRIC_PROTO_SIMPLE]),
    CFG_CHILD("ll", struct law_rows, row[FABRIC_PROTO_LL]),
    CFG_CHILD("ll128", struct law_rows, row[FABRIC_PROTO_LL128]),
    CFG_END,
};

static int read_law(struct fabric_law *law, struct cfg object)
{
    *law = (struct fabric_law) { .enabled = cfg_present(object),
                                 .efficiency = 1,
                                 .fill_B = INFINITY,
                                 .max_Bps = INFINITY,
                                 .peer_Bps = INFINITY };
    if (!law->enabled)
        return 0;
    if (!cfg_is_object(object))
        return cfg_error(object, DIAG_WRONG_TYPE,
                         "should be an object: {\"base\": \"20us\"}");
    if (cfg_read(object, law_fields, law))
        return -1;
    if (law->rounds_half_B > 0 && law->rounds_channels <= 0)
        return cfg_error(cfg_get(object, "chunk_half"), DIAG_UNSUPPORTED,
                         "acts on rounds of chunks: give \"channels\", too");
    return 0;
}

int fabric_laws_read(struct fabric_laws *laws, const struct cfg objects[FABRIC_ALGO_N])
{
    int rc = 0;
    for (int a = 0; a < FABRIC_ALGO_N; a++) {
        struct law_rows rows = { 0 };
        rc |= cfg_read(objects[a], rows_fields, &rows);
        for (int p = 0; p < FABRIC_PROTO_N; p++)
            rc |= read_law(&laws->of[a][p], rows.row[p]);
    }
    return rc ? -1 : 0;
}

static const char *const known_ops[] = { "all_reduce", "all_gather", "reduce_scatter",
                                         NULL };
static const char *const known_algorithms[] = { "ring", "tree", "nvls", "nvls_tree",
                                                NULL };

static int check_word(struct cfg object, const char *key, const char *const *known,
                      const char *word)
{
    for (; *known; known++)
        if (strcmp(*known, word) == 0)
            return 0;
    return cfg_error(cfg_get(object, key), DIAG_UNKNOWN_NAME,
                     "\"%s\" is nothing that a tuner chooses", word);
}

struct choice_file {
    struct fabric_choice choice;
    struct cfg ranks, up_to;
};

static const struct cfg_field choice_fields[] = {
    CFG_ROW("op", CFG_T_STRING, struct choice_file, choice.op, .required = true),
    CFG_ROW("algorithm", CFG_T_STRING, struct choice_file, choice.algorithm,
            .required = true),
    CFG_ROW("protocol", CFG_T_ENUM, struct choice_file, choice.protocol,
            .names = fabric_protocol_names, .required = true),
    CFG_ROW("ranks", CFG_T_CHILD, struct choice_file, ranks, .required = true),
    CFG_ROW("up_to", CFG_T_CHILD, struct choice_file, up_to),
    CFG_END,
};

/* Numbers of ranks in rising order, and a size for each (none: any size). */
static int read_knots(struct choice_file *file)
{
    struct fabric_choice *c = &file->choice;
    int64_t n = cfg_len(file->ranks), last = 0;
    if (!cfg_is_array(file->ranks) || n < 1 || n > FABRIC_KNOTS_MAX)
        return cfg_error(file->ranks, DIAG_WRONG_TYPE,
                         "should be an array of 1 to %d numbers of ranks",
                         FABRIC_KNOTS_MAX);
    if (cfg_present(file->up_to) &&
        (!cfg_is_array(file->up_to) || cfg_len(file->up_to) != n))
        return cfg_error(file->up_to, DIAG_WRONG_TYPE, "should be an array of %d sizes",
                         (int)n);
    for (; c->n_knots < n; c->n_knots++) {
        struct cfg size = cfg_at(file->up_to, c->n_knots);
        int64_t ranks;
        if (cfg_int(cfg_at(file->ranks, c->n_knots), &ranks, last + 1, 1 << 24))
            return -1;
        c->ranks[c->n_knots] = (double)ranks;
        c->up_to_B[c->n_knots] = INFINITY;
        last = ranks;
        if (cfg_present(file->up_to) &&
            cfg_quantity(size, UNIT_BYTES, &c->up_to_B[c->n_knots], 1, 1e15))
            return -1;
    }
    return 0;
}

struct choices_file {
    int64_t gpus_per_node;
    const char *provenance;
    struct cfg rows;
};

static const struct cfg_field choices_fields[] = {
    CFG_ROW("gpus_per_node", CFG_T_INT, struct choices_file, gpus_per_node, .min = 1,
            .max = 1024, .required = true),
    CFG_STRING("provenance", struct choices_file, provenance),
    CFG_ROW("rows", CFG_T_CHILD, struct choices_file, rows, .required = true),
    CFG_END,
};

int fabric_choices_read(struct fabric_choices *choices, struct cfg object)
{
    struct choices_file file = { 0 };
    if (!cfg_present(object))
        return 0;
    if (cfg_read(object, choices_fields, &file))
        return -1;
    if (!cfg_is_array(file.rows) || cfg_len(file.rows) > FABRIC_CHOICES_MAX)
        return cfg_error(file.rows, DIAG_WRONG_TYPE,
                         "should be an array of at most %d rows", FABRIC_CHOICES_MAX);
    choices->gpus_per_node = file.gpus_per_node;
    for (int64_t i = 0; i < cfg_len(file.rows); i++) {
        struct cfg row = cfg_at(file.rows, i);
        struct choice_file one = { 0 };
        if (cfg_read(row, choice_fields, &one) ||
            check_word(row, "op", known_ops, one.choice.op) ||
            check_word(row, "algorithm", known_algorithms, one.choice.algorithm) ||
            read_knots(&one))
            return -1;
        choices->rows[choices->n++] = one.choice;
    }
    return 0;
}

/* The size at a number of ranks; 0 outside the row's knots. */
static double limit_at(const struct fabric_choice *c, double ranks)
{
    int32_t k = 0;
    if (ranks < c->ranks[0] || ranks > c->ranks[c->n_knots - 1])
        return 0;
    while (k + 1 < c->n_knots && ranks > c->ranks[k + 1])
        k++;
    if (c->n_knots == 1 || isinf(c->up_to_B[k]))
        return c->up_to_B[k];
    double part = log(ranks / c->ranks[k]) / log(c->ranks[k + 1] / c->ranks[k]);
    double ratio = log(c->up_to_B[k + 1] / c->up_to_B[k]);
    return c->up_to_B[k] * exp(part * ratio) * (1 + 1e-9);
}

const struct fabric_choice *fabric_choice_of(const struct fabric_choices *choices,
                                             const char *op, int64_t n_ranks,
                                             int32_t gpus_per_node, double size_B)
{
    if (gpus_per_node != choices->gpus_per_node)
        return NULL;
    for (int32_t i = 0; i < choices->n; i++) {
        const struct fabric_choice *c = &choices->rows[i];
        if (strcmp(c->op, op) == 0 && size_B <= limit_at(c, (double)n_ranks))
            return c;
    }
    return NULL;
}

struct chunk_rule {
    double rounds, chunk_B; /* fewer rounds of twice the chunk: this chunk */
};

static double chunk_for(const struct chunk_rule *rule, size_t n, double size_B,
                        double chunks_a_round, double chunk_B)
{
    for (size_t i = 0; i < n; i++)
        if (rule[i].chunk_B < chunk_B &&
            size_B < rule[i].rounds * chunks_a_round * chunk_B)
            chunk_B = rule[i].chunk_B;
    return chunk_B;
}

double fabric_nvls_chunk_B(double size_B, double chunks_a_round, int64_t n_nodes)
{
    static const struct chunk_rule alone[] = { { 64, 65536 },
                                               { 8, 32768 },
                                               { 2, 16384 } };
    static const struct chunk_rule trees[] = { { 4, 65536 }, { 1, 32768 } };
    double most_B = n_nodes >= 4 ? 65536 : 131072;
    return n_nodes > 1 ? chunk_for(trees, 2, size_B, chunks_a_round, most_B)
                       : chunk_for(alone, 3, size_B, chunks_a_round, most_B);
}

/* What the rounds of chunks add to X: see the header. */
static double rounds_s(const struct fabric_law *law, int64_t n_ranks, int64_t n_nodes,
                       double sent_B, double bytes_s)
{
    double heads = fmin((double)n_ranks / (double)n_nodes, FABRIC_NVLS_HEADS);
    double chunks = law->rounds_channels * heads;
    if (chunks <= 0 || sent_B <= 0)
        return 0;
    double chunk_B = fabric_nvls_chunk_B(sent_B, chunks, n_nodes);
    double slower = 1 + law->rounds_half_B / chunk_B;
    double round = chunks * chunk_B / sent_B; /* of the bytes */
    double fill = law->fill_frac * (n_nodes > 1 ? fmin(round, 1) : round);
    if (n_nodes > 4)
        fill *= log2((double)n_nodes) / 2;
    return bytes_s * (slower * (1 + fill) - 1);
}

double fabric_law_s(const struct fabric_law *law, int64_t n_ranks, int64_t n_nodes,
                    double ramp_size_B, double sent_B, double bytes_s)
{
    double level = fmax(log2((double)n_nodes) - 1, 0);
    double ramp = law->ramp_s + law->ramp_level_s * level;
    double reached = law->ramp_B > 0 ? fmin(ramp_size_B / law->ramp_B, 1) : 1;
    double most_B = law->fill_B + law->fill_rank_B * (double)n_ranks;
    double waiting_B = fmin(fmax(sent_B - law->fill_from_B, 0), most_B);
    double chain = (double)n_ranks / (double)n_nodes - 1;
    double filling =
        law->fill_frac * (1 + law->fill_level * level) + law->fill_chain * chain;
    double fill = law->rounds_channels > 0
                      ? rounds_s(law, n_ranks, n_nodes, sent_B, bytes_s)
                  : sent_B > 0 ? filling * waiting_B * (bytes_s / sent_B)
                               : 0;
    return law->base_s + law->rank_s * (double)(n_ranks - 2) +
           law->node_s * (double)(n_nodes - 1) + law->chain_s * chain +
           law->level_s * level + ramp * reached + fill;
}
