! A transpose of pencils, as a 3-D Fourier transform needs it: each rank has whole lines along x, and then whole lines along y.
!     sennit run -n 4 transpose
program transpose_pencils
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: dp = c_double
  integer, parameter :: part = 3, nz = 4  ! of x and y a rank has `part` lines of the other
  type(sennit_gptr) :: memory
  complex(dp), allocatable :: x_pencils(:, :, :)  ! (x, y of this rank, z)
  complex(dp), pointer, contiguous :: y_pencils(:, :, :)  ! (y, x of this rank, z)
  type(sennit_box) :: box
  integer :: rank, ranks, n, other, x, y, z

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
  if (rank == 0) print '(2(a,i0))', 'transposed ', n * n * nz, ' complex numbers on ranks: ', ranks
  call sennit_free(memory)
  call sennit_finalize()

contains

  pure complex(dp) function value_of(x, y, z)
    integer, intent(in) :: x, y, z
    value_of = cmplx(x + 1000 * y, z, dp)
  end function value_of

end program transpose_pencils
