/* The iterations over Sennit's channels: written twice, in C (channels.c) and in Fortran
 * (channels.f90), for stencil_sennit.cpp, which is linked with either.
 *
 * A rank has a channel with each neighbour, over the memory of its cells. It writes its own
 * memory and the neighbour loads it through the channel's pointer, so both directions of a
 * channel carry one message per iteration: have_written says that the edges are those of this
 * iteration, have_read that the neighbour may add 1 to them. */
#ifndef STENCIL_CHANNELS_H
#define STENCIL_CHANNELS_H

#include <sennit/sennit.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { STENCIL_LINKS = 4 };

typedef struct stencil_links {
    void *part; /* passed to the computing functions below */
    int32_t count;
    sennit_channel channels[STENCIL_LINKS];
} stencil_links;

/* Opens the channels of a rank with its neighbours, links->count of them, over `bytes` at
 * `cells`. peers[i] becomes the address of the neighbour's cells. Hands the present cells over.
 * After an error nothing is open. */
sennit_status stencil_open(stencil_links *links, const int32_t *neighbours, void *cells,
                           size_t bytes, void **peers);
/* Does that many iterations. */
sennit_status stencil_iterate(stencil_links *links, int64_t iterations);
/* Closes what stencil_open opened. */
sennit_status stencil_close(stencil_links *links);

/* The computation of an iteration, in stencil_sennit.cpp: taking the ghosts of one neighbour;
 * adding the star in cells that read ghosts, and in the others; raising the cells that
 * neighbours read, and the others. */
void stencil_take_ghosts(void *part, int32_t link);
void stencil_apply_edges(void *part);
void stencil_apply_inner(void *part);
void stencil_refresh_edges(void *part);
void stencil_refresh_inner(void *part);

#ifdef __cplusplus
}
#endif

#endif
