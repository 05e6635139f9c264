/* An OpenSHMEM program of another project: each PE sends its number to the next PE. */
#include <shmem.h>
#include <stdio.h>

static int got;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int pes = shmem_n_pes();
    shmem_int_p(&got, me, (me + 1) % pes);
    shmem_barrier_all();
    printf("PE %d of %d got %d\n", me, pes, got);
    shmem_finalize();
    return 0;
}
