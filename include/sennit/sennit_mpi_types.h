/* SPDX-License-Identifier: BSD-3-Clause */
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

/* Adds an item. Null: no memory. */
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

/* Contiguous bytes of an element. */
typedef struct sennit_mpi_run {
    int64_t offset;
    uint64_t bytes;
} sennit_mpi_run;

/* Basic elements of one kind that follow each other in a type map. */
typedef struct sennit_mpi_kind {
    uint64_t kind; /* hash of its name */
    uint64_t count;
} sennit_mpi_kind;

/* A message's memory: `elements` elements of this extent, each with the same runs, and `count`
 * times the kinds. If all runs of all elements are contiguous, there is one element with one
 * run. */
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

/* FNV-1a: continues `hash`, that of the bytes before. */
static inline uint64_t sennit_mpi_hash(uint64_t hash, const void *bytes, size_t count) {
    size_t i;
    for (i = 0; i < count; ++i)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return hash;
}
#define SENNIT_MPI_HASH_OF_NOTHING 0xcbf29ce484222325u

/* The hash of the type's name, the same on all ranks of an MPI; 0 for MPI_PACKED, which matches
 * all. */
static inline uint64_t sennit_mpi_kind_of(MPI_Datatype type) {
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    if (type == MPI_PACKED || MPI_Type_get_name(type, name, &length) != MPI_SUCCESS) return 0;
    return sennit_mpi_hash(SENNIT_MPI_HASH_OF_NOTHING, name, (size_t)length) | 1;
}

/* The first type of a pair of C, whose second type is int; MPI_DATATYPE_NULL for other types. */
static inline MPI_Datatype sennit_mpi_first_of_pair(MPI_Datatype type) {
    if (type == MPI_FLOAT_INT) return MPI_FLOAT;
    if (type == MPI_DOUBLE_INT) return MPI_DOUBLE;
    if (type == MPI_LONG_INT) return MPI_LONG;
    if (type == MPI_2INT) return MPI_INT;
    if (type == MPI_SHORT_INT) return MPI_SHORT;
    if (type == MPI_LONG_DOUBLE_INT) return MPI_LONG_DOUBLE;
    return MPI_DATATYPE_NULL;
}

/* The type that a pair of Fortran has twice; MPI_DATATYPE_NULL for other types. */
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

/* Adds one element of a predefined type. `kind`: its kind; 0: the hash of its name. */
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

/* Adds `count` copies of the one element of `flat`, the first at `offset`. */
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

/* The arguments from which a derived datatype was made. */
typedef struct sennit_mpi_contents {
    int combiner;
    int *numbers;
    int number_count;
    MPI_Aint *places;
    MPI_Datatype *types;
    int type_count;
} sennit_mpi_contents;

