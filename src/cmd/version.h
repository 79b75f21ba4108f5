/* smsim --version: the release and what data it reads. */
#ifndef CMD_VERSION_H
#define CMD_VERSION_H

/* Prints the release, where the data are and their hash, the dates of list prices, the
 * number of tables of measurements. */
void version_print(void);

#endif
