/* The headers by their older paths, older names of functions and constants, in C of 1999 without
 * compiler extensions, and without complex.h: its names stay free for the program. */
#include <mpp/shmem.h>
#include <mpp/shmemx.h>
#include <pshmem.h>
#include <shmem.h>
#include <shmemx.h>

/* Each is a macro of complex.h, so this does not compile if that header is included. */
static long complex = 1, imaginary = 2, I;

/* Constants, each by both of its names. */
#define BOTH(NAME) \
    { NAME, _##NAME }
static const long constants[][2] = {BOTH(SHMEM_MAJOR_VERSION),
                                    BOTH(SHMEM_MINOR_VERSION),
                                    BOTH(SHMEM_MAX_NAME_LEN),
                                    BOTH(SHMEM_CMP_EQ),
                                    BOTH(SHMEM_CMP_NE),
                                    BOTH(SHMEM_CMP_GT),
                                    BOTH(SHMEM_CMP_LE),
                                    BOTH(SHMEM_CMP_LT),
                                    BOTH(SHMEM_CMP_GE),
                                    BOTH(SHMEM_SYNC_VALUE),
                                    BOTH(SHMEM_BARRIER_SYNC_SIZE),
                                    BOTH(SHMEM_BCAST_SYNC_SIZE),
                                    BOTH(SHMEM_COLLECT_SYNC_SIZE),
                                    BOTH(SHMEM_REDUCE_SYNC_SIZE),
                                    BOTH(SHMEM_REDUCE_MIN_WRKDATA_SIZE),
                                    {sizeof SHMEM_VENDOR_STRING, sizeof _SHMEM_VENDOR_STRING}};

static int check_constants(void) {
    size_t i;
    int wrong = SHMEM_MAJOR_VERSION != 1 || SHMEM_MINOR_VERSION != 6;
    for (i = 0; i < sizeof constants / sizeof *constants; ++i)
        wrong += constants[i][0] != constants[i][1];
    return wrong + (sizeof SHMEM_VENDOR_STRING > SHMEM_MAX_NAME_LEN);
}

int main(void) {
    long *place;
    int failed = check_constants(), pes, me, before;
    start_pes(0);
    pes = _num_pes();
    me = _my_pe();
    before = (me + pes - 1) % pes;
    failed += pes != shmem_n_pes() || me != shmem_my_pe();
    place = shmalloc(2 * sizeof *place);
    place[0] = place[1] = 0;
    shmem_barrier_all();
    shmem_long_p(&place[0], complex + me, (me + 1) % pes);
    pshmem_long_p(&I, imaginary, (me + 1) % pes);
    shmem_barrier_all();
    failed += place[0] != complex + before || I != imaginary;
    place = shrealloc(place, 4000);
    failed += place[0] != complex + before;
    shfree(place);
    place = shmemalign(4096, 8);
    failed += (size_t)place % 4096 != 0;
    shfree(place);
    return failed != 0;
}
