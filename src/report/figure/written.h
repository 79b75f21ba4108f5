/* Names as people write them, for titles of figures. */
#ifndef REPORT_FIGURE_WRITTEN_H
#define REPORT_FIGURE_WRITTEN_H

/* "BERT-large" of bert-large-uncased, "GPT-3 175B" of gpt3-175b; a name whose words are
 * not known stays as it is. The caller frees it. */
char *written_model(const char *name);

/* "ZB-H1" of zb-h1; a name that is not known stays. */
const char *written_schedule(const char *name);

/* "DDP" of ddp, "AMP FP16" of amp_fp16: libraries, backends and precisions; a name that
 * is not known stays. */
const char *written_word(const char *name);

/* "All-reduce" of all_reduce. The caller frees it. */
char *written_collective(const char *name);

#endif
