/* What happened when: tracks of coloured boxes over time (pipeline stages, GPU streams).
 * Boxes narrower than a pixel are merged to the kind that fills most of it, paler where
 * the track is idle for the rest; a track that is full of such boxes shows the shares of
 * kinds, one upon the other, stretch by stretch. A million boxes thus cost no more than
 * the picture.
 * Lanes beyond what a page holds are left out evenly, and the subtitle says so. Empty
 * time is left white: bubbles show. Ids: track-0, track-1, ... */
#ifndef DRAW_TIMELINE_H
#define DRAW_TIMELINE_H

#include "draw/axis.h"
#include "draw/meaning.h"

struct timeline_box {
    size_t track, kind;
    double start_s, end_s;
    const char *text; /* shown in the box where there is room; NULL: none */
    double shade;     /* 0: the kind's colour, to 1: half as strong */
};

enum { TIMELINE_KINDS_MAX = 32, TIMELINE_PARTS_MAX = 4 };
enum { TIMELINE_BREAK_W = 12 }; /* pixels between two parts */

struct timeline_part {
    double from_s, to_s;
    const char *name; /* above it, where there is room; NULL: none */
};

struct timeline {
    const char *title, *subtitle, *provenance;
    const char *caption; /* of these tracks, right above them; NULL: none */
    const char *const *tracks;
    size_t n_tracks;
    const char *const *kinds;     /* names in the legend */
    const enum meaning *meanings; /* of the kinds; NULL: colours go by their order */
    size_t n_kinds;               /* at most TIMELINE_KINDS_MAX */
    const struct timeline_box *boxes;
    size_t n_boxes;
    double end_s; /* of the time axis; 0: of the last box */
    struct timeline_part parts[TIMELINE_PARTS_MAX]; /* what the time axis shows, */
    size_t n_parts;       /* ascending, with a break between two; 0: all */
    const bool *left_out; /* tracks that stand for those left out between two others:
                           * blank, under a name of them; NULL: none */
    bool hatched;         /* empty time is, in place of white */
    bool legend_below, no_legend, no_axis; /* no_axis: time is under another one */
    double track_h;                        /* at least, where the canvas may grow */
};

void timeline_draw(const struct timeline *t, struct draw *d);

#endif
