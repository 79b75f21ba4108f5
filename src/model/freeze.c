/* Layers and ends that are not trained (MODEL.md, 2.14): of two operator lists of one
 * model, all of it trained and none, the blocks that are and that are not; and below the
 * lowest gradient no backward. */
#include "model/freeze.h"
#include "model/ops.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool freeze_holds_blocks(const struct lora *l)
{
    return l->rank == 0 && (l->layers || l->frozen & LORA_FREEZES_BLOCKS);
}

static bool is_held_layer(const struct lora *l, int64_t i)
{
    for (int32_t k = 0; l->layers && k < l->layers->n; k++)
        if (i >= l->layers->of[k].from && i < l->layers->of[k].end)
            return true;
    return false;
}

/* Layers from i on, below `end`, that are as i is. */
static int64_t run_of(const struct lora *l, int64_t i, int64_t end)
{
    int64_t n = 1;
    while (i + n < end && is_held_layer(l, i + n) == is_held_layer(l, i))
        n++;
    return n;
}

/* A part of a model that is no layer of its stack. */
static bool is_held_end(const struct op_list *list, const struct lora *l, int32_t i,
                        bool before_decoder)
{
    const char *name = list->blocks[i].name;
    if (i == 0)
        return l->frozen & (LORA_FREEZES_EMBEDDINGS | LORA_FREEZES_ENCODER);
    if (strncmp(name, "vision", 6) == 0 || strcmp(name, "projector") == 0)
        return false; /* towers have words of their own */
    if (i >= list->n_blocks - list->n_ends)
        return l->frozen & LORA_FREEZES_HEAD;
    return before_decoder && l->frozen & LORA_FREEZES_ENCODER;
}

static void add(struct op_list *to, const struct op_block *block, int64_t n)
{
    to->blocks[to->n_blocks] = *block;
    to->blocks[to->n_blocks++].repeat = n;
}

static bool is_of_stack(const struct op_block *block)
{
    return op_block_is_layer(block) && !op_block_is_mtp(block) &&
           strncmp(block->name, "vision", 6) != 0;
}

static int32_t find_decoder(const struct op_list *list)
{
    for (int32_t i = 0; i < list->n_blocks; i++)
        if (strcmp(list->blocks[i].name, "decoder_embedding") == 0)
            return i;
    return 0;
}

/* The last backward operator that completes a gradient, and one more; 0: none does. */
static int32_t useful(const struct op_block *block)
{
    for (int32_t i = block->n_backward - 1; i >= 0; i--)
        if (block->backward[i].grad_n > 0)
            return i + 1;
    return 0;
}

/* The block's backward as far as n operators; what the others would read is not kept. */
static void cut(struct op_block *block, int32_t n, struct arena *arena)
{
    struct op *ops = ARENA_ARRAY(arena, block->n_forward, struct op);
    memcpy(ops, block->forward, (size_t)block->n_forward * sizeof(*ops));
    for (int32_t i = 0; i < block->n_forward; i++)
        for (int32_t k = 0; k < ops[i].n_outs; k++)
            if (ops[i].outs[k].kept_until >= n)
                ops[i].outs[k].kept_until = -1;
    block->forward = ops;
    block->n_backward = n;
}

/* A layer among equal ones is a block of its own. */
static void part_lowest(struct op_list *list, int32_t at)
{
    struct op_block *v = list->blocks;
    if (v[at].repeat == 1)
        return;
    memmove(&v[at + 1], &v[at], (size_t)(list->n_blocks - at) * sizeof(*v));
    list->n_blocks++;
    v[at].repeat = 1;
    v[at + 1].repeat--;
}

/* What a stage of a pipeline receives wants a gradient, whatever the stages before it
 * train; the embeddings alone receive nothing (Megatron-Core, p2p_communication.py,
 * _communicate: requires_grad). */
static void cut_below(struct op_list *list, struct arena *arena, bool handed_on)
{
    int32_t lowest = 0;
    if (handed_on) {
        if (op_block_trained(&list->blocks[0]) == 0)
            cut(&list->blocks[0], 0, arena);
        return;
    }
    while (lowest < list->n_blocks && op_block_trained(&list->blocks[lowest]) == 0)
        cut(&list->blocks[lowest++], 0, arena);
    if (lowest == list->n_blocks ||
        useful(&list->blocks[lowest]) == list->blocks[lowest].n_backward)
        return;
    part_lowest(list, lowest);
    cut(&list->blocks[lowest], useful(&list->blocks[lowest]), arena);
}

