#include "simulate/simulate.h"

enum category simulate_binding(const double parts_s[CATEGORY_N], double step_s)
{
    const double least_share = 0.1;
    enum category best = CATEGORY_COMPUTE;
    double most_s = least_share * step_s;
    for (int i = 0; i < CATEGORY_N; i++)
        if (i != CATEGORY_COMPUTE && i != CATEGORY_DATA_COMM_HIDDEN &&
            parts_s[i] >= most_s) {
            best = (enum category)i;
            most_s = parts_s[i];
        }
    return best;
}
