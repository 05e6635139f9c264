/* The pipeline over Sennit's channels: written twice, in C (channels.c) and in Fortran
 * (channels.f90), for p2p_sennit.cpp, which is linked with either.
 *
 * The kernel of a rank stores its last column straight into the left column of the rank on its
 * right, which is ordinary memory that the channels made reachable. A line of it is stored once in
 * a sweep, and the next sweep begins when rank 0 has the corner of this one, which comes after all
 * ranks have computed their last line. So nobody waits before storing, and a message is given back
 * as soon as it is taken; channels only tell how far the neighbour is. One channel between two
 * ranks may have P2P_AHEAD messages under way, so that a rank may be as many groups of lines ahead.
 *
 * A rank that finds nothing waits until its neighbour is some lines ahead. Right behind it, each
 * would take from the other, line by line, the lines of the cache in which cells of the column and
 * the count of messages lie; further behind, one look at the count tells of several messages. */
#ifndef P2P_CHANNELS_H
#define P2P_CHANNELS_H

#include "kernel.h"

#include <sennit/sennit.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { P2P_AHEAD = SENNIT_CHANNEL_AHEAD_MOST };

/* Of one rank. The rank on the left does not exist for rank 0, that on the right not for the last
 * one; the channel for the corner joins these two, with one rank nobody. */
typedef struct p2p_links {
    double *left;   /* [lines] */
    double *right;  /* [lines]: the left column of the rank on the right; of the last rank, its own
                       memory */
    double *corner; /* at the last rank: left[0] of rank 0 */
    int32_t rank;
    int32_t ranks;
    int32_t behind; /* groups that a rank falls behind where it finds none, less than P2P_AHEAD; 0:
                       a 64th of those that are left, at most 3. Set before p2p_open */
    sennit_channel from_left;
    sennit_channel to_right;
    sennit_channel last_to_first;
} p2p_links;

/* Connects the rank with its neighbours. `left` and `scratch` are [lines], and stay the caller's.
 * Collective. On an error nothing is open. */
sennit_status p2p_open(p2p_links *links, double *left, double *scratch, int64_t lines);

/* One sweep. Collective. */
sennit_status p2p_sweep(p2p_links *links, const p2p_strip *strip);

/* Ends what p2p_open began. Collective. */
sennit_status p2p_close(p2p_links *links);

#ifdef __cplusplus
}
#endif

#endif
