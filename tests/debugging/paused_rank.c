/* The program of gdb_test.py: a rank that sleeps for the seconds of its argument. */
#include <sennit/sennit.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (sennit_init(NULL) != SENNIT_OK) return 1;
    if (count > 1) (void)sleep((unsigned)atoi(arguments[1]));
    return sennit_finalize() != SENNIT_OK;
}
