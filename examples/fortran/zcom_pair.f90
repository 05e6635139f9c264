! Rank 0 hands a number to every other rank without a copy, and gets one back: what zcom_pair.c does by the names of ZCom, by
! Sennit's own. The buffers are arrays of the program. Where a peer's memory can not be mapped, the pointer is to a copy.
!     mpirun -n 4 zcom_pair
program zcom_pair
  use iso_c_binding
  use mpi_f08
  use must
  use sennit
  use sennit_mpi
  implicit none
  integer, parameter :: elements = 256
  integer(c_int), target, allocatable :: own(:, :), targets(:)
  integer(c_size_t), target, allocatable :: bytes(:)
  type(c_ptr), target, allocatable :: buffers(:)
  type(c_ptr), allocatable :: peers(:)
  type(sennit_channel), allocatable :: channels(:)
  integer :: rank, count, i

  call MPI_Init()
  call sennit_init_mpi(MPI_COMM_WORLD)
  rank = sennit_rank()
  count = sennit_size() - 1

  ! Everybody but the caller itself.
  allocate (own(elements, count), bytes(count), buffers(count), peers(count), channels(count))
  targets = [(merge(i - 1, i, i <= rank), i = 1, count)]
  bytes = 4 * elements
  buffers = [(c_loc(own(1, i)), i = 1, count)]
  call sennit_channel_open(SENNIT_TEAM_WORLD, sennit_channel_ends_of(count, targets, buffers, bytes), &
                           ior(SENNIT_CHANNEL_MIRROR, SENNIT_CHANNEL_PULL), SENNIT_FOREVER, peers, channels)

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

  call sennit_channel_close(channels, count, SENNIT_FOREVER)
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  if (rank == 0) print '(i0,a)', count, ' numbers handed over and answered'
  call sennit_finalize()
  call MPI_Finalize()

contains

  subroutine hand_over(i)
    integer, intent(in) :: i
    call sennit_channel_wait_write(channels(i), SENNIT_FOREVER)
    own(1, i) = 100 * rank + targets(i) + 1
    call sennit_channel_have_written(channels(i))
  end subroutine hand_over

  subroutine take(i)
    integer, intent(in) :: i
    integer(c_int), pointer, contiguous :: theirs(:)
    call sennit_channel_wait_read(channels(i), SENNIT_FOREVER)
    call sennit_pointer(peers(i), theirs, [elements])
    call must_be(theirs(1) == 100 * targets(i) + rank + 1, 'the number of the other')
    call sennit_channel_have_read(channels(i))
  end subroutine take

end program zcom_pair
