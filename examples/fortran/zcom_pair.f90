! The calls of ZCom with their own names, as in zcom_pair.c: rank 0 hands a number to every other rank without a copy,
! and gets one back. The buffers are arrays of the program.
!     mpirun -n 4 zcom_pair
program zcom_pair
  use iso_c_binding
  use mpi_f08
  use must
  use sennit_zcom
  implicit none
  integer, parameter :: elements = 256
  integer(c_int), target, allocatable :: own(:, :)
  integer(c_int), allocatable :: targets(:), ids(:)
  integer(c_size_t), allocatable :: sizes(:)
  type(c_ptr), allocatable :: buffers(:), attached(:)
  integer(c_int) :: err, done
  integer :: rank, ranks, count, i

  interface
    function sched_yield() bind(C, name="sched_yield") result(code)
      import
      integer(c_int) :: code
    end function sched_yield
  end interface

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  ! All ranks except the caller.
  count = ranks - 1
  allocate (own(elements, count), sizes(count), buffers(count), attached(count), ids(count))
  targets = [(merge(i - 1, i, i <= rank), i = 1, count)]
  sizes = 4 * elements
  buffers = [(c_loc(own(1, i)), i = 1, count)]
  call ZCom_init(buffers, sizes, MPI_COMM_WORLD, targets, count, attached, ids, err)
  call must_be(err == 0, 'ZCom_init')

  ! Rank 0 writes first and reads the answer; the others answer rank 0.
  do i = 1, count
    if (rank == 0) then
      call hand_over(i)
      call take(i)
    else if (targets(i) == 0) then
      call take(i)
      call hand_over(i)
    end if
  end do

  call ZCom_cleanup(ids, count, MPI_COMM_WORLD, err)
  call must_be(err == 0, 'ZCom_cleanup')
  if (rank == 0) print '(i0,a)', count, ' numbers handed over and answered'
  call MPI_Finalize()

contains

  subroutine hand_over(i)
    integer, intent(in) :: i
    do while (ZCom_can_write(ids(i), err) == 0)
      call must_be(err == 0, 'ZCom_can_write')
      done = sched_yield()
    end do
    own(1, i) = 100 * rank + targets(i) + 1
    done = ZCom_have_written(ids(i), err)
    call must_be(done == 1, 'ZCom_have_written')
  end subroutine hand_over

  subroutine take(i)
    integer, intent(in) :: i
    integer(c_int), pointer :: theirs(:)
    do while (ZCom_can_read(ids(i), err) == 0)
      call must_be(err == 0, 'ZCom_can_read')
      done = sched_yield()
    end do
    call c_f_pointer(attached(i), theirs, [elements])
    call must_be(theirs(1) == 100 * targets(i) + rank + 1, 'the number of the other')
    done = ZCom_have_read(ids(i), err)
    call must_be(done == 1, 'ZCom_have_read')
  end subroutine take

end program zcom_pair
