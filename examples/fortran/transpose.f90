! A transpose of pencils, as in a 3-D Fourier transform: each rank has whole lines along x, and then whole lines along y. First by
! puts and a barrier, then forward and back in a loop by notified puts.
!     sennit run -n 4 transpose
program transpose_pencils
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: dp = c_double
  integer, parameter :: part = 3, nz = 4  ! a rank has `part` lines in each plane of z
  type(sennit_gptr) :: memory
  integer, parameter :: steps = 3
  complex(dp), allocatable, target, asynchronous :: x_pencils(:, :, :)  ! (x, y of this rank, z)
  complex(dp), pointer, contiguous :: y_pencils(:, :, :)  ! (y, x of this rank, z)
  type(sennit_box) :: box, box_back
  type(sennit_region) :: x_region
  type(sennit_signal) :: there, back
  type(sennit_peer_block), allocatable :: x_of(:), y_of(:)
  integer :: rank, ranks, n, other, step, x, y, z

  call sennit_init()
  rank = sennit_rank()
  ranks = sennit_size()
  n = part * ranks
  allocate (x_pencils(n, part, nz))
  call sennit_alloc(SENNIT_TEAM_WORLD, sennit_bytes(x_pencils), 0, 0, memory)
  call sennit_pointer(memory, y_pencils, [n, part, nz])
  do z = 1, nz
    do y = 1, part
      do x = 1, n
        x_pencils(x, y, z) = value_of(x, rank * part + y, z)
      end do
    end do
  end do

  ! snippet: transpose
  ! One call for each rank's block. x is contiguous in the source, y in the destination.
  box%element_bytes = sennit_bytes(x_pencils(1, 1, 1))
  box%counts = [part, part, nz]  ! along x, y and z
  box%local_strides = [sennit_bytes(x_pencils(1, 1, 1)), sennit_bytes(x_pencils(:, 1, 1)), sennit_bytes(x_pencils(:, :, 1))]
  box%remote_strides = [sennit_bytes(y_pencils(:, 1, 1)), sennit_bytes(y_pencils(1, 1, 1)), sennit_bytes(y_pencils(:, :, 1))]
  do other = 0, ranks - 1
    call sennit_put_strided_nbi(sennit_gptr_add(sennit_gptr_at(memory, other), rank * part * box%element_bytes), &
                                x_pencils(other * part + 1, 1, 1), box)
  end do
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  ! end of snippet

  do z = 1, nz
    do x = 1, part
      do y = 1, n
        call must_be(abs(y_pencils(y, x, z) - value_of(rank * part + x, y, z)) < 0.5_dp, 'the line along y has its elements')
      end do
    end do
  end do

  call sennit_register(x_pencils, sennit_bytes(x_pencils), 0, x_region)
  call connect(sennit_region(memory, sennit_bytes(y_pencils)), there, y_of)
  call connect(x_region, back, x_of)
  box_back = box
  box_back%local_strides = box%remote_strides
  box_back%remote_strides = box%local_strides

  do step = 1, steps
    ! snippet: loop
    do other = 0, ranks - 1
      call sennit_put_notify_strided(y_of(other), rank * part * box%element_bytes, x_pencils(other * part + 1, 1, 1), box)
    end do
    call sennit_signal_wait(there, SENNIT_FOREVER)
    call sennit_signal_reset(there)
    y_pencils = 2 * y_pencils  ! the work along y
    do other = 0, ranks - 1
      call sennit_put_notify_strided(x_of(other), rank * part * box%element_bytes, y_pencils(other * part + 1, 1, 1), box_back)
    end do
    call sennit_signal_wait(back, SENNIT_FOREVER)
    call sennit_signal_reset(back)
    ! end of snippet
  end do

  do z = 1, nz
    do y = 1, part
      do x = 1, n
        call must_be(abs(x_pencils(x, y, z) - 2**steps * value_of(x, rank * part + y, z)) < 0.5_dp, 'each step has doubled it')
      end do
    end do
  end do
  if (rank == 0) print '(2(a,i0))', 'transposed ', n * n * nz, ' complex numbers on ranks: ', ranks
  call disconnect(there, y_of)
  call disconnect(back, x_of)
  call sennit_deregister(x_region)
  call sennit_free(memory)
  call sennit_finalize()

contains

  ! snippet: signal
  ! All ranks put into the region of each: one event from each rank in a step.
  subroutine connect(region, signal, blocks)
    type(sennit_region), intent(in) :: region
    type(sennit_signal), intent(out) :: signal
    type(sennit_peer_block), allocatable, intent(out) :: blocks(:)
    type(sennit_block) :: mine, all(0:ranks - 1)
    call sennit_signal_create(ranks, ranks, SENNIT_SIGNAL_STRICT, signal)
    call sennit_block_init(region, 0, region%bytes, SENNIT_SIGNAL_NULL, signal, mine)
    call sennit_allgather(SENNIT_TEAM_WORLD, mine, all, c_sizeof(mine), SENNIT_FOREVER)
    allocate (blocks(0:ranks - 1))
    do other = 0, ranks - 1
      call sennit_block_attach(all(other), blocks(other))
    end do
  end subroutine connect
  ! end of snippet

  subroutine disconnect(signal, blocks)
    type(sennit_signal), intent(in) :: signal
    type(sennit_peer_block), intent(in) :: blocks(0:)
    do other = 0, ranks - 1
      call sennit_block_detach(blocks(other))
    end do
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)  ! no rank puts or counts an event any more
    call sennit_signal_destroy(signal)
  end subroutine disconnect

  pure complex(dp) function value_of(x, y, z)
    integer, intent(in) :: x, y, z
    value_of = cmplx(x + 1000 * y, z, dp)
  end function value_of

end program transpose_pencils
