! Makes a communicator the bootstrap of Sennit, as sennit_mpi.h does in C. Compiled by the program's own MPI compiler, so one
! libsennit serves every MPI. Programs use module sennit_mpi.
!
! A context belongs to the rank from a successful start to its release. The communicator is duplicated, so that messages of Sennit
! never match messages of the program. The duplicate returns errors to Sennit, whichever error handler the program's communicator
! has.
module sennit_mpi_bootstrap
  use iso_c_binding
  use iso_fortran_env, only: error_unit
  use mpi
  use sennit
  implicit none
  private
  public :: sennit_mpi_start, mpi_kind

  ! The kind of integers and logicals in the MPI's module, also if the default kind differs here (-fdefault-integer-8).
  integer, parameter :: mpi_kind = kind(MPI_SUCCESS)

  ! The functions below return this after MPI_Finalize. Error codes of MPI are positive.
  integer(c_int), parameter :: mpi_is_over = -1

  character(kind=c_char, len=16), save, target :: operation = c_char_'sennit_init_mpi' // c_null_char
  character(kind=c_char, len=9), save, target :: operation_of_wait = c_char_'MPI_Test' // c_null_char
  character(kind=c_char, len=4), save, target :: name_of_bootstrap = c_char_'mpi' // c_null_char

  type :: mpi_context
    integer(mpi_kind) :: duplicate = MPI_COMM_NULL
    logical :: is_being_built = .true. ! sennit_init has not returned, so its caller frees the context
    logical :: is_released = .false.
    logical :: is_broken = .false.     ! a call timed out, so MPI may still use the duplicate and its buffers
  end type mpi_context

  interface
    function sched_yield() bind(C, name="sched_yield") result(code)
      import
      integer(c_int) :: code
    end function sched_yield
  end interface

