/* The machinery of sennit_mpi_plan.h: reads a datatype into the bytes that it touches, in the order
 * of its type map, and into the kinds of its basic elements. docs/design/conversion.md.
 */
#ifndef SENNIT_SENNIT_MPI_TYPES_H
#define SENNIT_SENNIT_MPI_TYPES_H

#include <mpi.h>
#include <sennit/sennit.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A list that grows. */
typedef struct sennit_mpi_list {
    void *items;
    size_t count;
    size_t room;
} sennit_mpi_list;

/* Null: no memory. */
static inline void *sennit_mpi_append(sennit_mpi_list *list, size_t item_bytes) {
    if (list->count == list->room) {
        const size_t room = list->room == 0 ? 8 : 2 * list->room;
        void *const items = realloc(list->items, room * item_bytes);
        if (items == NULL) return NULL;
        list->items = items;
        list->room = room;
    }
    return (char *)list->items + item_bytes * list->count++;
}

/* Bytes of an element that lie one behind the other. */
typedef struct sennit_mpi_run {
    int64_t offset;
    uint64_t bytes;
} sennit_mpi_run;

/* Basic elements of one kind that come one behind the other in a type map. */
typedef struct sennit_mpi_kind {
    uint64_t kind; /* made of its name */
    uint64_t count;
} sennit_mpi_kind;

/* A message's memory: `elements` times the runs, with this extent, and `count` times the kinds.
 * Runs that lie one behind the other from element to element are one, of one element. */
typedef struct sennit_mpi_layout {
    sennit_mpi_list runs;
    sennit_mpi_list kinds;
    int64_t extent;
    uint64_t elements;
    uint64_t count;
} sennit_mpi_layout;

static inline void sennit_mpi_free_layout(sennit_mpi_layout *layout) {
    free(layout->runs.items);
    free(layout->kinds.items);
    memset(layout, 0, sizeof *layout);
}

static inline sennit_status sennit_mpi_add_run(sennit_mpi_layout *layout, int64_t offset,
                                               uint64_t bytes) {
    sennit_mpi_run *run;
    if (bytes == 0) return SENNIT_OK;
    if (layout->runs.count != 0) {
        run = (sennit_mpi_run *)layout->runs.items + layout->runs.count - 1;
        if (run->offset + (int64_t)run->bytes == offset) {
            run->bytes += bytes;
            return SENNIT_OK;
        }
    }
    run = (sennit_mpi_run *)sennit_mpi_append(&layout->runs, sizeof *run);
    if (run == NULL) return SENNIT_ERR_NOMEM;
    run->offset = offset;
    run->bytes = bytes;
    return SENNIT_OK;
}

static inline sennit_status sennit_mpi_add_kind(sennit_mpi_layout *layout, uint64_t kind,
                                                uint64_t count) {
    sennit_mpi_kind *last;
    if (count == 0) return SENNIT_OK;
    if (layout->kinds.count != 0) {
        last = (sennit_mpi_kind *)layout->kinds.items + layout->kinds.count - 1;
        if (last->kind == kind) {
            last->count += count;
            return SENNIT_OK;
        }
    }
    last = (sennit_mpi_kind *)sennit_mpi_append(&layout->kinds, sizeof *last);
    if (last == NULL) return SENNIT_ERR_NOMEM;
    last->kind = kind;
    last->count = count;
    return SENNIT_OK;
}

/* FNV-1a of some bytes, after others with this hash. */
static inline uint64_t sennit_mpi_hash(uint64_t hash, const void *bytes, size_t count) {
    size_t i;
    for (i = 0; i < count; ++i)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return hash;
}
#define SENNIT_MPI_HASH_OF_NOTHING 0xcbf29ce484222325u

/* Of the name, the same on all ranks of an MPI. MPI_PACKED, which goes with all: 0. */
static inline uint64_t sennit_mpi_kind_of(MPI_Datatype type) {
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    if (type == MPI_PACKED || MPI_Type_get_name(type, name, &length) != MPI_SUCCESS) return 0;
    return sennit_mpi_hash(SENNIT_MPI_HASH_OF_NOTHING, name, (size_t)length) | 1;
}

