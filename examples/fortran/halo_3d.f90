! A 3-D field beside MPI: ranks of a communicator split y and z, and swap faces of an allocatable array by Sennit.
!     mpirun -n 4 halo_3d
program halo_3d
  use iso_c_binding
  use mpi_f08
  use must
  use sennit
  use sennit_mpi
  implicit none
  integer, parameter :: dp = c_double
  integer, parameter :: n = 6  ! cells of a rank along each dimension
  ! snippet: field
  real(dp), allocatable, target, asynchronous :: field(:, :, :)  ! (x, y, z), with a halo of one cell along y and z
  type(sennit_region) :: mine
  type(sennit_region), allocatable :: all(:)
  ! end of snippet
  type(MPI_Comm) :: grid
  integer :: dims(2), place(2), ranks, before(2), behind(2), step, wrong
  type(sennit_box) :: y_face

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  dims = 0
  call MPI_Dims_create(ranks, 2, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .true.], .false., grid)
  call MPI_Cart_coords(grid, rank_of(grid), 2, place)
  call MPI_Cart_shift(grid, 0, 1, before(1), behind(1))
  call MPI_Cart_shift(grid, 1, 1, before(2), behind(2))

  ! snippet: register
  call sennit_init_mpi(grid)  ! rank i of the communicator becomes rank i of Sennit
  allocate (field(n, 0:n + 1, 0:n + 1), all(0:ranks - 1))
  call sennit_register(field, sennit_bytes(field), 0, mine)
  call sennit_region_attach(SENNIT_TEAM_WORLD, mine, all)
  ! end of snippet

  ! snippet: face
  ! A face of constant y is n lines along x, one for each z. A face of constant z is contiguous and needs no box.
  y_face%element_bytes = sennit_bytes(field(:, 1, 1))
  y_face%counts(1) = n
  y_face%remote_strides(1) = sennit_bytes(field(:, :, 1))
  y_face%local_strides(1) = sennit_bytes(field(:, :, 1))
  ! end of snippet

  do step = 1, 3
    call fill()
    ! snippet: swap
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)  ! all ranks have used their halos
    call sennit_put_strided_nbi(halo(behind(1), 0, 1), field(1, n, 1), y_face)
    call sennit_put_strided_nbi(halo(before(1), n + 1, 1), field(1, 1, 1), y_face)
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)  ! completes the y faces; the z faces include the corners
    call sennit_put_nbi(halo(behind(2), 0, 0), field(1, 0, n), sennit_bytes(field(:, :, n)))
    call sennit_put_nbi(halo(before(2), 0, n + 1), field(1, 0, 1), sennit_bytes(field(:, :, 1)))
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    ! end of snippet
    wrong = cells_that_are_wrong()
    call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, grid)
    call must_be(wrong == 0, 'every cell of the halo is that of the neighbour')
  end do
  if (sennit_rank() == 0) print '(2(a,i0),a)', 'halos of ', dims(1), ' by ', dims(2), ' ranks are right'

  call detach_all()
  call sennit_deregister(mine)
  deallocate (field)
  call sennit_finalize()
  call MPI_Finalize()

contains

  integer function rank_of(comm)
    type(MPI_Comm), intent(in) :: comm
    call MPI_Comm_rank(comm, rank_of)
  end function rank_of

  ! snippet: place
  ! The address of cell (1, y, z) in a neighbour's field, which has the same shape as this rank's.
  type(sennit_gptr) function halo(neighbour, y, z)
    integer, intent(in) :: neighbour, y, z
    halo = sennit_gptr_add(all(neighbour)%gptr, y * sennit_bytes(field(:, 1, 1)) + z * sennit_bytes(field(:, :, 1)))
  end function halo
  ! end of snippet

  subroutine detach_all()
    integer :: other
    do other = 0, ranks - 1
      if (other /= sennit_rank()) call sennit_region_detach(all(other))
    end do
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  end subroutine detach_all

  ! The value of cell (x, y, z), counted from this rank's cells; the cell may belong to a neighbour.
  real(dp) function value_of(x, y, z)
    integer, intent(in) :: x, y, z
    value_of = step + 10 * x + 1000 * modulo(place(1) * n + y - 1, dims(1) * n) &
               + 1000000 * modulo(place(2) * n + z - 1, dims(2) * n)
  end function value_of

  subroutine fill()
    integer :: x, y, z
    field = -1
    do z = 1, n
      do y = 1, n
        do x = 1, n
          field(x, y, z) = value_of(x, y, z)
        end do
      end do
    end do
  end subroutine fill

  integer function cells_that_are_wrong()
    integer :: x, y, z
    cells_that_are_wrong = 0
    do z = 0, n + 1
      do y = 0, n + 1
        do x = 1, n
          if (abs(field(x, y, z) - value_of(x, y, z)) > 0.5_dp) cells_that_are_wrong = cells_that_are_wrong + 1
        end do
      end do
    end do
  end function cells_that_are_wrong

end program halo_3d
