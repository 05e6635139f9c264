! A Fortran program with ZCom, as another project might write it: each of two ranks hands its number to the other. With "use mpi"
! instead of mpi_f08 it is a program for sennit_zcom_integer.f90.
program zcom_user
  use iso_c_binding
  use mpi_f08
  use sennit_zcom
  implicit none
  integer(c_int), target, asynchronous :: mine
  integer(c_int), pointer :: theirs
  type(c_ptr) :: attached(1)
  integer(c_int) :: ids(1), err
  integer :: rank, size, code
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, size, code)
  call ZCom_init([c_loc(mine)], [c_sizeof(mine)], MPI_COMM_WORLD, [1 - rank], 1, attached, ids, err)
  if (err /= 0) error stop 'ZCom_init'
  mine = rank
  if (ZCom_can_write(ids(1)) /= 1 .or. ZCom_have_written(ids(1)) /= 1) error stop 'the first message'
  do while (ZCom_can_read(ids(1), err) == 0)
    if (err /= 0) error stop 'ZCom_can_read'
  end do
  call c_f_pointer(attached(1), theirs)
  print '(a,i0,a,i0,a,i0)', 'rank ', rank, ' of ', size, ' found ', theirs
  if (ZCom_have_read(ids(1)) /= 1) error stop 'ZCom_have_read'
  call ZCom_cleanup(ids, 1, MPI_COMM_WORLD, err)
  if (err /= 0) error stop 'ZCom_cleanup'
  call MPI_Finalize(code)
end program zcom_user
