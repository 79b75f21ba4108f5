/* Wall-clock time that only goes forward. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Seconds since some moment that stays the same while the program runs. */
double clock_s(void);

#endif
