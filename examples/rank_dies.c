/* A rank dies during its work; the others notice it, and finish its work.
 *     sennit run -n 4 --keep-going rank_dies
 * Items are taken from a counter. Each rank notes in its own memory the item that it works on, and
 * that memory can be read after the rank's death.
 */
#include <signal.h>

#include "must.h"

enum { ITEMS = 100 };

typedef struct Words {
    int64_t next;     /* at rank 0: the next item */
    int64_t done;     /* at rank 0: items that are done */
    int64_t finished; /* at rank 0: ranks that have seen the end */
    int64_t in_hand;  /* at every rank: its item plus 1, or 0 */
} Words;

static sennit_gptr words_of_all;

static sennit_gptr word(int rank, size_t offset) {
    return sennit_gptr_add(sennit_gptr_at(words_of_all, rank), (int64_t)offset);
}

static void work_on(int64_t item) {
    double sum = 0;
    for (int64_t i = 0; i < 1000 + item; ++i)
        sum += 1.0 / (double)(i + 1);
    must_be(sum > 0, "a result");
    must(sennit_atomic_inc_i64(word(0, offsetof(Words, done))));
}

static void work(int is_victim) {
    for (int turn = 0;; ++turn) {
        int64_t item;
        must(sennit_atomic_fetch_inc_i64(word(0, offsetof(Words, next)), &item));
        if (item >= ITEMS) return;
        const int64_t in_hand = item + 1, nothing = 0;
        must(sennit_atomic_set_i64(word(sennit_rank(), offsetof(Words, in_hand)), in_hand));
        if (turn == 0) must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)); /* all have one */
        if (is_victim) (void)raise(SIGKILL);
        work_on(item);
        must(sennit_atomic_set_i64(word(sennit_rank(), offsetof(Words, in_hand)), nothing));
    }
}

/* Called by rank 0 after the death of rank `lost`. */
static void finish(int lost) {
    int64_t in_hand, finished = 0, done;
    /* snippet: finish */
    /* The lost rank's last note is still in its memory. */
    must(sennit_atomic_fetch_i64(word(lost, offsetof(Words, in_hand)), &in_hand));
    if (in_hand != 0) work_on(in_hand - 1);
    /* A barrier of the world can no longer complete; a counter can. */
    while (finished < sennit_size() - 2)
        must(sennit_atomic_fetch_i64(word(0, offsetof(Words, finished)), &finished));
    /* end of snippet */
    must(sennit_atomic_fetch_i64(word(0, offsetof(Words, done)), &done));
    must_be(in_hand != 0 && done == ITEMS, "every item was done");
    printf("rank %d was lost with an item in hand; now all %d are done\n", lost, ITEMS);
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    must_be(size > 1, "there are others");
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(Words), 0, 0, &words_of_all));
    work(rank == size - 1);

    /* snippet: lost */
    const sennit_status status = sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
    if (status != SENNIT_ERR_PEER_LOST) must(status);
    const int lost = sennit_last_error()->peer;
    /* end of snippet */
    must_be(lost == size - 1, "the error names the rank that died");
    if (rank == 0)
        finish(lost);
    else
        must(sennit_atomic_inc_i64(word(0, offsetof(Words, finished))));
    /* Returns PEER_LOST again, but frees everything. */
    if (sennit_finalize() != SENNIT_ERR_PEER_LOST) return 1;
    return 0;
}
