! Makes the mistake that its argument names, without stat: the program must end with the error's message.
program stops
  use iso_c_binding
  use sennit
  implicit none
  character(20) :: mistake
  integer, asynchronous :: table(4, 4)
  integer, pointer :: numbers(:)
  type(sennit_gptr) :: place
  type(sennit_request) :: request
  call get_command_argument(1, mistake)
  if (mistake == 'init') call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  if (mistake == 'paths') call sennit_init(paths='no such path')
  call sennit_init()
  call sennit_alloc_local(16, 0, 0, place)
  table = 0
  select case (mistake)
  case ('range')
    call sennit_put(place, table, 64)
  case ('section')
    call sennit_put_nb(place, table(1, :), 16, request)
  case ('stop')
    if (sennit_rank() == 0) stop
    call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  case ('pointer')
    call sennit_free(place)
    call sennit_pointer(place, numbers, [4])
  end select
  print '(a)', 'went on'
end program stops
