#include "channels.h"

static sennit_status hand_over(stencil_links *links) {
    sennit_status status = SENNIT_OK;
    for (int32_t i = 0; i < links->count && status == SENNIT_OK; ++i)
        status = sennit_channel_have_written(links->channels[i]);
    return status;
}

sennit_status stencil_open(stencil_links *links, const int32_t *neighbours, void *cells,
                           size_t bytes, void **peers) {
    void *buffers[STENCIL_LINKS];
    size_t sizes[STENCIL_LINKS];
    for (int32_t i = 0; i < links->count; ++i) {
        buffers[i] = cells;
        sizes[i] = bytes;
    }
    const sennit_channel_ends ends = {(size_t)links->count, neighbours, buffers, sizes};
    const sennit_status status =
        sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, SENNIT_FOREVER, peers, links->channels);
    return status == SENNIT_OK ? hand_over(links) : status;
}

static sennit_status wait_ghosts(stencil_links *links) {
    for (int32_t i = 0; i < links->count; ++i) {
        const sennit_status status = sennit_channel_wait_read(links->channels[i], SENNIT_FOREVER);
        if (status != SENNIT_OK) return status;
        stencil_take_ghosts(links->part, i);
    }
    return SENNIT_OK;
}

static sennit_status release_ghosts(stencil_links *links) {
    sennit_status status = SENNIT_OK;
    for (int32_t i = 0; i < links->count && status == SENNIT_OK; ++i)
        status = sennit_channel_have_read(links->channels[i]);
    return status;
}

static sennit_status wait_edges(stencil_links *links) {
    sennit_status status = SENNIT_OK;
    for (int32_t i = 0; i < links->count && status == SENNIT_OK; ++i)
        status = sennit_channel_wait_write(links->channels[i], SENNIT_FOREVER);
    return status;
}

sennit_status stencil_iterate(stencil_links *links, int64_t iterations) {
    for (int64_t iteration = 0; iteration < iterations; ++iteration) {
        sennit_status status = wait_ghosts(links);
        if (status != SENNIT_OK) return status;
        stencil_apply_edges(links->part);
        status = release_ghosts(links);
        if (status != SENNIT_OK) return status;
        stencil_apply_inner(links->part);
        status = wait_edges(links);
        if (status != SENNIT_OK) return status;
        stencil_refresh_edges(links->part);
        status = hand_over(links);
        if (status != SENNIT_OK) return status;
        stencil_refresh_inner(links->part);
    }
    return SENNIT_OK;
}

/* Also takes the edges that were handed over last, so that no neighbour waits for this rank. */
sennit_status stencil_close(stencil_links *links) {
    sennit_status status = SENNIT_OK;
    for (int32_t i = 0; i < links->count && status == SENNIT_OK; ++i)
        status = sennit_channel_wait_read(links->channels[i], SENNIT_FOREVER);
    if (status == SENNIT_OK) status = release_ghosts(links);
    if (status != SENNIT_OK) return status;
    return sennit_channel_close(links->channels, (size_t)links->count, SENNIT_FOREVER);
}
