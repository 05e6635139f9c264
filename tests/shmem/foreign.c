/* foreign [MILLISECONDS]: prints the number of PEs and runs for that time. Linked to Sennit, to
 * another library, or to both. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <shmem.h>

int main(int count, char **words) {
    const long milliseconds = count > 1 ? atol(words[1]) : 0;
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    shmem_init();
    (void)nanosleep(&time, NULL);
    printf("%d PEs\n", shmem_n_pes());
    shmem_finalize();
    return 0;
}
