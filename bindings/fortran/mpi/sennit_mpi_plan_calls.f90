! The calls of sennit_mpi_plan.h with integers as handles of MPI. Programs use module sennit_mpi_plan, which exports them.
! sennit_mpi_plan_handles.c, which the C compiler of the same MPI compiles, reads the datatypes.
module sennit_mpi_plan_calls
  use iso_c_binding
  use mpi, only: MPI_BOTTOM, MPI_IN_PLACE, MPI_SUCCESS
  use sennit
  use sennit_text, only: sennit_end_of_call, sennit_refuse
  implicit none
  private
  public :: sennit_message_plan
  public :: sennit_message_plan_commit, sennit_message_plan_start, sennit_message_plan_wait, sennit_message_plan_test
  public :: sennit_message_plan_destroy, sennit_message_plan_twin, sennit_message_plan_open, sennit_message_plan_be_strict
  public :: message_plan_create, message_plan_use, plan_isend, plan_irecv, plan_sendrecv, plan_alltoall, plan_alltoallv
  public :: plan_neighbor_alltoallv, plan_marks

  ! The kind of integers and logicals in the MPI's module, also if the default kind differs here (-fdefault-integer-8).
  integer, parameter :: mpi_kind = kind(MPI_SUCCESS)

  ! A plan from MPI calls. A null state is no plan.
  type, bind(C) :: sennit_message_plan
    type(c_ptr) :: state = c_null_ptr
  end type sennit_message_plan

  ! The addresses of MPI_BOTTOM and MPI_IN_PLACE in the program's MPI module, if that is not the module used here.
  type(c_ptr), save :: bottom = c_null_ptr, in_place = c_null_ptr

  interface sennit_message_plan_twin
    module procedure twin_int, twin_size
  end interface sennit_message_plan_twin
  interface sennit_message_plan_commit
    module procedure commit_int, commit_long
  end interface sennit_message_plan_commit
  interface sennit_message_plan_wait
    module procedure wait_int, wait_long
  end interface sennit_message_plan_wait

  interface
    function c_in_place() bind(C, name="sennit_message_plan_in_place_f") result(mark)
      import
      type(c_ptr) :: mark
    end function c_in_place
    function c_create(comm, plan) bind(C, name="sennit_message_plan_create_f") result(status)
      import
      integer(c_int), value :: comm
      type(sennit_message_plan), intent(inout) :: plan
      integer(c_int) :: status
    end function c_create
    function c_use(plan, comm) bind(C, name="sennit_message_plan_use_f") result(status)
      import
      type(c_ptr), value :: plan
      integer(c_int), value :: comm
      integer(c_int) :: status
    end function c_use
    function c_commit(plan, timeout_ns) bind(C, name="sennit_message_plan_commit_f") result(status)
      import
      type(c_ptr), value :: plan
      integer(c_int64_t), value :: timeout_ns
      integer(c_int) :: status
    end function c_commit
    function c_twin(plan, first, second, bytes, twin) bind(C, name="sennit_message_plan_twin_f") result(status)
      import
      type(c_ptr), value :: plan, first, second
      integer(c_size_t), value :: bytes
      type(sennit_message_plan), intent(inout) :: twin
      integer(c_int) :: status
    end function c_twin
    function c_open(plan) bind(C, name="sennit_message_plan_open_f") result(status)
      import
      type(c_ptr), value :: plan
      integer(c_int) :: status
    end function c_open
    function c_be_strict(plan) bind(C, name="sennit_message_plan_be_strict_f") result(status)
      import
      type(c_ptr), value :: plan
      integer(c_int) :: status
    end function c_be_strict
    function c_start(plan) bind(C, name="sennit_message_plan_start_f") result(status)
      import
      type(c_ptr), value :: plan
      integer(c_int) :: status
    end function c_start
    function c_wait(plan, timeout_ns) bind(C, name="sennit_message_plan_wait_f") result(status)
      import
      type(c_ptr), value :: plan
      integer(c_int64_t), value :: timeout_ns
      integer(c_int) :: status
    end function c_wait
    function c_test(plan, is_over) bind(C, name="sennit_message_plan_test_f") result(status)
      import
      type(c_ptr), value :: plan
      integer(c_int), intent(inout) :: is_over
      integer(c_int) :: status
    end function c_test
    function c_destroy(plan) bind(C, name="sennit_message_plan_destroy_f") result(status)
      import
      type(sennit_message_plan), intent(inout) :: plan
      integer(c_int) :: status
    end function c_destroy
    function c_isend(plan, buffer, count, type, dest, tag, comm, sent, exchange) bind(C, name="sennit_plan_isend_f") &
      result(status)
      import
      type(c_ptr), value :: plan, buffer
      integer(c_int), value :: count, type, dest, tag, comm
      type(sennit_signal), value :: sent
      integer(c_int), optional, intent(inout) :: exchange
      integer(c_int) :: status
    end function c_isend
    function c_irecv(plan, buffer, count, type, source, tag, comm, arrived, exchange) bind(C, name="sennit_plan_irecv_f") &
      result(status)
      import
      type(c_ptr), value :: plan, buffer
      integer(c_int), value :: count, type, source, tag, comm
      type(sennit_signal), value :: arrived
      integer(c_int), optional, intent(inout) :: exchange
      integer(c_int) :: status
    end function c_irecv
    function c_sendrecv(plan, send_buffer, send_count, send_type, dest, send_tag, receive_buffer, receive_count, receive_type, &
                        source, receive_tag, comm, sent, arrived) bind(C, name="sennit_plan_sendrecv_f") result(status)
      import
      type(c_ptr), value :: plan, send_buffer, receive_buffer
      integer(c_int), value :: send_count, send_type, dest, send_tag, receive_count, receive_type, source, receive_tag, comm
      type(sennit_signal), value :: sent, arrived
      integer(c_int) :: status
    end function c_sendrecv
    function c_alltoall(plan, send_buffer, send_count, send_type, receive_buffer, receive_count, receive_type, comm, sent, &
                        arrived) bind(C, name="sennit_plan_alltoall_f") result(status)
      import
      type(c_ptr), value :: plan, send_buffer, receive_buffer
      integer(c_int), value :: send_count, send_type, receive_count, receive_type, comm
      type(sennit_signal), value :: sent, arrived
      integer(c_int) :: status
    end function c_alltoall
    function c_alltoallv(plan, send_buffer, send_counts, send_places, send_type, receive_buffer, receive_counts, &
                         receive_places, receive_type, comm, sent, arrived) bind(C, name="sennit_plan_alltoallv_f") &
      result(status)
      import
      type(c_ptr), value :: plan, send_buffer, receive_buffer
      integer(c_int), intent(in) :: send_counts(*), send_places(*), receive_counts(*), receive_places(*)
      integer(c_int), value :: send_type, receive_type, comm
      type(sennit_signal), value :: sent, arrived
      integer(c_int) :: status
    end function c_alltoallv
    function c_neighbor_alltoallv(plan, send_buffer, send_counts, send_places, send_type, receive_buffer, receive_counts, &
                                  receive_places, receive_type, comm, sent, arrived) &
      bind(C, name="sennit_plan_neighbor_alltoallv_f") result(status)
      import
      type(c_ptr), value :: plan, send_buffer, receive_buffer
      integer(c_int), intent(in) :: send_counts(*), send_places(*), receive_counts(*), receive_places(*)
      integer(c_int), value :: send_type, receive_type, comm
      type(sennit_signal), value :: sent, arrived
      integer(c_int) :: status
    end function c_neighbor_alltoallv
  end interface

