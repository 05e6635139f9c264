! Prints the path by which each rank reaches each other: a check before the first job on several nodes.
!     mpirun --host node1:2,node2:2 -n 4 where
!     sennit run -n 4 --nodes 2 where
program where_are_they
  use iso_c_binding
  use sennit
  implicit none
  integer(c_int) :: peer

  call sennit_init()
  do peer = 0, sennit_size() - 1
    if (peer /= sennit_rank()) call tell_of(peer)
  end do
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  call sennit_finalize()

contains

  subroutine tell_of(peer)
    integer(c_int), intent(in) :: peer
    integer(c_int) :: path, number, status
    type(sennit_rail) :: rail
    character(len=160) :: why

    call sennit_peer_path(peer, path)
    write (*, '(a,i0,a,i0,2a)', advance='no') 'rank ', sennit_rank(), ' reaches rank ', peer, ' by ', sennit_path_name(path)
    number = 0
    do
      call sennit_peer_rail(peer, number, rail, stat=status)
      if (status /= SENNIT_OK) exit
      if (rail%is_used /= 0) write (*, '(5a)', advance='no') ', ', sennit_string(rail%interface_name), ' (', &
        sennit_string(rail%provider), ')'
      number = number + 1
    end do
    if (path == SENNIT_PATH_NONE) then
      call sennit_peer_path_reason(peer, SENNIT_PATH_FABRIC, why)
      write (*, '(2a)', advance='no') ': ', trim(why)
    end if
    print '(a)', ''
  end subroutine tell_of
end program where_are_they
