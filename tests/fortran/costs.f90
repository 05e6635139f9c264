! Code shared by the programs that measure calls from C and from Fortran in turn, in one process.
module costs
  use iso_c_binding
  use sennit
  implicit none
  private
  public :: turns_asked_for, head_of_costs, measure, loop, loop_of_c
  integer, parameter :: rounds = 401, dp = c_double

  abstract interface
    function loop(place, word, count) result(status)
      import
      type(sennit_gptr), intent(in) :: place
      integer(c_int64_t), intent(inout) :: word
      integer(c_long), value :: count
      integer(c_int) :: status
    end function loop
    function loop_of_c(place, word, count) bind(C) result(status)
      import
      type(sennit_gptr), intent(in) :: place
      integer(c_int64_t), intent(inout) :: word
      integer(c_long), value :: count
      integer(c_int) :: status
    end function loop_of_c
  end interface

contains

  ! The program's argument: the number of turns of a loop in each round.
  function turns_asked_for() result(turns)
    integer(c_long) :: turns
    character(20) :: argument
    turns = 20000
    call get_command_argument(1, argument)
    if (argument /= ' ') read (argument, *) turns
  end function turns_asked_for

  subroutine head_of_costs()
    print '(a)', 'calls           C ns  Fortran ns  difference    a call'
  end subroutine head_of_costs

  ! Both loops get `place` and `word` and make `count` turns of `together` calls; a result other than 0 means that a call failed.
  ! Rounds are short, because the processor's speed changes.
  subroutine measure(name, together, of_c, of_fortran, place, word, count)
    character(*), intent(in) :: name
    integer, intent(in) :: together
    procedure(loop_of_c) :: of_c
    procedure(loop) :: of_fortran
    type(sennit_gptr), intent(in) :: place
    integer(c_int64_t), intent(inout) :: word
    integer(c_long), intent(in) :: count
    real(dp) :: start, middle, times(rounds, 2), a_call
    integer :: round, failed
    do round = 0, rounds ! the first round warms up
      start = sennit_wtime()
      failed = of_c(place, word, count)
      middle = sennit_wtime()
      if (failed == 0) failed = of_fortran(place, word, count)
      if (failed /= 0) error stop 'a call failed'
      if (round > 0) times(round, :) = [middle - start, sennit_wtime() - middle] * 1e9_dp / real(count, dp)
    end do
    a_call = median(times(:, 2) - times(:, 1)) / together
    print '(a13,f7.2,2f12.2,f10.2,2x,a)', name // repeat(' ', 13), median(times(:, 1)), median(times(:, 2)), a_call * together, &
      a_call, trim(merge('met   ', 'missed', a_call <= 2))
  end subroutine measure

  pure function median(values)
    real(dp), intent(in) :: values(:)
    real(dp) :: median, sorted(size(values)), one
    integer :: i, j
    sorted = values
    do i = 2, size(sorted)
      one = sorted(i)
      do j = i - 1, 1, -1
        if (sorted(j) <= one) exit
        sorted(j + 1) = sorted(j)
      end do
      sorted(j + 1) = one
    end do
    median = sorted((size(sorted) + 1) / 2)
  end function median

end module costs
