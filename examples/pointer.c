/* Another rank's memory as a plain pointer, with the program's own C11 atomics.
 *     sennit run -n 4 pointer
 */
#include <sched.h>
#include <stdatomic.h>

#include "must.h"

enum { kAdds = 1000 };

typedef struct Shared {
    atomic_long counter;
    atomic_int is_ready;
    int answer;
} Shared;

int main(void) {
    must(sennit_init(NULL));
    const int size = sennit_size();

    sennit_gptr mine;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(Shared), 0, 0, &mine));
    Shared *at_zero = sennit_ptr(sennit_gptr_at(mine, 0));
    if (at_zero == NULL) { /* rank 0 is not on this node: the reason has details */
        printf("no pointer to rank 0: %s\n", sennit_last_error()->text);
        return 1;
    }

    /* New memory is zeroed, and an atomic 0 is all zeros, so no initialisation is needed. */
    for (int i = 0; i < kAdds; ++i)
        atomic_fetch_add_explicit(&at_zero->counter, 1, memory_order_relaxed);
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    must_be(atomic_load(&at_zero->counter) == (long)kAdds * size, "no addition was lost");

    /* Release and acquire order the plain int, as between two threads. */
    if (sennit_rank() == size - 1) {
        at_zero->answer = 42;
        atomic_store_explicit(&at_zero->is_ready, 1, memory_order_release);
    }
    /* snippet: wait */
    for (int looks = 0; atomic_load_explicit(&at_zero->is_ready, memory_order_acquire) == 0;
         ++looks)
        if (looks > 100) (void)sched_yield(); /* the other rank may need this processor */
    /* end of snippet */
    must_be(at_zero->answer == 42, "the int before its flag");

    if (sennit_rank() == 0) printf("%d additions by %d ranks\n", kAdds * size, size);
    must(sennit_free(mine));
    must(sennit_finalize());
    return 0;
}
