! Step 5 of the tutorial: read another rank's memory, without a call by that rank.
!     sennit run -n 4 05_get
program get
  use iso_c_binding
  use must
  use sennit
  implicit none
  type(sennit_gptr) :: box
  integer(c_int), pointer :: mine
  integer(c_int) :: rank, size, peer, number, total

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  call sennit_alloc(SENNIT_TEAM_WORLD, c_sizeof(rank), 0, 0, box)

  call sennit_pointer(box, mine)
  mine = rank * rank                                     ! everyone fills its own box
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) ! ... and has done so

  total = 0
  if (rank == 0) then
    do peer = 0, size - 1
      call sennit_get(number, sennit_gptr_at(box, peer), c_sizeof(number))
      total = total + number
    end do
    call must_be(total == (size - 1) * size * (2 * size - 1) / 6, 'the sum of the squares')
    print '(a,i0)', 'rank 0 gathered squares with the sum ', total
  end if
  call sennit_free(box) ! waits for all: no rank frees its box while rank 0 reads it
  call sennit_finalize()
end program get
