#include "parallel/partition.h"