/* Whether the type is a predefined one, which must not be freed. */
static inline int sennit_mpi_is_given(int combiner) {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* MPI_Type_get_contents returns new handles, which must be freed unless they are predefined
 * types. */
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

/* The part of a dimension of an array that is in the datatype: blocks of indices; the last block
 * may be shorter. */
typedef struct sennit_mpi_dimension {
    int64_t size;
    int64_t count; /* indices in all blocks */
    int64_t first;
    int64_t block; /* at least 1 */
    int64_t step;  /* from block to block */
} sennit_mpi_dimension;

static inline int64_t sennit_mpi_index(const sennit_mpi_dimension *dimension, int64_t i) {
    return dimension->first + i / dimension->block * dimension->step + i % dimension->block;
}

/* Adds elements of an array in the order of memory. The last dimension is the fastest in C, the
 * first one in Fortran. */
static inline sennit_status sennit_mpi_add_array(sennit_mpi_layout *layout,
                                                 const sennit_mpi_dimension *dimensions, int count,
                                                 int is_c, const sennit_mpi_layout *inner) {
    const sennit_mpi_dimension *const fast = &dimensions[is_c ? count - 1 : 0];
    int64_t *const at = (int64_t *)calloc((size_t)count + 1, sizeof *at);
    sennit_status status = at == NULL ? SENNIT_ERR_NOMEM : SENNIT_OK;
    int64_t j;
    int i, is_empty = 0;
    for (i = 0; i < count; ++i)
        is_empty |= dimensions[i].count == 0;
    while (status == SENNIT_OK && !is_empty) {
        int64_t row = 0;
        for (i = 0; i + 1 < count; ++i) {
            const int d = is_c ? i : count - 1 - i;
            row = row * dimensions[d].size + sennit_mpi_index(&dimensions[d], at[d]);
        }
        for (j = 0; j < fast->count && status == SENNIT_OK; j += fast->block) {
            const int64_t left = fast->count - j;
            status = sennit_mpi_add_flat(
                layout, inner, (uint64_t)(left < fast->block ? left : fast->block),
                (row * fast->size + sennit_mpi_index(fast, j)) * inner->extent);
        }
        /* The next row. */
        for (i = 1; i < count; ++i) {
            const int d = is_c ? count - 1 - i : i;
            if (++at[d] < dimensions[d].count) break;
            at[d] = 0;
        }
        if (i >= count) break;
    }
    free(at);
    return status;
}

static inline sennit_status sennit_mpi_add_subarray(sennit_mpi_layout *layout, const int *numbers,
                                                    const sennit_mpi_layout *inner) {
    const int count = numbers[0];
    sennit_mpi_dimension *const dimensions =
        (sennit_mpi_dimension *)calloc((size_t)count + 1, sizeof *dimensions);
    sennit_status status = SENNIT_ERR_NOMEM;
    int i;
    if (dimensions == NULL) return status;
    for (i = 0; i < count; ++i) {
        dimensions[i].size = numbers[1 + i];
        dimensions[i].count = numbers[1 + count + i];
        dimensions[i].first = numbers[1 + 2 * count + i];
        dimensions[i].block = dimensions[i].count == 0 ? 1 : dimensions[i].count;
    }
    status = sennit_mpi_add_array(layout, dimensions, count, numbers[1 + 3 * count] == MPI_ORDER_C,
                                  inner);
    free(dimensions);
    return status;
}

/* The part of rank `rank` in one dimension of an array that is distributed over `ranks` ranks. */
static inline sennit_mpi_dimension sennit_mpi_part_of(int64_t size, int how, int argument,
                                                      int64_t ranks, int64_t rank) {
    const int is_cyclic = how == MPI_DISTRIBUTE_CYCLIC;
    sennit_mpi_dimension part;
    int64_t left;
    part.size = size;
    part.block = argument != MPI_DISTRIBUTE_DFLT_DARG ? argument
                 : is_cyclic                          ? 1
                                                      : (size + ranks - 1) / ranks;
    if (how == MPI_DISTRIBUTE_NONE) part.block = size;
    if (part.block < 1) part.block = 1;
    part.step = is_cyclic ? ranks * part.block : 0;
    part.first = rank * part.block;
    /* The rank has a block in each complete round, and a part of the last round. */
    left = (is_cyclic ? size % part.step : size) - part.first;
    left = left < 0 ? 0 : left > part.block ? part.block : left;
    part.count = (is_cyclic ? size / part.step * part.block : 0) + left;
    return part;
}

/* The ranks are a grid in C's order, whatever the order of the array is. */
static inline sennit_status sennit_mpi_add_darray(sennit_mpi_layout *layout, const int *numbers,
                                                  const sennit_mpi_layout *inner) {
    const int count = numbers[2];
    const int *const sizes = numbers + 3;
    const int *const ranks = sizes + 3 * count;
    sennit_mpi_dimension *const dimensions =
        (sennit_mpi_dimension *)calloc((size_t)count + 1, sizeof *dimensions);
    sennit_status status = SENNIT_ERR_NOMEM;
    int rank = numbers[1];
    int i;
    if (dimensions == NULL) return status;
    for (i = count - 1; i >= 0; --i) {
        dimensions[i] = sennit_mpi_part_of(sizes[i], sizes[count + i], sizes[2 * count + i],
                                           ranks[i], rank % ranks[i]);
        rank /= ranks[i];
    }
    status =
        sennit_mpi_add_array(layout, dimensions, count, sizes[4 * count] == MPI_ORDER_C, inner);
    free(dimensions);
    return status;
}

static inline sennit_status sennit_mpi_flatten(MPI_Datatype type, sennit_mpi_layout *flat);

/* Reads each type of a struct once, even if it occurs several times. */
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

/* Adds one element of a derived type that has one inner type. */
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
        case MPI_COMBINER_DARRAY:
            return sennit_mpi_add_darray(layout, n, inner);
        default:
            return SENNIT_ERR_UNSUPPORTED;
    }
}

/* Reads one element of a type into `flat`. Each type inside is read once. */
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
        /* A type chosen by precision and range: these are its kind. */
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

/* Makes a deep copy. */
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

#ifdef __cplusplus
}
#endif

#endif
