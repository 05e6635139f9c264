#include "kernel.h"

#include <stddef.h>

void p2p_block(const p2p_strip *strip, int64_t first, int64_t count, double *right) {
    const ptrdiff_t columns = (ptrdiff_t)strip->columns;
    for (int64_t j = first; j < first + count; ++j) {
        double *line = strip->cells + j * columns;
        const double *below = line - columns;
        double value = strip->left[j];
        double below_left = strip->left[j - 1];
        for (ptrdiff_t i = 0; i < columns; ++i) {
            const double under = below[i];
            value += under - below_left; /* the difference does not depend on the cell before */
            below_left = under;
            line[i] = value;
        }
        right[j] = value;
    }
}
