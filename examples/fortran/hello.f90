! Who am I, how was I started, and by which path do I reach the others?
!     sennit run -n 4 hello
program hello
  use must
  use sennit
  implicit none
  integer :: rank, size, peer, path

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  call must_be(rank >= 0 .and. rank < size, 'a rank lies between 0 and size - 1')
  print '(a,i0,a,i0,2a)', 'rank ', rank, ' of ', size, ', started by ', sennit_bootstrap_used()
  do peer = 0, size - 1
    call sennit_peer_path(peer, path)
    call must_be((path == SENNIT_PATH_SELF) .eqv. (peer == rank), 'self leads to the caller alone')
    if (peer /= rank) print '(a,i0,a,i0,2a)', 'rank ', rank, ' reaches ', peer, ' by ', sennit_path_name(path)
  end do
  call sennit_finalize()
end program hello
