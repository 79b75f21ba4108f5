/* The models of vision.h, a row each: their parts, and how one reaches the other. Private
 * to vision*.c. */
#ifndef MODEL_VISION_ROWS_H
#define MODEL_VISION_ROWS_H

#include "model/vision.h"

/* The projector, of the tower's columns v (after merging patches: of `square` of them)
 * and the language model's h. */
enum projector {
    PROJECTOR_MLP,     /* v to h, h to h (LLaVA) */
    PROJECTOR_LINEAR,  /* v to h */
    PROJECTOR_MERGER,  /* merged v to merged v, to h (Qwen) */
    PROJECTOR_MERGED,  /* merged v to h, h to h (InternVL) */
    PROJECTOR_THREE,   /* merged v to v, to h, to h (Mistral 3) */
    PROJECTOR_ADAPTER, /* merged v to two widths of the tower's own, to h (Llama 4) */
    PROJECTOR_SHUFFLE, /* merged v to h (Idefics 3) */
    PROJECTOR_GATED,   /* merged v to h, h to h, and a gated MLP (GLM-4V) */
    PROJECTOR_PAIR,    /* of one vector, v to the pair's columns (CLIP) */
    PROJECTOR_POOL,    /* a learned query attends to all patches (SigLIP) */
    PROJECTOR_BRIDGE,  /* none, or v to h where cross-attention reads h columns */
};

enum {
    ADAPTER = 4096, /* Llama4VisionConfig's */
    READ_MAX = 64   /* layers of a tower that a projector reads */
};

/* A model_type of such a model. */
struct vision {
    const char *name;
    const char *language, *tower; /* families, where the file names none */
    const char *text;             /* where the language model's part is; or the root */
    struct model sizes;           /* of a part that leaves them to its class */
    enum projector projector;
    bool norm, wide_norm; /* of the tower's columns; of the merged ones */
    bool bare;            /* products without bias */
    int64_t tiles;        /* crops of a picture */
    int64_t scales;       /* two towers: numbers that scale their products */
    int64_t merge;        /* patches of a side that become one; 0: the tower's own */
    int64_t layers_read;  /* of the tower, by the projector; 0: one */
    int64_t halves;       /* so many patches in a row become one, their mean; 0: one */
    bool sounds;          /* "audio_config" is a tower that reads sounds */
    bool crossed;         /* its tokens are read by layers of cross-attention, */
    bool each;            /* which all layers of the language model have */
    bool hears;           /* the tower reads sounds */
    bool mobile;          /* towers of a MobileNet and a conformer (Gemma 3n) */
    bool embeds;          /* products alone read pictures and sounds */
    const char *reads;    /* where the tower's part is; NULL: "vision_config" */
    const char *inside;   /* the member that holds both parts; NULL: the root */
};

/* A number of a file from 1 on, or `usual`; -1 after reporting. */
int64_t vision_number(struct cfg root, const char *key, int64_t usual);

/* vision_idle.c: what is held and not run, added to m->idle. -1 after reporting. */
int vision_sounds(struct model *m, struct cfg root, vision_read_fn *read);
int vision_mobile(struct model *m, struct cfg root);
int vision_embedders(struct model *m, struct cfg root);

#endif