/* Puts the blocks of `held`, which is the list of the same model of which nothing is
 * trained, in the place of those of `list` that are not, and cuts the backward off below
 * the lowest gradient. */
static void freeze_blocks(struct op_list *list, const struct op_list *held,
                          struct arena *arena, const struct lora *l)
{
    int32_t runs = l->layers ? l->layers->n : 0, decoder = find_decoder(list);
    struct op_list all = { .n_ends = list->n_ends };
    int64_t at = 0;
    all.blocks =
        ARENA_ARRAY(arena, (2 * runs + 1) + 2 * list->n_blocks + 1, struct op_block);
    for (int32_t i = 0; i < list->n_blocks; i++) {
        const struct op_block *block = &list->blocks[i];
        bool before = i < decoder;
        if (!is_of_stack(block)) {
            add(&all,
                is_held_end(list, l, i, before) ? &held->blocks[i] : &list->blocks[i],
                block->repeat);
            continue;
        }
        int64_t end = at + block->repeat;
        for (int64_t n; at < end; at += n) {
            bool encoder = before && l->frozen & LORA_FREEZES_ENCODER;
            n = run_of(l, at, end);
            add(&all,
                encoder || is_held_layer(l, at) ? &held->blocks[i] : &list->blocks[i],
                n);
        }
    }
    *list = all;
    cut_below(list, arena, l->handed_on);
}

int op_list_make(struct op_list *list, struct arena *arena, const struct model *m,
                 const struct op_settings *s, struct err *err)
{
    struct op_list held;
    struct op_settings *own = ARENA_NEW(arena, struct op_settings),
                       *none = ARENA_NEW(arena, struct op_settings);
    *own = *s;
    own->lora.whole |= m->tower && s->lora.frozen & LORA_FREEZES_LANGUAGE;
    /* towers have their own (build_tower) */
    if (op_list_make_base(list, arena, m, own, err) < 0)
        return -1;
    if (!freeze_holds_blocks(&s->lora))
        return 0;
    *none = *own;
    none->lora.whole = true;
    if (op_list_make_base(&held, arena, m, none, err) < 0)
        return -1;
    freeze_blocks(list, &held, arena, &s->lora);
    return 0;
}

/* Words ---------------------------------------------------------------------------- */

/* A whole number at *at, which goes on to what follows it; -1: there is none. */
static int read_number(const char **at, int64_t *n)
{
    char *end;
    if (**at < '0' || **at > '9')
        return -1;
    errno = 0;
    *n = strtoll(*at, &end, 10);
    *at = end;
    return errno ? -1 : 0;
}

/* "layers but last 2": all others are held. */
static int read_but(const char *at, int64_t most, struct layer_run *run)
{
    static const char last[] = "last ", first[] = "first ";
    bool of_last = strncmp(at, last, strlen(last)) == 0;
    int64_t n;
    if (!of_last && strncmp(at, first, strlen(first)) != 0)
        return -1;
    at += of_last ? strlen(last) : strlen(first);
    if (read_number(&at, &n) < 0 || *at)
        return -1;
    n = n < most ? n : most;
    *run =
        of_last ? (struct layer_run) { 0, most - n } : (struct layer_run) { n, most };
    return 0;
}

int freeze_read_layers(const char *word, int64_t most, struct layer_run *run)
{
    static const char but[] = "layers but ";
    if (strncmp(word, but, strlen(but)) == 0)
        return read_but(word + strlen(but), most, run);
    static const char one[] = "layer ", more[] = "layers ";
    bool single = strncmp(word, one, strlen(one)) == 0;
    const char *at = word + (single ? strlen(one) : strlen(more));
    int64_t last;
    if ((!single && strncmp(word, more, strlen(more)) != 0) ||
        read_number(&at, &run->from) < 0)
        return -1;
    last = run->from;
    if (!single && (*at++ != '-' || read_number(&at, &last) < 0))
        return -1;
    run->end = last + 1;
    return *at || last < run->from || last == INT64_MAX ? -1 : 0;
}

const char *freeze_layers_word(const struct lora *l, int32_t i, char *buf, size_t size)
{
    if (!l->layers || i >= l->layers->n)
        return NULL;
    const struct layer_run *run = &l->layers->of[i];
    if (run->end - run->from == 1)
        snprintf(buf, size, "layer %" PRId64, run->from);
    else
        snprintf(buf, size, "layers %" PRId64 "-%" PRId64, run->from, run->end - 1);
    return buf;
}