/* The first part of a pair, whose second is an int; else MPI_DATATYPE_NULL. */
static inline MPI_Datatype sennit_mpi_first_of_pair(MPI_Datatype type) {
    if (type == MPI_FLOAT_INT) return MPI_FLOAT;
    if (type == MPI_DOUBLE_INT) return MPI_DOUBLE;
    if (type == MPI_LONG_INT) return MPI_LONG;
    if (type == MPI_2INT) return MPI_INT;
    if (type == MPI_SHORT_INT) return MPI_SHORT;
    if (type == MPI_LONG_DOUBLE_INT) return MPI_LONG_DOUBLE;
    return MPI_DATATYPE_NULL;
}

/* What one of Fortran's pairs has twice; else MPI_DATATYPE_NULL. */
static inline MPI_Datatype sennit_mpi_half_of_pair(MPI_Datatype type) {
    if (type == MPI_2REAL) return MPI_REAL;
    if (type == MPI_2DOUBLE_PRECISION) return MPI_DOUBLE_PRECISION;
    if (type == MPI_2INTEGER) return MPI_INTEGER;
    return MPI_DATATYPE_NULL;
}

static inline sennit_status sennit_mpi_extent_of(MPI_Datatype type, int64_t *extent) {
    MPI_Aint lower = 0;
    MPI_Aint bytes = 0;
    if (MPI_Type_get_extent(type, &lower, &bytes) != MPI_SUCCESS) return SENNIT_ERR_UNSUPPORTED;
    *extent = bytes;
    return SENNIT_OK;
}

static inline sennit_status sennit_mpi_add_pair(sennit_mpi_layout *layout, MPI_Datatype first) {
    int bytes = 0;
    int64_t second;
    sennit_status status = SENNIT_ERR_UNSUPPORTED;
    if (MPI_Type_size(first, &bytes) == MPI_SUCCESS)
        status = sennit_mpi_add_kind(layout, sennit_mpi_kind_of(first), 1);
    if (status == SENNIT_OK) status = sennit_mpi_add_run(layout, 0, (uint64_t)bytes);
    if (status == SENNIT_OK) status = sennit_mpi_add_kind(layout, sennit_mpi_kind_of(MPI_INT), 1);
    second = bytes < (int)sizeof(int) ? (int64_t)sizeof(int) : bytes;
    if (status == SENNIT_OK) status = sennit_mpi_add_run(layout, second, sizeof(int));
    return status;
}

/* One element of a type of MPI's own, of `kind`, or 0 for what its name says. */
static inline sennit_status sennit_mpi_add_basic(sennit_mpi_layout *layout, MPI_Datatype type,
                                                 uint64_t kind) {
    const MPI_Datatype first = sennit_mpi_first_of_pair(type);
    const MPI_Datatype half = sennit_mpi_half_of_pair(type);
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    int size = 0;
    sennit_status status;
    if (MPI_Type_size(type, &size) != MPI_SUCCESS ||
        MPI_Type_get_extent(type, &lower, &extent) != MPI_SUCCESS)
        return SENNIT_ERR_UNSUPPORTED;
    if (size == 0) return SENNIT_OK;
    if (first != MPI_DATATYPE_NULL) return sennit_mpi_add_pair(layout, first);
    if (extent != size || lower != 0) return SENNIT_ERR_UNSUPPORTED;
    if (half != MPI_DATATYPE_NULL)
        status = sennit_mpi_add_kind(layout, sennit_mpi_kind_of(half), 2);
    else
        status = sennit_mpi_add_kind(layout, kind != 0 ? kind : sennit_mpi_kind_of(type), 1);
    return status != SENNIT_OK ? status : sennit_mpi_add_run(layout, 0, (uint64_t)size);
}

/* `count` times the one element of `flat`, the first at `offset`. */
static inline sennit_status sennit_mpi_add_flat(sennit_mpi_layout *layout,
                                                const sennit_mpi_layout *flat, uint64_t count,
                                                int64_t offset) {
    const sennit_mpi_run *const runs = (const sennit_mpi_run *)flat->runs.items;
    const sennit_mpi_kind *const kinds = (const sennit_mpi_kind *)flat->kinds.items;
    sennit_status status = SENNIT_OK;
    uint64_t i;
    size_t j;
    if (count == 0 || flat->runs.count == 0) return SENNIT_OK;
    if (flat->kinds.count == 1) {
        status = sennit_mpi_add_kind(layout, kinds->kind, kinds->count * count);
    } else {
        for (i = 0; i < count; ++i)
            for (j = 0; j < flat->kinds.count && status == SENNIT_OK; ++j)
                status = sennit_mpi_add_kind(layout, kinds[j].kind, kinds[j].count);
    }
    if (status != SENNIT_OK) return status;
    if (flat->runs.count == 1 && (int64_t)runs->bytes == flat->extent)
        return sennit_mpi_add_run(layout, offset + runs->offset, runs->bytes * count);
    for (i = 0; i < count; ++i, offset += flat->extent)
        for (j = 0; j < flat->runs.count && status == SENNIT_OK; ++j)
            status = sennit_mpi_add_run(layout, offset + runs[j].offset, runs[j].bytes);
    return status;
}

