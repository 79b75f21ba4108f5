#include <CUnit/CUnit.h>
void test_distribution_register(void);
void test_distribution_register(void)
{
    CU_add_suite("distribution", NULL, NULL);
}
