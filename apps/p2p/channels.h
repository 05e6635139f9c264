/* The pipeline over Sennit's channels: written twice, in C (channels.c) and in Fortran
 * (channels.f90), for p2p_sennit.cpp, which is linked with either.
 *
 * The kernel of a rank stores its last column directly into the left column of the rank on its
 * right. That column is ordinary memory that the channels make reachable. A line of it is stored
 * once in a sweep. The next sweep begins when rank 0 has received the corner of this one, after all
 * ranks have computed their last line. So no rank waits before storing, and a message is confirmed
 * as soon as it is taken: the channels only count groups of lines. One channel between two
 * ranks may have P2P_AHEAD messages in flight, so a rank may be that many groups of lines ahead.
 *
 * A rank that finds no message waits until its neighbour is some lines ahead. If it followed
 * directly, the two ranks would take from each other, line by line, the cache lines of the
 * column and of the message count. If it stays further behind, one look at the count covers
 * several messages. */
#ifndef P2P_CHANNELS_H
#define P2P_CHANNELS_H

#include "kernel.h"

#include <sennit/sennit.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { P2P_AHEAD = SENNIT_CHANNEL_AHEAD_MOST };

/* The channels and columns of one rank. Rank 0 has no left neighbour, the last rank no right
 * one. The channel for the corner joins these two ranks; with one rank it does not exist. */
typedef struct p2p_links {
    double *left;   /* [lines] */
    double *right;  /* [lines]: the left column of the rank on the right; of the last rank, its own
                       memory */
    double *corner; /* at the last rank: left[0] of rank 0 */
    int32_t rank;
    int32_t ranks;
    int32_t behind; /* groups that a rank stays behind if it finds none, less than P2P_AHEAD; 0: a
                       64th of the groups that are left, at most 3. Set before p2p_open */
    sennit_channel from_left;
    sennit_channel to_right;
    sennit_channel last_to_first;
} p2p_links;

/* Connects the rank with its neighbours. `left` and `scratch` are [lines]; the caller owns them.
 * Collective. After an error nothing is open. */
sennit_status p2p_open(p2p_links *links, double *left, double *scratch, int64_t lines);

/* One sweep. Collective. */
sennit_status p2p_sweep(p2p_links *links, const p2p_strip *strip);

/* Closes what p2p_open opened. Collective. */
sennit_status p2p_close(p2p_links *links);

#ifdef __cplusplus
}
#endif

#endif
