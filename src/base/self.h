/* The file of the program that runs: the one place that asks the system for it. */
#ifndef BASE_SELF_H
#define BASE_SELF_H

enum { SELF_PATH_B = 4096 };

/* A path that opens the file; with /proc, though another has its name by now. 0, or -1:
 * unknown. */
int self_path(char path[SELF_PATH_B]);

/* The file's own absolute path, without links. 0, or -1: unknown. */
int self_real_path(char path[SELF_PATH_B]);

#endif
