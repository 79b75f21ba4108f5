/* What a section works with on one GPU. */
#ifndef SMSIM_MEASURE_SESSION_H
#define SMSIM_MEASURE_SESSION_H

enum { SESSION_WORKSPACE_B = 64 << 20 };

#endif
