/* OpenSHMEM: each PE sends numbers to the next one, with a signal that tells of their arrival.
 *   oshcc openshmem_ring.c -o openshmem_ring
 *   oshrun -np 4 ./openshmem_ring */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

enum { COUNT = 8 };

static uint64_t arrived; /* global and static variables are symmetric: each PE has its own */

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int pes = shmem_n_pes();
    const int previous = (me + pes - 1) % pes;
    long *const numbers = shmem_calloc(COUNT, sizeof *numbers);
    if (numbers == NULL) return 1;
    long mine[COUNT];
    for (int i = 0; i < COUNT; ++i)
        mine[i] = 100L * me + i;
    shmem_long_put_signal(numbers, mine, COUNT, &arrived, 1, SHMEM_SIGNAL_SET, (me + 1) % pes);
    shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
    const int is_right =
        numbers[0] == 100L * previous && numbers[COUNT - 1] == numbers[0] + COUNT - 1;
    printf("PE %d of %d got %ld to %ld from PE %d\n", me, pes, numbers[0], numbers[COUNT - 1],
           previous);
    shmem_free(numbers);
    shmem_finalize();
    return is_right ? 0 : 1;
}
