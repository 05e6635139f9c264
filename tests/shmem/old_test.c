/* The header and a program in C of 1990 with compiler extensions. */
#include <shmem.h>

static long word;

int main(void) {
    int result;
    start_pes(0);
    shmem_long_p(&word, 5, _my_pe());
    shmem_set_cache_inv();
    shmem_clear_cache_inv();
    shmem_set_cache_line_inv(&word);
    shmem_clear_cache_line_inv(&word);
    shmem_udcflush();
    shmem_udcflush_line(&word);
    shmem_barrier_all();
    result = word == 5 ? 0 : 1;
    return result;
}
