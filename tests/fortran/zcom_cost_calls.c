/* The C side of zcom_cost.f90: the same calls in the same loop. Returns 1 if a call returns no. */
#include <sennit/sennit.h>
#include <sennit/sennit_zcom.h>

int cost_zcom(const sennit_gptr *place, int64_t *word, long count);

int cost_zcom(const sennit_gptr *place, int64_t *word, long count) {
    const int id = (int)*word;
    int err = 0;
    (void)place;
    for (long i = 0; i < count; ++i) {
        if (ZCom_can_write_c(id, &err) != 1) return 1;
        if (ZCom_have_written_c(id, &err) != 1) return 1;
        if (ZCom_can_read_c(id, &err) != 1) return 1;
        if (ZCom_have_read_c(id, &err) != 1) return 1;
    }
    return 0;
}
