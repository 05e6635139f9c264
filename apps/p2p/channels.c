#include "channels.h"

enum { MOST_ENDS = 3 };

/* The arguments of sennit_channel_open, filled channel by channel. */
struct ends {
    size_t count;
    int targets[MOST_ENDS];
    void *buffers[MOST_ENDS];
    size_t bytes[MOST_ENDS];
    sennit_channel channels[MOST_ENDS];
    void *peers[MOST_ENDS];
};

/* Returns the index of the channel. */
static size_t add_end(struct ends *ends, int target, void *buffer, size_t bytes) {
    const size_t index = ends->count++;
    ends->targets[index] = target;
    ends->buffers[index] = buffer;
    ends->bytes[index] = bytes;
    return index;
}

/* The side that is written to gives its column, the other side gives no memory. */
sennit_status p2p_open(p2p_links *links, double *left, double *scratch, int64_t lines) {
    const size_t bytes = (size_t)lines * sizeof(double);
    const int rank = sennit_rank();
    const int last = sennit_size() - 1;
    struct ends ends = {0};
    size_t from_left = 0;
    size_t to_right = 0;
    size_t corner = 0;
    if (rank > 0) from_left = add_end(&ends, rank - 1, left, bytes);
    if (rank < last) to_right = add_end(&ends, rank + 1, NULL, 0);
    if (last > 0 && rank == 0) corner = add_end(&ends, last, left, sizeof *left);
    if (last > 0 && rank == last) corner = add_end(&ends, 0, NULL, 0);

    const sennit_channel_ends all = {ends.count, ends.targets, ends.buffers, ends.bytes};
    const sennit_status status =
        sennit_channel_open(SENNIT_TEAM_WORLD, &all, SENNIT_CHANNEL_AHEAD(P2P_AHEAD),
                            SENNIT_FOREVER, ends.peers, ends.channels);
    if (status != SENNIT_OK) return status;
    links->rank = rank;
    links->last_to_first = SENNIT_CHANNEL_NULL;
    links->ranks = last + 1;
    links->left = left;
    links->right = rank < last ? ends.peers[to_right] : scratch;
    if (rank > 0) links->from_left = ends.channels[from_left];
    if (rank < last) links->to_right = ends.channels[to_right];
    if (last > 0 && (rank == 0 || rank == last)) links->last_to_first = ends.channels[corner];
    if (rank == last) links->corner = last > 0 ? ends.peers[corner] : left;
    return SENNIT_OK;
}

/* The number of groups to wait for if none has arrived. `groups` are left in the sweep. */
static uint32_t fewest(const p2p_links *links, int64_t groups) {
    int64_t behind = links->behind;
    if (behind == 0) behind = groups / 64 < 3 ? groups / 64 : 3;
    return (uint32_t)(behind < groups ? behind + 1 : groups);
}

/* Takes the next group of lines from the left. *ready groups have arrived and are not taken yet. */
static sennit_status take(const p2p_links *links, int64_t groups, uint32_t *ready) {
    const sennit_channel channel = links->from_left;
    sennit_status status = SENNIT_OK;
    if (*ready == 0) {
        int can = 0;
        status = sennit_channel_can_read(channel, &can);
        if (status == SENNIT_OK)
            status = sennit_channel_wait_messages(channel, can ? 1 : fewest(links, groups),
                                                  SENNIT_FOREVER, ready);
        if (status != SENNIT_OK) return status;
    }
    --*ready;
    return sennit_channel_have_read(channel);
}

/* Waits only if the message is refused, because P2P_AHEAD messages are unread. */
static sennit_status hand_over(sennit_channel channel) {
    sennit_status status = sennit_channel_have_written(channel);
    if (status != SENNIT_ERR_STATE) return status;
    status = sennit_channel_wait_write(channel, SENNIT_FOREVER);
    return status == SENNIT_OK ? sennit_channel_have_written(channel) : status;
}

/* The top right cell is the last cell that the last rank has stored. */
static sennit_status pass_corner(p2p_links *links, int64_t lines) {
    if (links->rank + 1 == links->ranks) {
        *links->corner = -links->right[lines - 1];
        if (links->ranks > 1) return hand_over(links->last_to_first);
    } else if (links->rank == 0) {
        const sennit_status status = sennit_channel_wait_read(links->last_to_first, SENNIT_FOREVER);
        return status == SENNIT_OK ? sennit_channel_have_read(links->last_to_first) : status;
    }
    return SENNIT_OK;
}

sennit_status p2p_sweep(p2p_links *links, const p2p_strip *strip) {
    const int has_left = links->rank > 0;
    const int has_right = links->rank + 1 < links->ranks;
    int64_t groups = (strip->lines - 1 + strip->group - 1) / strip->group;
    uint32_t ready = 0;
    sennit_status status = SENNIT_OK;
    for (int64_t first = 1; first < strip->lines; first += strip->group, --groups) {
        const int64_t rest = strip->lines - first;
        if (has_left) status = take(links, groups, &ready);
        if (status != SENNIT_OK) return status;
        p2p_block(strip, first, rest < strip->group ? rest : strip->group, links->right);
        if (has_right) status = hand_over(links->to_right);
        if (status != SENNIT_OK) return status;
    }
    return pass_corner(links, strip->lines);
}

sennit_status p2p_close(p2p_links *links) {
    sennit_channel all[MOST_ENDS];
    size_t count = 0;
    if (links->rank > 0) all[count++] = links->from_left;
    if (links->rank + 1 < links->ranks) all[count++] = links->to_right;
    if (links->last_to_first.handle != 0) all[count++] = links->last_to_first;
    const sennit_status status = sennit_channel_close(all, count, SENNIT_FOREVER);
    if (status != SENNIT_OK) return status;
    return sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
}