contains

  function place_of(variable) result(place)
    type(*), dimension(..), intent(in), target, asynchronous :: variable
    type(c_ptr) :: place
    place = c_loc(variable)
  end function place_of

  ! Sets the addresses of MPI_BOTTOM and MPI_IN_PLACE of the program's MPI module.
  subroutine plan_marks(its_bottom, its_in_place)
    type(*), dimension(..), intent(in), target, asynchronous :: its_bottom, its_in_place
    bottom = place_of(its_bottom)
    in_place = place_of(its_in_place)
  end subroutine plan_marks

  ! The address of a buffer: null for MPI_BOTTOM, C's MPI_IN_PLACE for that of Fortran. is_whole becomes false if the buffer is not
  ! contiguous.
  function buffer_at(buffer, is_whole) result(place)
    type(*), dimension(..), intent(in), target, asynchronous :: buffer
    logical, intent(inout) :: is_whole
    type(c_ptr) :: place
    if (rank(buffer) > 0) then
      if (.not. is_contiguous(buffer)) is_whole = is_whole .and. size(buffer) <= 1
    end if
    place = c_loc(buffer)
    if (c_associated(place, place_of(MPI_BOTTOM)) .or. c_associated(place, bottom)) then
      place = c_null_ptr
    else if (c_associated(place, place_of(MPI_IN_PLACE)) .or. c_associated(place, in_place)) then
      place = c_in_place()
    end if
  end function buffer_at

  subroutine message_plan_create(comm, plan, stat)
    integer(mpi_kind), intent(in) :: comm
    type(sennit_message_plan), intent(inout) :: plan
    integer(c_int), optional, intent(out) :: stat
    call sennit_end_of_call(c_create(comm, plan), stat)
  end subroutine message_plan_create

  subroutine message_plan_use(plan, comm, stat)
    type(sennit_message_plan), intent(in) :: plan
    integer(mpi_kind), intent(in) :: comm
    integer(c_int), optional, intent(out) :: stat
    call sennit_end_of_call(c_use(plan%state, comm), stat)
  end subroutine message_plan_use

  subroutine twin_size(plan, first, second, bytes, twin, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), intent(in), target, asynchronous :: first, second
    integer(c_size_t), value :: bytes
    type(sennit_message_plan), intent(inout) :: twin
    integer(c_int), optional, intent(out) :: stat
    character(kind=c_char, len=25), save, target :: operation = c_char_'sennit_message_plan_twin' // c_null_char
    type(c_ptr) :: from, to
    integer(c_int) :: status
    logical :: is_whole
    is_whole = .true.
    from = buffer_at(first, is_whole)
    to = buffer_at(second, is_whole)
    if (is_whole) then
      status = c_twin(plan%state, from, to, bytes, twin)
    else
      status = sennit_refuse(c_loc(operation))
    end if
    call sennit_end_of_call(status, stat)
  end subroutine twin_size

  subroutine twin_int(plan, first, second, bytes, twin, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), intent(in), target, asynchronous :: first, second
    integer(c_int), value :: bytes
    type(sennit_message_plan), intent(inout) :: twin
    integer(c_int), optional, intent(out) :: stat
    call twin_size(plan, first, second, int(bytes, c_size_t), twin, stat)
  end subroutine twin_int

  subroutine sennit_message_plan_open(plan, stat)
    type(sennit_message_plan), intent(in) :: plan
    integer(c_int), optional, intent(out) :: stat
    call sennit_end_of_call(c_open(plan%state), stat)
  end subroutine sennit_message_plan_open

  subroutine sennit_message_plan_be_strict(plan, stat)
    type(sennit_message_plan), intent(in) :: plan
    integer(c_int), optional, intent(out) :: stat
    call sennit_end_of_call(c_be_strict(plan%state), stat)
  end subroutine sennit_message_plan_be_strict

  subroutine commit_long(plan, timeout_ns, stat)
    type(sennit_message_plan), intent(in) :: plan
    integer(c_int64_t), value :: timeout_ns
    integer(c_int), optional, intent(out) :: stat
    call sennit_end_of_call(c_commit(plan%state, timeout_ns), stat)
  end subroutine commit_long

  subroutine commit_int(plan, timeout_ns, stat)
    type(sennit_message_plan), intent(in) :: plan
    integer(c_int), value :: timeout_ns
    integer(c_int), optional, intent(out) :: stat
    call commit_long(plan, int(timeout_ns, c_int64_t), stat)
  end subroutine commit_int

  subroutine sennit_message_plan_start(plan, stat)
    type(sennit_message_plan), intent(in) :: plan
    integer(c_int), optional, intent(out) :: stat
    call sennit_end_of_call(c_start(plan%state), stat)
  end subroutine sennit_message_plan_start

  subroutine wait_long(plan, timeout_ns, stat)
    type(sennit_message_plan), intent(in) :: plan
    integer(c_int64_t), value :: timeout_ns
    integer(c_int), optional, intent(out) :: stat
    call sennit_end_of_call(c_wait(plan%state, timeout_ns), stat)
  end subroutine wait_long

  subroutine wait_int(plan, timeout_ns, stat)
    type(sennit_message_plan), intent(in) :: plan
    integer(c_int), value :: timeout_ns
    integer(c_int), optional, intent(out) :: stat
    call wait_long(plan, int(timeout_ns, c_int64_t), stat)
  end subroutine wait_int

  subroutine sennit_message_plan_test(plan, is_over, stat)
    type(sennit_message_plan), intent(in) :: plan
    logical(mpi_kind), intent(inout) :: is_over
    integer(c_int), optional, intent(out) :: stat
    integer(c_int) :: status, over
    over = 0
    status = c_test(plan%state, over)
    if (status == SENNIT_OK) is_over = over /= 0
    call sennit_end_of_call(status, stat)
  end subroutine sennit_message_plan_test

  subroutine sennit_message_plan_destroy(plan, stat)
    type(sennit_message_plan), intent(inout) :: plan
    integer(c_int), optional, intent(out) :: stat
    call sennit_end_of_call(c_destroy(plan), stat)
  end subroutine sennit_message_plan_destroy

  subroutine plan_isend(plan, buffer, count, type, dest, tag, comm, sent, exchange, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), intent(in), target, asynchronous :: buffer
    integer(c_int), value :: count, type, dest, tag, comm
    type(sennit_signal), intent(in) :: sent
    integer(mpi_kind), optional, intent(inout) :: exchange
    integer(c_int), optional, intent(out) :: stat
    character(kind=c_char, len=18), save, target :: operation = c_char_'sennit_plan_isend' // c_null_char
    type(c_ptr) :: place
    integer(c_int) :: status
    logical :: is_whole
    is_whole = .true.
    place = buffer_at(buffer, is_whole)
    if (is_whole) then
      status = c_isend(plan%state, place, count, type, dest, tag, comm, sent, exchange)
    else
      status = sennit_refuse(c_loc(operation))
    end if
    call sennit_end_of_call(status, stat)
  end subroutine plan_isend

  subroutine plan_irecv(plan, buffer, count, type, source, tag, comm, arrived, exchange, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), target, asynchronous :: buffer
    integer(c_int), value :: count, type, source, tag, comm
    type(sennit_signal), intent(in) :: arrived
    integer(mpi_kind), optional, intent(inout) :: exchange
    integer(c_int), optional, intent(out) :: stat
    character(kind=c_char, len=18), save, target :: operation = c_char_'sennit_plan_irecv' // c_null_char
    type(c_ptr) :: place
    integer(c_int) :: status
    logical :: is_whole
    is_whole = .true.
    place = buffer_at(buffer, is_whole)
    if (is_whole) then
      status = c_irecv(plan%state, place, count, type, source, tag, comm, arrived, exchange)
    else
      status = sennit_refuse(c_loc(operation))
    end if
    call sennit_end_of_call(status, stat)
  end subroutine plan_irecv

  subroutine plan_sendrecv(plan, send_buffer, send_count, send_type, dest, send_tag, receive_buffer, receive_count, &
                           receive_type, source, receive_tag, comm, sent, arrived, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), intent(in), target, asynchronous :: send_buffer
    integer(c_int), value :: send_count, send_type, dest, send_tag
    type(*), dimension(..), target, asynchronous :: receive_buffer
    integer(c_int), value :: receive_count, receive_type, source, receive_tag, comm
    type(sennit_signal), intent(in) :: sent, arrived
    integer(c_int), optional, intent(out) :: stat
    character(kind=c_char, len=21), save, target :: operation = c_char_'sennit_plan_sendrecv' // c_null_char
    type(c_ptr) :: from, to
    integer(c_int) :: status
    logical :: is_whole
    is_whole = .true.
    from = buffer_at(send_buffer, is_whole)
    to = buffer_at(receive_buffer, is_whole)
    if (is_whole) then
      status = c_sendrecv(plan%state, from, send_count, send_type, dest, send_tag, to, receive_count, receive_type, source, &
                          receive_tag, comm, sent, arrived)
    else
      status = sennit_refuse(c_loc(operation))
    end if
    call sennit_end_of_call(status, stat)
  end subroutine plan_sendrecv

  subroutine plan_alltoall(plan, send_buffer, send_count, send_type, receive_buffer, receive_count, receive_type, comm, sent, &
                           arrived, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), intent(in), target, asynchronous :: send_buffer
    integer(c_int), value :: send_count, send_type
    type(*), dimension(..), target, asynchronous :: receive_buffer
    integer(c_int), value :: receive_count, receive_type, comm
    type(sennit_signal), intent(in) :: sent, arrived
    integer(c_int), optional, intent(out) :: stat
    character(kind=c_char, len=21), save, target :: operation = c_char_'sennit_plan_alltoall' // c_null_char
    type(c_ptr) :: from, to
    integer(c_int) :: status
    logical :: is_whole
    is_whole = .true.
    from = buffer_at(send_buffer, is_whole)
    to = buffer_at(receive_buffer, is_whole)
    if (is_whole) then
      status = c_alltoall(plan%state, from, send_count, send_type, to, receive_count, receive_type, comm, sent, arrived)
    else
      status = sennit_refuse(c_loc(operation))
    end if
    call sennit_end_of_call(status, stat)
  end subroutine plan_alltoall

  subroutine plan_alltoallv(plan, send_buffer, send_counts, send_places, send_type, receive_buffer, receive_counts, &
                            receive_places, receive_type, comm, sent, arrived, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), intent(in), target, asynchronous :: send_buffer
    integer(c_int), intent(in) :: send_counts(*), send_places(*)
    integer(c_int), value :: send_type
    type(*), dimension(..), target, asynchronous :: receive_buffer
    integer(c_int), intent(in) :: receive_counts(*), receive_places(*)
    integer(c_int), value :: receive_type, comm
    type(sennit_signal), intent(in) :: sent, arrived
    integer(c_int), optional, intent(out) :: stat
    character(kind=c_char, len=22), save, target :: operation = c_char_'sennit_plan_alltoallv' // c_null_char
    type(c_ptr) :: from, to
    integer(c_int) :: status
    logical :: is_whole
    is_whole = .true.
    from = buffer_at(send_buffer, is_whole)
    to = buffer_at(receive_buffer, is_whole)
    if (is_whole) then
      status = c_alltoallv(plan%state, from, send_counts, send_places, send_type, to, receive_counts, receive_places, &
                           receive_type, comm, sent, arrived)
    else
      status = sennit_refuse(c_loc(operation))
    end if
    call sennit_end_of_call(status, stat)
  end subroutine plan_alltoallv

  subroutine plan_neighbor_alltoallv(plan, send_buffer, send_counts, send_places, send_type, receive_buffer, receive_counts, &
                                     receive_places, receive_type, comm, sent, arrived, stat)
    type(sennit_message_plan), intent(in) :: plan
    type(*), dimension(..), intent(in), target, asynchronous :: send_buffer
    integer(c_int), intent(in) :: send_counts(*), send_places(*)
    integer(c_int), value :: send_type
    type(*), dimension(..), target, asynchronous :: receive_buffer
    integer(c_int), intent(in) :: receive_counts(*), receive_places(*)
    integer(c_int), value :: receive_type, comm
    type(sennit_signal), intent(in) :: sent, arrived
    integer(c_int), optional, intent(out) :: stat
    character(kind=c_char, len=31), save, target :: operation = c_char_'sennit_plan_neighbor_alltoallv' // c_null_char
    type(c_ptr) :: from, to
    integer(c_int) :: status
    logical :: is_whole
    is_whole = .true.
    from = buffer_at(send_buffer, is_whole)
    to = buffer_at(receive_buffer, is_whole)
    if (is_whole) then
      status = c_neighbor_alltoallv(plan%state, from, send_counts, send_places, send_type, to, receive_counts, &
                                    receive_places, receive_type, comm, sent, arrived)
    else
      status = sennit_refuse(c_loc(operation))
    end if
    call sennit_end_of_call(status, stat)
  end subroutine plan_neighbor_alltoallv

end module sennit_mpi_plan_calls
