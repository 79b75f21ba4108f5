#include "sample.h"

#include <stdlib.h>

int sample_every(void)
{
    const char *every = getenv("SAMPLE");
    int n = every ? atoi(every) : 1;
    return n > 1 ? n : 1;
}
