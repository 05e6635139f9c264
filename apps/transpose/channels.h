/* The steps over Sennit's channels: written twice, in C (channels.c) and in Fortran (channels.f90),
 * for transpose_sennit.cpp, which is linked with either.
 *
 * A rank has a channel with every other rank, over the memory of its B, and adds its block into
 * the peer's B through the channel's pointer. have_written says that the block of this step is
 * in the peer's B, have_read that the peer has used its B, so that the block of the next step
 * may be added. */
#ifndef TRANSPOSE_CHANNELS_H
#define TRANSPOSE_CHANNELS_H

#include <sennit/sennit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays of `count`; the peers are in the order in which blocks are added. */
typedef struct transpose_links {
    void *part; /* passed to transpose_add_block */
    int64_t count;
    const int32_t *peers;
    sennit_channel *channels;
    void **theirs; /* the peers' B */
} transpose_links;

/* Opens the channels, over `bytes` at `b`. After an error nothing is open. */
sennit_status transpose_open(transpose_links *links, void *b, size_t bytes);
/* Does that many steps. */
sennit_status transpose_iterate(transpose_links *links, int64_t steps);
/* Closes what transpose_open opened. */
sennit_status transpose_close(transpose_links *links);

/* The computation of a step, in transpose_sennit.cpp: adds this rank's block for a peer, or for
 * itself if link is -1. */
void transpose_add_block(void *part, int64_t link);

#ifdef __cplusplus
}
#endif

#endif
