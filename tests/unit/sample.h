/* Loops over very many cases run all of them, or with SAMPLE=25 in the environment
 * each 25th: where the program is slow, as under sanitizers. */
#ifndef UNIT_SAMPLE_H
#define UNIT_SAMPLE_H

/* Of so many cases one is run: 1, or $SAMPLE. */
int sample_every(void);

#endif
