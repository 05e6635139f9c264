! A matrix that the program allocated itself; strided puts fill its neighbours' halo rows.
!     sennit run -n 4 columns
! Each rank has a matrix from allocate and gives its inner edge rows to its left and right neighbours. Elements of a row are a
! column apart. No buffer is packed, and the matrix stays where it is. In C the same memory is a matrix with rows and columns
! exchanged.
program columns
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: rows = 12, long = 100, dp = c_double, bytes = 8 ! the first and the last row are the halo
  real(dp), allocatable, asynchronous :: matrix(:, :)
  type(sennit_region), allocatable :: regions(:)
  type(sennit_region) :: mine
  type(sennit_box) :: row
  integer :: rank, size, i, j, left, right, attached

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  allocate (matrix(0:rows - 1, 0:long - 1), regions(0:size - 1))
  do j = 0, long - 1
    matrix(:, j) = [(expected(rank, j, i), i = 0, rows - 1)]
  end do

  ! All ranks attach every rank's matrix.
  call sennit_register(matrix, rows * long * bytes, 0, mine)
  call sennit_region_attach(SENNIT_TEAM_WORLD, mine, regions, stat=attached)
  if (attached == SENNIT_ERR_UNSUPPORTED) then ! the kernel forbids it here; the reason has details
    print '(2a)', 'private memory cannot be reached: ', sennit_last_error_text()
    stop 77
  end if
  call must_be(attached == SENNIT_OK, 'regions are exchanged')

  ! A row: one element of each column, on both sides.
  row = sennit_box_line(bytes, long, rows * bytes, rows * bytes)
  left = modulo(rank - 1, size)
  right = modulo(rank + 1, size)
  call sennit_put_strided_nbi(sennit_gptr_add(regions(left)%gptr, (rows - 1) * bytes), matrix(1, 0), row)
  call sennit_put_strided_nbi(regions(right)%gptr, matrix(rows - 2, 0), row)
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) ! completes the puts of all

  do j = 0, long - 1
    call must_be(is_same(matrix(0, j), expected(left, j, rows - 2)), "the left halo is the left rank's edge")
    call must_be(is_same(matrix(rows - 1, j), expected(right, j, 1)), "the right halo is the right rank's edge")
    call must_be(is_same(matrix(1, j), expected(rank, j, 1)), 'the inner rows are as they were')
  end do
  if (rank == 0) print '(i0,a,i0,a)', size, ' ranks exchanged rows of ', long, ' elements'

  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) ! no rank uses the region any more
  call sennit_deregister(mine)
  call sennit_finalize()

contains

  pure function expected(rank, j, i) result(value)
    integer, intent(in) :: rank, j, i
    real(dp) :: value
    value = rank * 10000 + j * 100 + i
  end function expected

  pure function is_same(left, right)
    real(dp), intent(in) :: left, right
    logical :: is_same
    is_same = abs(left - right) <= 0
  end function is_same

end program columns