/* What a derived datatype was made of. */
typedef struct sennit_mpi_contents {
    int combiner;
    int *numbers;
    int number_count;
    MPI_Aint *places;
    MPI_Datatype *types;
    int type_count;
} sennit_mpi_contents;

/* Is the type MPI's own, which nobody frees? */
static inline int sennit_mpi_is_given(int combiner) {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* Types that are read are handles of their own, unless they are MPI's. */
static inline void sennit_mpi_free_contents(sennit_mpi_contents *contents) {
    int i;
    for (i = 0; i < contents->type_count; ++i) {
        int numbers, places, types, combiner;
        if (MPI_Type_get_envelope(contents->types[i], &numbers, &places, &types, &combiner) ==
                MPI_SUCCESS &&
            !sennit_mpi_is_given(combiner))
            (void)MPI_Type_free(&contents->types[i]);
    }
    free(contents->numbers);
    free(contents->places);
    free(contents->types);
}

static inline sennit_status sennit_mpi_read_contents(MPI_Datatype type,
                                                     sennit_mpi_contents *contents) {
    int numbers = 0;
    int places = 0;
    int types = 0;
    memset(contents, 0, sizeof *contents);
    if (MPI_Type_get_envelope(type, &numbers, &places, &types, &contents->combiner) != MPI_SUCCESS)
        return SENNIT_ERR_UNSUPPORTED;
    if (contents->combiner == MPI_COMBINER_NAMED) return SENNIT_OK;
    contents->numbers = (int *)malloc(sizeof(int) * ((size_t)numbers + 1));
    contents->places = (MPI_Aint *)malloc(sizeof(MPI_Aint) * ((size_t)places + 1));
    contents->types = (MPI_Datatype *)malloc(sizeof(MPI_Datatype) * ((size_t)types + 1));
    if (contents->numbers == NULL || contents->places == NULL || contents->types == NULL) {
        sennit_mpi_free_contents(contents);
        return SENNIT_ERR_NOMEM;
    }
    if (MPI_Type_get_contents(type, numbers, places, types, contents->numbers, contents->places,
                              contents->types) != MPI_SUCCESS) {
        sennit_mpi_free_contents(contents);
        return SENNIT_ERR_UNSUPPORTED;
    }
    contents->number_count = numbers;
    contents->type_count = types;
    return SENNIT_OK;
}

/* The last dimension in memory's order goes fastest. */
static inline sennit_status sennit_mpi_add_subarray(sennit_mpi_layout *layout, const int *numbers,
                                                    const sennit_mpi_layout *inner) {
    const int dimensions = numbers[0];
    const int *const sizes = numbers + 1;
    const int *const parts = sizes + dimensions;
    const int *const starts = parts + dimensions;
    const int is_c = numbers[1 + 3 * dimensions] == MPI_ORDER_C;
    int64_t *at = (int64_t *)calloc((size_t)dimensions + 1, sizeof *at);
    const int fastest = is_c ? dimensions - 1 : 0;
    sennit_status status = SENNIT_OK;
    int i, is_empty = 0;
    if (at == NULL) return SENNIT_ERR_NOMEM;
    for (i = 0; i < dimensions; ++i)
        is_empty |= parts[i] == 0;
    while (status == SENNIT_OK && !is_empty) {
        int64_t place = 0;
        for (i = 0; i < dimensions; ++i) {
            const int d = is_c ? i : dimensions - 1 - i;
            place = place * sizes[d] + starts[d] + at[d];
        }
        status =
            sennit_mpi_add_flat(layout, inner, (uint64_t)parts[fastest], place * inner->extent);
        /* The next row. */
        for (i = 1; i < dimensions; ++i) {
            const int d = is_c ? dimensions - 1 - i : i;
            if (++at[d] < parts[d]) break;
            at[d] = 0;
        }
        if (i >= dimensions) break;
    }
    free(at);
    return status;
}

static inline sennit_status sennit_mpi_flatten(MPI_Datatype type, sennit_mpi_layout *flat);

/* Each type of a struct is read once, however often it is in it. */
static inline sennit_status sennit_mpi_add_struct(sennit_mpi_layout *layout,
                                                  const sennit_mpi_contents *contents) {
    const int members = contents->type_count;
    sennit_mpi_layout *const inner =
        (sennit_mpi_layout *)calloc((size_t)members + 1, sizeof *inner);
    int *const which = (int *)malloc(sizeof(int) * ((size_t)members + 1));
    sennit_status status = inner == NULL || which == NULL ? SENNIT_ERR_NOMEM : SENNIT_OK;
    int read = 0;
    int i, j;
    for (i = 0; i < members && status == SENNIT_OK; ++i) {
        for (j = 0; j < read; ++j)
            if (contents->types[which[j]] == contents->types[i]) break;
        if (j == read) {
            which[read++] = i;
            status = sennit_mpi_flatten(contents->types[i], &inner[j]);
        }
        if (status == SENNIT_OK)
            status = sennit_mpi_add_flat(layout, &inner[j], (uint64_t)contents->numbers[1 + i],
                                         (int64_t)contents->places[i]);
    }
    for (j = 0; j < read; ++j)
        sennit_mpi_free_layout(&inner[j]);
    free(inner);
    free(which);
    return status;
}

/* One element of a derived type that has one inner type. */
static inline sennit_status sennit_mpi_add_derived(sennit_mpi_layout *layout,
                                                   const sennit_mpi_contents *contents,
                                                   const sennit_mpi_layout *inner) {
    const int *const n = contents->numbers;
    const MPI_Aint *const places = contents->places;
    sennit_status status = SENNIT_OK;
    int i;
    switch (contents->combiner) {
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED:
            return sennit_mpi_add_flat(layout, inner, 1, 0);
        case MPI_COMBINER_CONTIGUOUS:
            return sennit_mpi_add_flat(layout, inner, (uint64_t)n[0], 0);
        case MPI_COMBINER_VECTOR:
        case MPI_COMBINER_HVECTOR: {
            const int64_t stride = contents->combiner == MPI_COMBINER_VECTOR ? n[2] * inner->extent
                                                                             : (int64_t)places[0];
            for (i = 0; i < n[0] && status == SENNIT_OK; ++i)
                status = sennit_mpi_add_flat(layout, inner, (uint64_t)n[1], i * stride);
            return status;
        }
        case MPI_COMBINER_INDEXED:
        case MPI_COMBINER_HINDEXED:
            for (i = 0; i < n[0] && status == SENNIT_OK; ++i)
                status = sennit_mpi_add_flat(layout, inner, (uint64_t)n[1 + i],
                                             contents->combiner == MPI_COMBINER_INDEXED
                                                 ? n[1 + n[0] + i] * inner->extent
                                                 : (int64_t)places[i]);
            return status;
        case MPI_COMBINER_INDEXED_BLOCK:
        case MPI_COMBINER_HINDEXED_BLOCK:
            for (i = 0; i < n[0] && status == SENNIT_OK; ++i)
                status = sennit_mpi_add_flat(layout, inner, (uint64_t)n[1],
                                             contents->combiner == MPI_COMBINER_INDEXED_BLOCK
                                                 ? n[2 + i] * inner->extent
                                                 : (int64_t)places[i]);
            return status;
        case MPI_COMBINER_SUBARRAY:
            return sennit_mpi_add_subarray(layout, n, inner);
        default:
            return SENNIT_ERR_UNSUPPORTED;
    }
}

/* One element of a type: each type inside is read once. */
static inline sennit_status sennit_mpi_flatten(MPI_Datatype type, sennit_mpi_layout *flat) {
    sennit_mpi_contents contents;
    sennit_mpi_layout inner;
    sennit_status status;
    memset(flat, 0, sizeof *flat);
    memset(&inner, 0, sizeof inner);
    status = sennit_mpi_extent_of(type, &flat->extent);
    if (status == SENNIT_OK) status = sennit_mpi_read_contents(type, &contents);
    if (status != SENNIT_OK) return status;
    if (contents.combiner == MPI_COMBINER_NAMED) {
        status = sennit_mpi_add_basic(flat, type, 0);
    } else if (sennit_mpi_is_given(contents.combiner)) {
        /* Chosen by precision and range, which are its kind. */
        const uint64_t kind = sennit_mpi_hash(SENNIT_MPI_HASH_OF_NOTHING, &contents.combiner,
                                              sizeof contents.combiner);
        status =
            sennit_mpi_add_basic(flat, type,
                                 1 | sennit_mpi_hash(kind, contents.numbers,
                                                     sizeof(int) * (size_t)contents.number_count));
    } else if (contents.combiner == MPI_COMBINER_STRUCT) {
        status = sennit_mpi_add_struct(flat, &contents);
    } else if (contents.type_count != 1) {
        status = SENNIT_ERR_UNSUPPORTED;
    } else {
        status = sennit_mpi_flatten(contents.types[0], &inner);
        if (status == SENNIT_OK) status = sennit_mpi_add_derived(flat, &contents, &inner);
    }
    sennit_mpi_free_layout(&inner);
    sennit_mpi_free_contents(&contents);
    if (status != SENNIT_OK) sennit_mpi_free_layout(flat);
    return status;
}

static inline sennit_status sennit_mpi_read_layout(MPI_Datatype type, int count,
                                                   sennit_mpi_layout *layout) {
    const sennit_status status = sennit_mpi_flatten(type, layout);
    if (status != SENNIT_OK) return status;
    layout->elements = layout->count = (uint64_t)count;
    if (layout->runs.count == 1 && count > 1) {
        sennit_mpi_run *const only = (sennit_mpi_run *)layout->runs.items;
        if ((int64_t)only->bytes == layout->extent) {
            only->bytes *= (uint64_t)count;
            layout->elements = 1;
        }
    }
    return SENNIT_OK;
}

/* A copy of its own. */
static inline sennit_status sennit_mpi_copy_layout(const sennit_mpi_layout *from,
                                                   sennit_mpi_layout *to) {
    const size_t run_bytes = from->runs.count * sizeof(sennit_mpi_run);
    const size_t kind_bytes = from->kinds.count * sizeof(sennit_mpi_kind);
    *to = *from;
    to->runs.items = malloc(run_bytes + 1);
    to->kinds.items = malloc(kind_bytes + 1);
    to->runs.room = from->runs.count;
    to->kinds.room = from->kinds.count;
    if (to->runs.items == NULL || to->kinds.items == NULL) {
        sennit_mpi_free_layout(to);
        return SENNIT_ERR_NOMEM;
    }
    if (run_bytes != 0) memcpy(to->runs.items, from->runs.items, run_bytes);
    if (kind_bytes != 0) memcpy(to->kinds.items, from->kinds.items, kind_bytes);
    return SENNIT_OK;
}

static inline uint64_t sennit_mpi_bytes_of(const sennit_mpi_layout *layout) {
    uint64_t bytes = 0;
    size_t i;
    for (i = 0; i < layout->runs.count; ++i)
        bytes += ((const sennit_mpi_run *)layout->runs.items)[i].bytes;
    return bytes * layout->elements;
}

/* The memory that the message touches, from the buffer's address: [*first, *end). */
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

/* A place in a message: what of it was passed. */
typedef struct sennit_mpi_place {
    const sennit_mpi_layout *layout;
    uint64_t element;
    size_t run;
    uint64_t passed; /* bytes of the run */
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

/* Lays the runs of a message over those of its receiver. `base`: of the block, from the receiver's
 * buffer. */
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

/* A place in the kinds of a message. */
typedef struct sennit_mpi_kind_place {
    const sennit_mpi_layout *layout;
    uint64_t element;
    size_t at;
    uint64_t passed;
} sennit_mpi_kind_place;

/* False: the message is over. */
static inline int sennit_mpi_kind_at(const sennit_mpi_kind_place *place, sennit_mpi_kind *out) {
    if (place->element == place->layout->count || place->layout->kinds.count == 0) return 0;
    *out = ((const sennit_mpi_kind *)place->layout->kinds.items)[place->at];
    out->count -= place->passed;
    /* An element of one kind goes on in the next. */
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

/* Are the kinds that are sent the first of those that are received? */
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
