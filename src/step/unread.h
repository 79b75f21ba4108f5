/* What nobody asks of a step, and is not made then. */
#ifndef STEP_UNREAD_H
#define STEP_UNREAD_H

#include <stdbool.h>

struct step_unread {
    bool links; /* how busy they are, and what passes them */
    bool layer; /* how long a layer's kernels take */
};

#endif
