/* Inside evidence: how much words weigh, as evidence.h has it. */
#ifndef DOCTOR_WEIGHTS_H
#define DOCTOR_WEIGHTS_H

static const double certain = 8, strong = 5, hint = 2.5;

#endif