contains

  ! Calls sennit_init with the ranks of the communicator. `status` is the status of Sennit.
  subroutine sennit_mpi_start(comm, options, status)
    integer(mpi_kind), intent(in) :: comm
    type(sennit_options), optional, intent(in) :: options
    integer(c_int), intent(out) :: status
    type(sennit_options) :: mine
    type(sennit_bootstrap), target :: bootstrap
    type(mpi_context), pointer :: context
    integer(mpi_kind) :: code
    if (present(options)) mine = options
    call check_arguments(comm, mine, status)
    if (status /= SENNIT_OK) return
    if (sennit_initialized()) then
      call sennit_init(mine, stat=status)
      return
    end if
    allocate (context, stat=code)
    if (code /= 0) then
      status = sennit_error_report(SENNIT_ERR_NOMEM, operation, 'no memory for the communicator', 0_c_int64_t)
      return
    end if
    call make_bootstrap(comm, limit_of(mine), context, bootstrap, code)
    if (context%is_broken) then
      ! The context is not freed, because MPI may still write into it.
      status = sennit_error_report(SENNIT_ERR_TIMEOUT, operation, 'some rank did not call sennit_init_mpi in time; ' // &
                                   'the limit is SENNIT_INIT_TIMEOUT or options%timeout_ns', 0_c_int64_t)
      return
    end if
    if (code /= MPI_SUCCESS) then
      status = sennit_error_report(SENNIT_ERR_BOOTSTRAP, operation, 'the communicator cannot be duplicated', &
                                   int(code, c_int64_t))
    else
      mine%bootstrap = c_loc(bootstrap)
      call sennit_init(mine, stat=status)
      context%is_being_built = .false.
    end if
    if (status /= SENNIT_OK) then
      call release(c_loc(context))
      deallocate (context)
    end if
  end subroutine sennit_mpi_start

  subroutine check_arguments(comm, options, status)
    integer(mpi_kind), intent(in) :: comm
    type(sennit_options), intent(in) :: options
    integer(c_int), intent(out) :: status
    logical(mpi_kind) :: is_inter
    integer(mpi_kind) :: code
    status = SENNIT_OK
    if (.not. mpi_is_running()) then
      status = sennit_error_report(SENNIT_ERR_STATE, operation, 'MPI is not running', 0_c_int64_t)
    else if (comm == MPI_COMM_NULL) then
      status = sennit_error_report(SENNIT_ERR_ARG, operation, 'comm is MPI_COMM_NULL', 0_c_int64_t)
    else if (c_associated(options%bootstrap)) then
      status = sennit_error_report(SENNIT_ERR_ARG, operation, 'options have a bootstrap already', 0_c_int64_t)
    else
      call MPI_Comm_test_inter(comm, is_inter, code)
      if (code /= MPI_SUCCESS .or. is_inter) &
        status = sennit_error_report(SENNIT_ERR_ARG, operation, 'comm is no intracommunicator', int(code, c_int64_t))
    end if
  end subroutine check_arguments

  ! The time limit of sennit_init, which is also that of the duplication.
  function limit_of(options) result(timeout_ns)
    type(sennit_options), intent(in) :: options
    integer(c_int64_t) :: timeout_ns
    character(:), allocatable :: value
    real(c_double) :: seconds
    integer(mpi_kind) :: code
    timeout_ns = options%timeout_ns
    if (timeout_ns > 0) return
    timeout_ns = SENNIT_FOREVER
    value = value_of('SENNIT_INIT_TIMEOUT')
    read (value, *, iostat=code) seconds
    if (code /= 0) return
    if (seconds > 0 .and. seconds < 1e9_c_double) timeout_ns = int(seconds * 1e9_c_double, c_int64_t)
  end function limit_of

  ! The current value of a knob; empty if there is no such knob.
  function value_of(name) result(value)
    character(*), intent(in) :: name
    character(:), allocatable :: value
    type(sennit_knob) :: knob
    integer(c_int) :: index, status
    value = ''
    do index = 0, huge(index) - 1
      call sennit_knob_get(index, knob, stat=status)
      if (status /= SENNIT_OK) return
      if (sennit_string(knob%name) == name) exit
    end do
    value = sennit_string(knob%value)
  end function value_of

  subroutine make_bootstrap(comm, timeout_ns, context, bootstrap, code)
    integer(mpi_kind), intent(in) :: comm
    integer(c_int64_t), intent(in) :: timeout_ns
    type(mpi_context), pointer, intent(in) :: context
    type(sennit_bootstrap), intent(inout) :: bootstrap
    integer(mpi_kind), intent(out) :: code
    integer(mpi_kind) :: rank, size, request
    ! Not MPI_Comm_dup, which would block without a warning until all ranks call it.
    call MPI_Comm_idup(comm, context%duplicate, request, code)
    if (code == MPI_SUCCESS) code = waited(context, request, timeout_ns)
    if (code /= MPI_SUCCESS) then
      context%is_released = .true.
      return
    end if
    call MPI_Comm_set_errhandler(context%duplicate, MPI_ERRORS_RETURN, code)
    if (code == MPI_SUCCESS) call MPI_Comm_rank(context%duplicate, rank, code)
    if (code == MPI_SUCCESS) call MPI_Comm_size(context%duplicate, size, code)
    if (code /= MPI_SUCCESS) return
    bootstrap%name = c_loc(name_of_bootstrap)
    bootstrap%context = c_loc(context)
    bootstrap%rank = rank
    bootstrap%size = size
    bootstrap%allgather = c_funloc(allgather)
    bootstrap%barrier = c_funloc(barrier)
    bootstrap%release = c_funloc(release_and_free)
  end subroutine make_bootstrap

  ! Whether MPI_Init was called, and MPI_Finalize was not.
  function mpi_is_running() result(is_running)
    logical :: is_running
    logical(mpi_kind) :: started, over
    integer(mpi_kind) :: code
    is_running = .false.
    call MPI_Initialized(started, code)
    if (code /= MPI_SUCCESS) return
    call MPI_Finalized(over, code)
    is_running = code == MPI_SUCCESS .and. started .and. .not. over
  end function mpi_is_running

  ! Waits for a collective call of MPI, which cannot be cancelled.
  function waited(context, request, timeout_ns) result(code)
    type(mpi_context), intent(inout) :: context
    integer(mpi_kind), intent(inout) :: request
    integer(c_int64_t), intent(in) :: timeout_ns
    integer(c_int) :: code
    real(c_double) :: start, next
    logical(mpi_kind) :: is_over
    integer(mpi_kind) :: mpi_code, ignored
    start = sennit_wtime()
    next = 10  ! seconds to the next warning
    do
      call MPI_Test(request, is_over, MPI_STATUS_IGNORE, mpi_code)
      code = mpi_code
      if (code /= MPI_SUCCESS .or. is_over) return
      if ((sennit_wtime() - start) * 1e9_c_double >= real(timeout_ns, c_double)) exit
      if (sennit_wtime() - start >= next) then
        call warn(int(sennit_wtime() - start))
        next = 3 * next
      end if
      ignored = sched_yield()
    end do
    context%is_broken = .true.
    code = sennit_error_report(SENNIT_ERR_TIMEOUT, operation_of_wait, &
                               'some rank has not arrived at the call of the communicator', 0_c_int64_t)
  end function waited

  ! The warning names no rank, because MPI does not reveal the late one.
  subroutine warn(seconds)
    integer, intent(in) :: seconds
    character(:), allocatable :: level
    level = value_of('SENNIT_LOG')
    if (level == 'none' .or. level == 'error') return
    write (error_unit, '(a, i0, a)') 'sennit: warning: this rank has waited ', seconds, ' s for ranks that have not arrived ' // &
      'at the call of the communicator, such as sennit_init_mpi; SENNIT_INIT_TIMEOUT sets a limit'
  end subroutine warn

  function allgather(place, mine, all, bytes, timeout_ns) bind(C) result(code)
    type(c_ptr), value :: place, mine, all
    integer(c_size_t), value :: bytes
    integer(c_int64_t), value :: timeout_ns
    integer(c_int) :: code
    type(mpi_context), pointer :: context
    integer(c_int8_t), pointer, contiguous :: given(:), gathered(:)
    ! Own buffers, because a call that has timed out still uses them.
    integer(c_int8_t), pointer, contiguous, asynchronous :: one(:), every(:)
    integer(mpi_kind) :: size, count, request, mpi_code
    call c_f_pointer(place, context)
    code = may_call(context)
    if (code /= MPI_SUCCESS) return
    code = MPI_ERR_COUNT
    if (bytes > huge(0_mpi_kind)) return
    call MPI_Comm_size(context%duplicate, size, mpi_code)
    code = mpi_code
    if (code /= MPI_SUCCESS) return
    code = MPI_ERR_NO_MEM
    allocate (one(bytes), every(bytes * size), stat=mpi_code)
    if (mpi_code /= 0) return
    call c_f_pointer(mine, given, [bytes])
    one = given
    count = int(bytes, mpi_kind)
    call MPI_Iallgather(one, count, MPI_BYTE, every, count, MPI_BYTE, context%duplicate, request, mpi_code)
    code = mpi_code
    if (code == MPI_SUCCESS) code = waited(context, request, timeout_ns)
    if (code == MPI_SUCCESS) then
      call c_f_pointer(all, gathered, [bytes * size])
      gathered = every
    end if
    if (.not. context%is_broken) deallocate (one, every)
  end function allgather

  function barrier(place, timeout_ns) bind(C) result(code)
    type(c_ptr), value :: place
    integer(c_int64_t), value :: timeout_ns
    integer(c_int) :: code
    type(mpi_context), pointer :: context
    integer(mpi_kind) :: request, mpi_code
    call c_f_pointer(place, context)
    code = may_call(context)
    if (code /= MPI_SUCCESS) return
    call MPI_Ibarrier(context%duplicate, request, mpi_code)
    code = mpi_code
    if (code == MPI_SUCCESS) code = waited(context, request, timeout_ns)
  end function barrier

  ! Returns MPI_SUCCESS if the duplicate can still be used.
  function may_call(context) result(code)
    type(mpi_context), intent(in) :: context
    integer(c_int) :: code
    code = MPI_SUCCESS
    if (.not. mpi_is_running()) then
      code = mpi_is_over
    else if (context%is_broken) then
      code = MPI_ERR_COMM
    end if
  end function may_call

  subroutine release(place) bind(C)
    type(c_ptr), value :: place
    type(mpi_context), pointer :: context
    integer(mpi_kind) :: code
    call c_f_pointer(place, context)
    if (.not. context%is_released .and. .not. context%is_broken) then
      if (mpi_is_running()) call MPI_Comm_free(context%duplicate, code)
    end if
    context%is_released = .true.
  end subroutine release

  ! Called by Sennit at its end.
  subroutine release_and_free(place) bind(C)
    type(c_ptr), value :: place
    type(mpi_context), pointer :: context
    call release(place)
    call c_f_pointer(place, context)
    if (.not. context%is_being_built) deallocate (context)
  end subroutine release_and_free

end module sennit_mpi_bootstrap
