/* The C side of cost.f90: the same calls in the same loops. Each function returns 0, or the status
 * of the call that failed. */
#include <sennit/sennit.h>

int cost_put(const sennit_gptr *place, int64_t *word, long count);
int cost_get(const sennit_gptr *place, int64_t *word, long count);
int cost_fetch_add(const sennit_gptr *place, int64_t *word, long count);
int cost_put_nb(const sennit_gptr *place, int64_t *word, long count);
int cost_put_nbi(const sennit_gptr *place, int64_t *word, long count);
int cost_channel(const sennit_gptr *place, int64_t *word, long count);

int cost_put(const sennit_gptr *place, int64_t *word, long count) {
    for (long i = 0; i < count; ++i) {
        const sennit_status status = sennit_put(*place, word, 8);
        if (status != SENNIT_OK) return (int)status;
    }
    return 0;
}

int cost_get(const sennit_gptr *place, int64_t *word, long count) {
    for (long i = 0; i < count; ++i) {
        const sennit_status status = sennit_get(word, *place, 8);
        if (status != SENNIT_OK) return (int)status;
    }
    return 0;
}

int cost_fetch_add(const sennit_gptr *place, int64_t *word, long count) {
    for (long i = 0; i < count; ++i) {
        const sennit_status status = sennit_atomic_fetch_add_i64(*place, 1, word);
        if (status != SENNIT_OK) return (int)status;
    }
    return 0;
}

int cost_put_nb(const sennit_gptr *place, int64_t *word, long count) {
    for (long i = 0; i < count; ++i) {
        sennit_request request;
        sennit_status status = sennit_put_nb(*place, word, 8, &request);
        if (status == SENNIT_OK) status = sennit_wait(&request, SENNIT_FOREVER);
        if (status != SENNIT_OK) return (int)status;
    }
    return 0;
}

int cost_put_nbi(const sennit_gptr *place, int64_t *word, long count) {
    for (long i = 0; i < count; ++i) {
        const sennit_status status = sennit_put_nbi(*place, word, 8);
        if (status != SENNIT_OK) return (int)status;
    }
    return (int)sennit_flush_all(SENNIT_FOREVER);
}

/* `word` holds the handle of a channel from this rank to itself. */
int cost_channel(const sennit_gptr *place, int64_t *word, long count) {
    const sennit_channel channel = {(uint32_t)*word};
    (void)place;
    for (long i = 0; i < count; ++i) {
        int can_write = 0, can_read = 0;
        sennit_status status = sennit_channel_can_write(channel, &can_write);
        if (status == SENNIT_OK) status = sennit_channel_have_written(channel);
        if (status == SENNIT_OK) status = sennit_channel_can_read(channel, &can_read);
        if (status == SENNIT_OK) status = sennit_channel_have_read(channel);
        if (status != SENNIT_OK || !can_write || !can_read) return 1;
    }
    return 0;
}
