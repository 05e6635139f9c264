! Ranks that are threads of one process, here of OpenMP: no launcher, the same calls.
!     inproc
program inproc
  use iso_c_binding
  use must
  use omp_lib
  use sennit
  implicit none
  integer, parameter :: ranks = 4
  type(sennit_bootstrap), target :: bootstraps(ranks)

  call sennit_bootstrap_inproc_create(ranks, bootstraps)
  call omp_set_dynamic(.false.)
  !$omp parallel num_threads(ranks)
  call rank_main(bootstraps(omp_get_thread_num() + 1))
  !$omp end parallel
  call sennit_bootstrap_inproc_destroy(ranks, bootstraps)
  print '(i0,a)', ranks, ' ranks in one process'

contains

  subroutine rank_main(bootstrap)
    type(sennit_bootstrap), target, intent(in) :: bootstrap
    type(sennit_options) :: options
    type(sennit_gptr) :: mine
    integer(c_int) :: rank, next, path, number
    options%bootstrap = c_loc(bootstrap)
    call sennit_init(options)
    rank = sennit_rank()
    next = modulo(rank + 1, ranks)

    call sennit_peer_path(next, path)
    call must_be(path == SENNIT_PATH_INPROC, 'ranks of one process use their own pointers')

    call sennit_alloc(SENNIT_TEAM_WORLD, c_sizeof(rank), 0, 0, mine)
    call sennit_put(sennit_gptr_at(mine, next), rank, c_sizeof(rank))
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    number = -1
    call sennit_get(number, mine, c_sizeof(number))
    call must_be(number == modulo(rank - 1, ranks), 'the number of the rank before')

    call sennit_free(mine)
    call sennit_finalize()
  end subroutine rank_main

end program inproc
