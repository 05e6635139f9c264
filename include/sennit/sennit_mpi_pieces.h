/* SPDX-License-Identifier: BSD-3-Clause */
/* The machinery of sennit_mpi_plan.h: makes pieces from the runs of the two sides of a message, and
 * compares their kinds. docs/design/conversion.md. */
#ifndef SENNIT_SENNIT_MPI_PIECES_H
#define SENNIT_SENNIT_MPI_PIECES_H

#include <sennit/sennit_mpi_types.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline uint64_t sennit_mpi_bytes_of(const sennit_mpi_layout *layout) {
    uint64_t bytes = 0;
    size_t i;
    for (i = 0; i < layout->runs.count; ++i)
        bytes += ((const sennit_mpi_run *)layout->runs.items)[i].bytes;
    return bytes * layout->elements;
}

/* The memory that the message touches, as offsets from the buffer's address: [*first, *end). */
static inline void sennit_mpi_range_of(const sennit_mpi_layout *layout, int64_t *first,
                                       int64_t *end) {
    size_t i;
    *first = *end = 0;
    if (layout->elements == 0) return;
    for (i = 0; i < layout->runs.count; ++i) {
        const sennit_mpi_run *const run = (const sennit_mpi_run *)layout->runs.items + i;
        const int64_t last = (int64_t)(layout->elements - 1) * layout->extent;
        const int64_t low = run->offset + (last < 0 ? last : 0);
        const int64_t high = run->offset + (int64_t)run->bytes + (last > 0 ? last : 0);
        if (i == 0 || low < *first) *first = low;
        if (i == 0 || high > *end) *end = high;
    }
}

/* A position in a message. */
typedef struct sennit_mpi_place {
    const sennit_mpi_layout *layout;
    uint64_t element;
    size_t run;
    uint64_t passed; /* bytes of the run before the position */
} sennit_mpi_place;

static inline const sennit_mpi_run *sennit_mpi_run_at(const sennit_mpi_place *place) {
    return (const sennit_mpi_run *)place->layout->runs.items + place->run;
}

static inline void sennit_mpi_pass(sennit_mpi_place *place, uint64_t bytes) {
    place->passed += bytes;
    if (place->passed < sennit_mpi_run_at(place)->bytes) return;
    place->passed = 0;
    if (++place->run < place->layout->runs.count) return;
    place->run = 0;
    ++place->element;
}

static inline int64_t sennit_mpi_offset_at(const sennit_mpi_place *place) {
    return (int64_t)place->element * place->layout->extent + sennit_mpi_run_at(place)->offset +
           (int64_t)place->passed;
}

/* Makes a piece from each part of a message that is contiguous on both sides. `base`: offset of the
 * block from the receiver's buffer. */
static inline sennit_status sennit_mpi_make_pieces(const sennit_mpi_layout *from,
                                                   const sennit_mpi_layout *to, int64_t base,
                                                   sennit_mpi_list *pieces) {
    sennit_mpi_place source;
    sennit_mpi_place target;
    uint64_t left = sennit_mpi_bytes_of(from);
    memset(&source, 0, sizeof source);
    memset(&target, 0, sizeof target);
    source.layout = from;
    target.layout = to;
    while (left != 0) {
        const uint64_t here = sennit_mpi_run_at(&source)->bytes - source.passed;
        const uint64_t there = sennit_mpi_run_at(&target)->bytes - target.passed;
        const uint64_t bytes = here < there ? here : there;
        const int64_t local = sennit_mpi_offset_at(&source);
        const int64_t remote = sennit_mpi_offset_at(&target) - base;
        sennit_piece *piece =
            pieces->count == 0 ? NULL : (sennit_piece *)pieces->items + pieces->count - 1;
        if (piece != NULL && piece->local_offset + (int64_t)piece->bytes == local &&
            piece->remote_offset + (int64_t)piece->bytes == remote) {
            piece->bytes += bytes;
        } else {
            piece = (sennit_piece *)sennit_mpi_append(pieces, sizeof *piece);
            if (piece == NULL) return SENNIT_ERR_NOMEM;
            piece->local_offset = local;
            piece->remote_offset = remote;
            piece->bytes = bytes;
        }
        sennit_mpi_pass(&source, bytes);
        sennit_mpi_pass(&target, bytes);
        left -= bytes;
    }
    return SENNIT_OK;
}

/* A position in the kinds of a message. */
typedef struct sennit_mpi_kind_place {
    const sennit_mpi_layout *layout;
    uint64_t element;
    size_t at;
    uint64_t passed;
} sennit_mpi_kind_place;

/* Returns 0 at the end of the message. */
static inline int sennit_mpi_kind_at(const sennit_mpi_kind_place *place, sennit_mpi_kind *out) {
    if (place->element == place->layout->count || place->layout->kinds.count == 0) return 0;
    *out = ((const sennit_mpi_kind *)place->layout->kinds.items)[place->at];
    out->count -= place->passed;
    /* If an element has one kind only, this kind continues in the next element. */
    if (place->layout->kinds.count == 1)
        out->count += (place->layout->count - place->element - 1) *
                      ((const sennit_mpi_kind *)place->layout->kinds.items)->count;
    return 1;
}

static inline void sennit_mpi_pass_kinds(sennit_mpi_kind_place *place, uint64_t count) {
    const sennit_mpi_kind *const kinds = (const sennit_mpi_kind *)place->layout->kinds.items;
    place->passed += count;
    if (place->layout->kinds.count == 1) {
        place->element += place->passed / kinds->count;
        place->passed %= kinds->count;
        return;
    }
    if (place->passed < kinds[place->at].count) return;
    place->passed = 0;
    if (++place->at < place->layout->kinds.count) return;
    place->at = 0;
    ++place->element;
}

/* Whether the kinds of the sender are the first ones of the receiver. */
static inline int sennit_mpi_kinds_match(const sennit_mpi_layout *from,
                                         const sennit_mpi_layout *to) {
    sennit_mpi_kind_place source;
    sennit_mpi_kind_place target;
    sennit_mpi_kind sent, wanted;
    memset(&source, 0, sizeof source);
    memset(&target, 0, sizeof target);
    source.layout = from;
    target.layout = to;
    while (sennit_mpi_kind_at(&source, &sent)) {
        uint64_t count;
        if (sent.kind == 0) return 1; /* MPI_PACKED: bytes of any kind */
        if (!sennit_mpi_kind_at(&target, &wanted)) return 0;
        if (wanted.kind == 0) return 1;
        if (sent.kind != wanted.kind) return 0;
        count = sent.count < wanted.count ? sent.count : wanted.count;
        sennit_mpi_pass_kinds(&source, count);
        sennit_mpi_pass_kinds(&target, count);
    }
    return 1;
}

#ifdef __cplusplus
}
#endif

#endif
