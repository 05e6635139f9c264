/* The pipeline over Sennit's channels, in C; see channels.h. */
#include "channels.h"

#include <string.h>

enum { MOST_ENDS = 2 * P2P_CHANNELS_MOST + 1 };

/* What sennit_channel_open takes, filled channel by channel. */
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

/* The side that is written to gives its column, the other nothing. */
sennit_status p2p_open(p2p_links *links, double *left, double *scratch, int64_t lines) {
    const size_t bytes = (size_t)lines * sizeof(double);
    const int rank = sennit_rank();
    const int last = sennit_size() - 1;
    const size_t own = (size_t)links->channels * sizeof(sennit_channel);
    struct ends ends = {0};
    size_t from_left = 0;
    size_t to_right = 0;
    size_t corner = 0;
    for (int turn = 0; turn < links->channels && rank > 0; ++turn) {
        const size_t index = add_end(&ends, rank - 1, left, bytes);
        if (turn == 0) from_left = index;
    }
    for (int turn = 0; turn < links->channels && rank < last; ++turn) {
        const size_t index = add_end(&ends, rank + 1, NULL, 0);
        if (turn == 0) to_right = index;
    }
    if (last > 0 && rank == 0) corner = add_end(&ends, last, left, sizeof *left);
    if (last > 0 && rank == last) corner = add_end(&ends, 0, NULL, 0);

    const sennit_channel_ends all = {ends.count, ends.targets, ends.buffers, ends.bytes};
    const sennit_status status =
        sennit_channel_open(SENNIT_TEAM_WORLD, &all, 0, SENNIT_FOREVER, ends.peers, ends.channels);
    if (status != SENNIT_OK) return status;
    links->rank = rank;
    links->last_to_first = SENNIT_CHANNEL_NULL;
    links->ranks = last + 1;
    links->left = left;
    links->right = rank < last ? ends.peers[to_right] : scratch;
    if (rank > 0) memcpy(links->from_left, &ends.channels[from_left], own);
    if (rank < last) memcpy(links->to_right, &ends.channels[to_right], own);
    if (last > 0 && (rank == 0 || rank == last)) links->last_to_first = ends.channels[corner];
    if (rank == last) links->corner = last > 0 ? ends.peers[corner] : left;
    return SENNIT_OK;
}

/* If the group of lines is not there yet, waits until as many more are as three quarters of the
 * channels hold, or as are left of the sweep, which is `groups`. */
static sennit_status fall_behind(const p2p_links *links, int turn, int64_t groups) {
    int can = 0;
    const sennit_status status = sennit_channel_can_read(links->from_left[turn], &can);
    if (status != SENNIT_OK || can) return status;
    const int64_t most = 3 * links->channels / 4;
    const int64_t ahead = groups <= most ? groups - 1 : most;
    return sennit_channel_wait_read(links->from_left[(turn + ahead) % links->channels],
                                    SENNIT_FOREVER);
}

static sennit_status take(sennit_channel channel) {
    const sennit_status status = sennit_channel_wait_read(channel, SENNIT_FOREVER);
    return status == SENNIT_OK ? sennit_channel_have_read(channel) : status;
}

static sennit_status hand_over(sennit_channel channel) {
    const sennit_status status = sennit_channel_wait_write(channel, SENNIT_FOREVER);
    return status == SENNIT_OK ? sennit_channel_have_written(channel) : status;
}

/* The top right cell is the last that the last rank has stored. */
static sennit_status pass_corner(p2p_links *links, int64_t lines) {
    if (links->rank + 1 == links->ranks) {
        *links->corner = -links->right[lines - 1];
        if (links->ranks > 1) return hand_over(links->last_to_first);
    } else if (links->rank == 0) {
        return take(links->last_to_first);
    }
    return SENNIT_OK;
}

sennit_status p2p_sweep(p2p_links *links, const p2p_strip *strip) {
    const int has_left = links->rank > 0;
    const int has_right = links->rank + 1 < links->ranks;
    sennit_status status = SENNIT_OK;
    int turn = 0;
    for (int64_t first = 1; first < strip->lines; first += strip->group) {
        const int64_t rest = strip->lines - first;
        if (has_left) status = fall_behind(links, turn, (rest + strip->group - 1) / strip->group);
        if (has_left && status == SENNIT_OK) status = take(links->from_left[turn]);
        if (status != SENNIT_OK) return status;
        p2p_block(strip, first, rest < strip->group ? rest : strip->group, links->right);
        if (has_right) status = hand_over(links->to_right[turn]);
        if (status != SENNIT_OK) return status;
        turn = turn + 1 < links->channels ? turn + 1 : 0;
    }
    return pass_corner(links, strip->lines);
}

sennit_status p2p_close(p2p_links *links) {
    sennit_channel all[MOST_ENDS];
    size_t count = 0;
    for (int turn = 0; turn < links->channels && links->rank > 0; ++turn)
        all[count++] = links->from_left[turn];
    for (int turn = 0; turn < links->channels && links->rank + 1 < links->ranks; ++turn)
        all[count++] = links->to_right[turn];
    if (links->last_to_first.handle != 0) all[count++] = links->last_to_first;
    const sennit_status status = sennit_channel_close(all, count, SENNIT_FOREVER);
    if (status != SENNIT_OK) return status;
    return sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
}
