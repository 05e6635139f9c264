#include "channels.h"

#include <stdlib.h>

static void fill_ends(const transpose_links *links, void *b, size_t bytes, void **buffers,
                      size_t *sizes) {
    for (int64_t i = 0; i < links->count; ++i) {
        buffers[i] = b;
        sizes[i] = bytes;
    }
}

sennit_status transpose_open(transpose_links *links, void *b, size_t bytes) {
    const size_t count = (size_t)links->count;
    void **buffers = malloc((count + 1) * sizeof *buffers);
    size_t *sizes = malloc((count + 1) * sizeof *sizes);
    sennit_status status = SENNIT_ERR_NOMEM;
    if (buffers != NULL && sizes != NULL) {
        fill_ends(links, b, bytes, buffers, sizes);
        const sennit_channel_ends ends = {count, links->peers, buffers, sizes};
        status = sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, SENNIT_FOREVER, links->theirs,
                                     links->channels);
    }
    free(sizes);
    free(buffers);
    return status;
}

static sennit_status give(transpose_links *links, int64_t link) {
    const sennit_channel channel = links->channels[link];
    const sennit_status status = sennit_channel_wait_write(channel, SENNIT_FOREVER);
    if (status != SENNIT_OK) return status;
    transpose_add_block(links->part, link);
    return sennit_channel_have_written(channel);
}

static sennit_status take(transpose_links *links, int64_t link) {
    const sennit_channel channel = links->channels[link];
    const sennit_status status = sennit_channel_wait_read(channel, SENNIT_FOREVER);
    return status == SENNIT_OK ? sennit_channel_have_read(channel) : status;
}

sennit_status transpose_iterate(transpose_links *links, int64_t steps) {
    sennit_status status = SENNIT_OK;
    for (int64_t step = 0; step < steps; ++step) {
        transpose_add_block(links->part, -1);
        for (int64_t i = 0; i < links->count && status == SENNIT_OK; ++i)
            status = give(links, i);
        for (int64_t i = 0; i < links->count && status == SENNIT_OK; ++i)
            status = take(links, i);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

sennit_status transpose_close(transpose_links *links) {
    return sennit_channel_close(links->channels, (size_t)links->count, SENNIT_FOREVER);
}
