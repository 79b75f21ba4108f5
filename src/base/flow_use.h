/* One use of a shared resource by something that makes progress: the plans of the cost
 * layer are made of these, and the engine's fluid network shares by them. */
#ifndef BASE_FLOW_USE_H
#define BASE_FLOW_USE_H

#include <stdint.h>

struct flow_use {
    int32_t link;
    double weight; /* > 0: units on the link per unit of progress */
};

#endif
