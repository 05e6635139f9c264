// The headers in C++ of 2011: the names of complex.h stay free for the program, numbers of C++ and
// C both work, handles are pointers of two types, and overloads call functions that a profiler may
// replace.
#include <mpp/shmem.h>
#include <mpp/shmemx.h>
#include <pshmem.h>
#include <shmemx.h>

#include <type_traits>

namespace {

// Before any other header could include complex.h, where each of these names is a macro.
long complex = 1;
long I = 2;

}  // namespace

#include <complex>

static_assert(std::is_pointer<shmem_team_t>::value && std::is_pointer<shmem_ctx_t>::value,
              "handles are pointers");
static_assert(!std::is_same<shmem_team_t, shmem_ctx_t>::value &&
                  !std::is_convertible<shmem_team_t, shmem_ctx_t>::value &&
                  !std::is_convertible<int, shmem_ctx_t>::value,
              "handles have two types, and are no numbers");
static_assert(std::is_same<decltype(SHMEM_TEAM_INVALID), shmem_team_t>::value &&
                  std::is_same<decltype(SHMEM_TEAM_SHARED), shmem_team_t>::value &&
                  std::is_same<decltype(SHMEM_CTX_DEFAULT), shmem_ctx_t>::value,
              "constants have the types of their handles");

namespace {

shmem_ctx_t none = nullptr;
// The memory of a C complex number.
std::complex<double> parts[2];
std::complex<double> sums[2];

int counted = 0;

}  // namespace

// A profiler's function, which an overload must call.
extern "C" void shmem_long_p(long *place, long value, int pe) {
    ++counted;
    pshmem_long_p(place, value, pe);
}

int main() {
    shmem_init();
    const int me = shmem_my_pe();
    const int pes = shmem_n_pes();
    int failed = none == SHMEM_CTX_INVALID ? 0 : 1;
    shmem_p(&I, 4L, (me + 1) % pes);
    parts[0] = {1, static_cast<double>(me)};
    parts[1] = {static_cast<double>(complex), 2};
    shmem_barrier_all();
    using Number = sennit_shmem_complexd;
    shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, reinterpret_cast<Number *>(sums),
                              reinterpret_cast<const Number *>(parts), 2);
    failed += sums[0] != std::complex<double>(pes, pes * (pes - 1) / 2);
    failed += sums[1] != std::complex<double>(pes, 2 * pes) || I != 4 || counted != 1;
    shmem_barrier_all();
    shmem_finalize();
    return failed;
}
