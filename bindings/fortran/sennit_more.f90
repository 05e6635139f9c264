! Written by hand: constants and functions that are macros and inline functions in C, and the calls whose Fortran form does not
! follow the rules of the generator.
module sennit_more
  use iso_c_binding
  use sennit_types
  use sennit_c
  use sennit_text
  implicit none
  private

  integer(c_int64_t), parameter, public :: SENNIT_FOREVER = huge(0_c_int64_t)
  integer(c_int), parameter, public :: SENNIT_COLOR_NONE = -1
  integer(c_int), parameter, public :: SENNIT_RANK_NONE = -1
  integer(c_int), parameter, public :: SENNIT_STATS_SEVERAL = -1
  integer(c_int), parameter, public :: SENNIT_ALLOC_RESERVE = 1
  integer(c_int), parameter, public :: SENNIT_ALLOC_HUGE = 2
  integer(c_int), parameter, public :: SENNIT_ALLOC_ACCUMULATE = 4
  integer(c_int), parameter, public :: SENNIT_CHANNEL_MIRROR = 1
  integer(c_int), parameter, public :: SENNIT_CHANNEL_PULL = 2
  integer(c_int), parameter, public :: SENNIT_CHANNEL_NOT_READY = 4
  integer(c_int), parameter, public :: SENNIT_CHANNEL_AHEAD_MOST = 128
  type(sennit_channel), parameter, public :: SENNIT_CHANNEL_NULL = sennit_channel()
  integer(c_int), parameter, public :: SENNIT_SIGNAL_STRICT = 1
  integer(c_int), parameter, public :: SENNIT_SIGNAL_UNCHECKED = 2
  type(sennit_signal), parameter, public :: SENNIT_SIGNAL_NULL = sennit_signal()
  type(sennit_waitset), parameter, public :: SENNIT_WAITSET_NULL = sennit_waitset()
  type(sennit_block), parameter, public :: SENNIT_BLOCK_NULL = sennit_block()
  type(sennit_peer_block), parameter, public :: SENNIT_PEER_BLOCK_NULL = sennit_peer_block()
  type(sennit_queue), parameter, public :: SENNIT_QUEUE_NULL = sennit_queue()
  type(sennit_producer), parameter, public :: SENNIT_PRODUCER_NULL = sennit_producer()
  type(sennit_plan), parameter, public :: SENNIT_PLAN_NULL = sennit_plan()
  integer(c_int64_t), parameter, public :: SENNIT_EPOCH_NEXT = -1_c_int64_t
  integer(c_int64_t), parameter, public :: SENNIT_EPOCH_CURRENT = -2_c_int64_t
  integer(c_int), parameter, public :: SENNIT_REGISTER_SHARED_PAGES = 1
  integer(c_int), parameter, public :: SENNIT_REGISTER_STACK = 2
  type(sennit_gptr), parameter, public :: SENNIT_GPTR_NULL = sennit_gptr()
  type(sennit_region), parameter, public :: SENNIT_REGION_NULL = sennit_region()
  type(sennit_request), parameter, public :: SENNIT_REQUEST_NULL = sennit_request()
  type(sennit_group), parameter, public :: SENNIT_GROUP_NULL = sennit_group()
  type(sennit_lock), parameter, public :: SENNIT_LOCK_NULL = sennit_lock()
  type(sennit_team), parameter, public :: SENNIT_TEAM_NULL = sennit_team()
  type(sennit_team), parameter, public :: SENNIT_TEAM_WORLD = sennit_team(1)
  type(sennit_team), parameter, public :: SENNIT_TEAM_NODE = sennit_team(2)

  public :: sennit_init, sennit_last_error, sennit_last_error_text, sennit_error_report, sennit_log_set, sennit_trace_note
  public :: sennit_bootstrap_describe, sennit_wait_any, sennit_gptr_add, sennit_gptr_at, sennit_gptr_is_null
  public :: sennit_block_is_null
  public :: sennit_box_line, sennit_reduction_of, sennit_reduction_by, sennit_vbuffer_of
  public :: sennit_combine, sennit_log_function, sennit_condition, sennit_wait_until, operator(==), operator(/=)
  public :: sennit_region_check, sennit_channel_ends_of, sennit_channel_ahead, sennit_channel_close

  abstract interface
    ! result(i) = left(i) op right(i) for count elements. The addresses become arrays by c_f_pointer.
    subroutine sennit_combine(left, right, result, count, context) bind(C)
      import
      type(c_ptr), value :: left, right, result
      integer(c_size_t), value :: count
      type(c_ptr), value :: context
    end subroutine sennit_combine

    ! Receives one line of the log: sennit_string(text). Several threads may call it at the same time.
    subroutine sennit_log_function(context, level, text) bind(C)
      import
      type(c_ptr), value :: context
      integer(c_int), value :: level
      type(c_ptr), value :: text
    end subroutine sennit_log_function

    ! Returns not 0 if the awaited condition holds. Variables that other ranks change must be volatile in it.
    function sennit_condition(context) bind(C) result(holds)
      import
      type(c_ptr), value :: context
      integer(c_int) :: holds
    end function sennit_condition
  end interface

  ! Handles and global pointers are equal if they name the same object or place.
  interface operator(==)
    module procedure is_same_team, is_same_group, is_same_request, is_same_lock, is_same_gptr, is_same_channel, &
                     is_same_signal, is_same_waitset, is_same_peer_block, is_same_plan, &
                     is_same_queue, is_same_producer
  end interface operator(==)
  interface operator(/=)
    module procedure is_other_team, is_other_group, is_other_request, is_other_lock, is_other_gptr, is_other_channel, &
                     is_other_signal, is_other_waitset, is_other_peer_block, is_other_plan, &
                     is_other_queue, is_other_producer
  end interface operator(/=)

  interface sennit_wait_any
    module procedure wait_any_int_int, wait_any_int_long, wait_any_size_int, wait_any_size_long
  end interface sennit_wait_any
  ! Closes one channel; the form for several is in sennit_calls.
  interface sennit_channel_close
    module procedure channel_close_one_int, channel_close_one_long
  end interface sennit_channel_close
  interface sennit_wait_until
    module procedure wait_until_int, wait_until_long
  end interface sennit_wait_until
  interface sennit_gptr_at
    module procedure gptr_at_int, gptr_at_long
  end interface sennit_gptr_at
  interface sennit_gptr_add
    module procedure gptr_add_int, gptr_add_long
  end interface sennit_gptr_add
  interface sennit_box_line ! sennit_calls has the other kinds
    module procedure box_line_long
  end interface sennit_box_line
  interface sennit_reduction_of
    module procedure reduction_of_int, reduction_of_size
  end interface sennit_reduction_of
  interface sennit_channel_ends_of
    module procedure channel_ends_of_int, channel_ends_of_size
  end interface sennit_channel_ends_of
  interface sennit_reduction_by
    module procedure reduction_by_int, reduction_by_size, reduction_by_int_size, reduction_by_size_int
  end interface sennit_reduction_by

contains

  ! `paths` is the component of the options that is a text.
  subroutine sennit_init(options, paths, stat)
    type(sennit_options), optional, intent(in) :: options
    character(*), optional, intent(in) :: paths
    integer(c_int), optional, intent(out) :: stat
    type(sennit_options) :: mine
    character(kind=c_char), allocatable, target :: letters(:)
    integer(c_int) :: status
    if (present(options)) mine = options
    if (present(paths)) then
      letters = sennit_to_c(paths)
      mine%paths = c_loc(letters)
    end if
    status = c_sennit_init(mine)
    call sennit_end_of_call(status, stat)
  end subroutine sennit_init

  function sennit_last_error() result(error)
    type(sennit_error) :: error
    type(sennit_error), pointer :: place
    call c_f_pointer(c_sennit_last_error(), place)
    error = place
  end function sennit_last_error

  function sennit_last_error_text() result(text)
    character(:), allocatable :: text
    type(sennit_error) :: error
    error = sennit_last_error()
    text = sennit_string(error%text)
  end function sennit_last_error_text

  ! The address of `operation` is stored: it must end with c_null_char and stay until the thread has another error.
  function sennit_error_report(status, operation, text, provider_code) result(same)
    integer(c_int), value :: status
    character(kind=c_char), target, intent(in) :: operation(*)
    character(*), intent(in) :: text
    integer(c_int64_t), value :: provider_code
    integer(c_int) :: same
    type(c_ptr) :: name
    name = c_loc(operation)  ! not as the argument: generator/calls.py has the reason
    same = sennit_report(status, name, text, provider_code)
  end function sennit_error_report

  ! Without a receiver the log is again written to standard error.
  subroutine sennit_log_set(receiver, context, level, stat)
    procedure(sennit_log_function), optional :: receiver
    type(c_ptr), value :: context
    integer(c_int), value :: level
    integer(c_int), optional, intent(out) :: stat
    type(c_funptr) :: address
    address = c_null_funptr
    if (present(receiver)) address = c_funloc(receiver)
    call sennit_end_of_call(c_sennit_log_set(address, context, level), stat)
  end subroutine sennit_log_set

  ! Adds a text to the trace: the work of the program, or in a condition the awaited event.
  subroutine sennit_trace_note(text, stat)
    character(*), intent(in) :: text
    integer(c_int), optional, intent(out) :: stat
    character(kind=c_char), target :: letters(len_trim(text) + 1)
    letters = sennit_to_c(text)
    call sennit_end_of_call(c_sennit_trace_note(c_loc(letters)), stat)
  end subroutine sennit_trace_note

  ! Waits until condition(context) is not 0.
  subroutine wait_until_long(condition, context, timeout_ns, stat)
    procedure(sennit_condition) :: condition
    type(c_ptr), value :: context
    integer(c_int64_t), value :: timeout_ns
    integer(c_int), optional, intent(out) :: stat
    call sennit_end_of_call(c_sennit_wait_until(c_funloc(condition), context, timeout_ns), stat)
  end subroutine wait_until_long

  subroutine wait_until_int(condition, context, timeout_ns, stat)
    procedure(sennit_condition) :: condition
    type(c_ptr), value :: context
    integer(c_int), value :: timeout_ns
    integer(c_int), optional, intent(out) :: stat
    call wait_until_long(condition, context, int(timeout_ns, c_int64_t), stat)
  end subroutine wait_until_int

  ! The name of the launcher with this index, from 0 on; empty after the last one.
  function sennit_bootstrap_describe(index, text) result(name)
    integer(c_int), value :: index
    character(*), intent(inout) :: text
    character(:), allocatable :: name
    character(kind=c_char), target :: letters(len(text) + 1)
    letters(1) = c_null_char
    name = sennit_string(c_sennit_bootstrap_describe(index, c_loc(letters), size(letters, kind=c_size_t)))
    if (len(name) > 0) text = sennit_string(letters)
  end function sennit_bootstrap_describe

  ! index is from 1 to count; 0 if all requests were complete already.
  subroutine wait_any_size_long(count, requests, timeout_ns, index, stat)
    integer(c_size_t), value :: count
    type(sennit_request), intent(inout) :: requests(*)
    integer(c_int64_t), value :: timeout_ns
    integer(c_size_t), intent(inout) :: index
    integer(c_int), optional, intent(out) :: stat
    integer(c_size_t) :: found
    integer(c_int) :: status
    found = -1
    status = c_sennit_wait_any(count, requests, timeout_ns, found)
    if (found /= -1) index = merge(0_c_size_t, found + 1, found == count)
    call sennit_end_of_call(status, stat)
  end subroutine wait_any_size_long

  subroutine wait_any_size_int(count, requests, timeout_ns, index, stat)
    integer(c_size_t), value :: count
    type(sennit_request), intent(inout) :: requests(*)
    integer(c_int), value :: timeout_ns
    integer(c_size_t), intent(inout) :: index
    integer(c_int), optional, intent(out) :: stat
    call wait_any_size_long(count, requests, int(timeout_ns, c_int64_t), index, stat)
  end subroutine wait_any_size_int

  subroutine wait_any_int_long(count, requests, timeout_ns, index, stat)
    integer(c_int), value :: count
    type(sennit_request), intent(inout) :: requests(*)
    integer(c_int64_t), value :: timeout_ns
    integer(c_int), intent(inout) :: index
    integer(c_int), optional, intent(out) :: stat
    integer(c_size_t) :: found
    found = -1
    call wait_any_size_long(int(count, c_size_t), requests, timeout_ns, found, stat)
    if (found /= -1) index = int(found, c_int)
  end subroutine wait_any_int_long

  subroutine wait_any_int_int(count, requests, timeout_ns, index, stat)
    integer(c_int), value :: count, timeout_ns
    type(sennit_request), intent(inout) :: requests(*)
    integer(c_int), intent(inout) :: index
    integer(c_int), optional, intent(out) :: stat
    call wait_any_int_long(count, requests, int(timeout_ns, c_int64_t), index, stat)
  end subroutine wait_any_int_int

  subroutine channel_close_one_long(channel, timeout_ns, stat)
    type(sennit_channel), intent(in) :: channel
    integer(c_int64_t), value :: timeout_ns
    integer(c_int), optional, intent(out) :: stat
    call sennit_end_of_call(c_sennit_channel_close([channel], 1_c_size_t, timeout_ns), stat)
  end subroutine channel_close_one_long

  subroutine channel_close_one_int(channel, timeout_ns, stat)
    type(sennit_channel), intent(in) :: channel
    integer(c_int), value :: timeout_ns
    integer(c_int), optional, intent(out) :: stat
    call channel_close_one_long(channel, int(timeout_ns, c_int64_t), stat)
  end subroutine channel_close_one_int

  elemental function gptr_add_long(gptr, bytes) result(place)
    type(sennit_gptr), intent(in) :: gptr
    integer(c_int64_t), intent(in) :: bytes
    type(sennit_gptr) :: place
    place = gptr
    place%offset = gptr%offset + bytes
  end function gptr_add_long

  elemental function gptr_add_int(gptr, bytes) result(place)
    type(sennit_gptr), intent(in) :: gptr
    integer(c_int), intent(in) :: bytes
    type(sennit_gptr) :: place
    place = gptr
    place%offset = gptr%offset + bytes
  end function gptr_add_int

  elemental function gptr_at_int(gptr, rank) result(place)
    type(sennit_gptr), intent(in) :: gptr
    integer(c_int), intent(in) :: rank
    type(sennit_gptr) :: place
    place = gptr
    place%rank = rank
  end function gptr_at_int

  ! An invalid rank stays invalid.
  elemental function gptr_at_long(gptr, rank) result(place)
    type(sennit_gptr), intent(in) :: gptr
    integer(c_int64_t), intent(in) :: rank
    type(sennit_gptr) :: place
    place = gptr
    place%rank = SENNIT_RANK_NONE
    if (rank >= 0 .and. rank <= huge(place%rank)) place%rank = int(rank, c_int32_t)
  end function gptr_at_long

  elemental function sennit_gptr_is_null(gptr) result(is_null)
    type(sennit_gptr), intent(in) :: gptr
    logical :: is_null
    is_null = gptr%segment == 0
  end function sennit_gptr_is_null

  elemental function sennit_block_is_null(block) result(is_null)
    type(sennit_block), intent(in) :: block
    logical :: is_null
    is_null = all(block%words == 0)
  end function sennit_block_is_null

  elemental function is_same_team(left, right) result(is_same)
    type(sennit_team), intent(in) :: left, right
    logical :: is_same
    is_same = left%handle == right%handle
  end function is_same_team
  elemental function is_other_team(left, right) result(is_other)
    type(sennit_team), intent(in) :: left, right
    logical :: is_other
    is_other = .not. is_same_team(left, right)
  end function is_other_team

  elemental function is_same_group(left, right) result(is_same)
    type(sennit_group), intent(in) :: left, right
    logical :: is_same
    is_same = left%handle == right%handle
  end function is_same_group
  elemental function is_other_group(left, right) result(is_other)
    type(sennit_group), intent(in) :: left, right
    logical :: is_other
    is_other = .not. is_same_group(left, right)
  end function is_other_group

  elemental function is_same_request(left, right) result(is_same)
    type(sennit_request), intent(in) :: left, right
    logical :: is_same
    is_same = left%handle == right%handle
  end function is_same_request
  elemental function is_other_request(left, right) result(is_other)
    type(sennit_request), intent(in) :: left, right
    logical :: is_other
    is_other = .not. is_same_request(left, right)
  end function is_other_request

  elemental function is_same_lock(left, right) result(is_same)
    type(sennit_lock), intent(in) :: left, right
    logical :: is_same
    is_same = left%segment == right%segment .and. left%team == right%team
  end function is_same_lock
  elemental function is_other_lock(left, right) result(is_other)
    type(sennit_lock), intent(in) :: left, right
    logical :: is_other
    is_other = .not. is_same_lock(left, right)
  end function is_other_lock

  elemental function is_same_gptr(left, right) result(is_same)
    type(sennit_gptr), intent(in) :: left, right
    logical :: is_same
    is_same = left%rank == right%rank .and. left%segment == right%segment .and. left%offset == right%offset
  end function is_same_gptr
  elemental function is_other_gptr(left, right) result(is_other)
    type(sennit_gptr), intent(in) :: left, right
    logical :: is_other
    is_other = .not. is_same_gptr(left, right)
  end function is_other_gptr

  elemental function is_same_channel(left, right) result(is_same)
    type(sennit_channel), intent(in) :: left, right
    logical :: is_same
    is_same = left%handle == right%handle
  end function is_same_channel
  elemental function is_other_channel(left, right) result(is_other)
    type(sennit_channel), intent(in) :: left, right
    logical :: is_other
    is_other = .not. is_same_channel(left, right)
  end function is_other_channel

  elemental function is_same_signal(left, right) result(is_same)
    type(sennit_signal), intent(in) :: left, right
    logical :: is_same
    is_same = left%rank == right%rank .and. left%handle == right%handle
  end function is_same_signal
  elemental function is_other_signal(left, right) result(is_other)
    type(sennit_signal), intent(in) :: left, right
    logical :: is_other
    is_other = .not. is_same_signal(left, right)
  end function is_other_signal

  elemental function is_same_waitset(left, right) result(is_same)
    type(sennit_waitset), intent(in) :: left, right
    logical :: is_same
    is_same = left%handle == right%handle
  end function is_same_waitset
  elemental function is_other_waitset(left, right) result(is_other)
    type(sennit_waitset), intent(in) :: left, right
    logical :: is_other
    is_other = .not. is_same_waitset(left, right)
  end function is_other_waitset

  elemental function is_same_peer_block(left, right) result(is_same)
    type(sennit_peer_block), intent(in) :: left, right
    logical :: is_same
    is_same = left%handle == right%handle
  end function is_same_peer_block
  elemental function is_other_peer_block(left, right) result(is_other)
    type(sennit_peer_block), intent(in) :: left, right
    logical :: is_other
    is_other = .not. is_same_peer_block(left, right)
  end function is_other_peer_block

  elemental function is_same_plan(left, right) result(is_same)
    type(sennit_plan), intent(in) :: left, right
    logical :: is_same
    is_same = left%handle == right%handle
  end function is_same_plan
  elemental function is_other_plan(left, right) result(is_other)
    type(sennit_plan), intent(in) :: left, right
    logical :: is_other
    is_other = .not. is_same_plan(left, right)
  end function is_other_plan

  elemental function is_same_queue(left, right) result(is_same)
    type(sennit_queue), intent(in) :: left, right
    logical :: is_same
    is_same = left%handle == right%handle
  end function is_same_queue
  elemental function is_other_queue(left, right) result(is_other)
    type(sennit_queue), intent(in) :: left, right
    logical :: is_other
    is_other = .not. is_same_queue(left, right)
  end function is_other_queue

  elemental function is_same_producer(left, right) result(is_same)
    type(sennit_producer), intent(in) :: left, right
    logical :: is_same
    is_same = left%handle == right%handle
  end function is_same_producer
  elemental function is_other_producer(left, right) result(is_other)
    type(sennit_producer), intent(in) :: left, right
    logical :: is_other
    is_other = .not. is_same_producer(left, right)
  end function is_other_producer

  ! A box of one dimension.
  elemental function box_line_long(element_bytes, count, remote_stride, local_stride) result(box)
    integer(c_int64_t), intent(in) :: element_bytes, count, remote_stride, local_stride
    type(sennit_box) :: box
    box%element_bytes = element_bytes
    box%counts = [count, 1_c_int64_t, 1_c_int64_t]
    box%remote_strides(1) = remote_stride
    box%local_strides(1) = local_stride
  end function box_line_long

  elemental function reduction_of_size(count, type, op) result(reduction)
    integer(c_size_t), intent(in) :: count
    integer(c_int), intent(in) :: type, op
    type(sennit_reduction) :: reduction
    reduction%count = count
    reduction%type = type
    reduction%op = op
  end function reduction_of_size

  elemental function reduction_of_int(count, type, op) result(reduction)
    integer(c_int), intent(in) :: count, type, op
    type(sennit_reduction) :: reduction
    reduction = reduction_of_size(int(count, c_size_t), type, op)
  end function reduction_of_int

  function reduction_by_size(count, element_bytes, combine, context) result(reduction)
    integer(c_size_t), value :: count, element_bytes
    procedure(sennit_combine) :: combine
    type(c_ptr), value :: context
    type(sennit_reduction) :: reduction
    reduction%count = count
    reduction%type = SENNIT_UINT8
    reduction%op = SENNIT_USER_OPERATOR
    reduction%combine = c_funloc(combine)
    reduction%context = context
    reduction%element_bytes = element_bytes
  end function reduction_by_size

  function reduction_by_int(count, element_bytes, combine, context) result(reduction)
    integer(c_int), value :: count, element_bytes
    procedure(sennit_combine) :: combine
    type(c_ptr), value :: context
    type(sennit_reduction) :: reduction
    reduction = reduction_by_size(int(count, c_size_t), int(element_bytes, c_size_t), combine, context)
  end function reduction_by_int

  function reduction_by_int_size(count, element_bytes, combine, context) result(reduction)
    integer(c_int), value :: count
    integer(c_size_t), value :: element_bytes
    procedure(sennit_combine) :: combine
    type(c_ptr), value :: context
    type(sennit_reduction) :: reduction
    reduction = reduction_by_size(int(count, c_size_t), element_bytes, combine, context)
  end function reduction_by_int_size

  function reduction_by_size_int(count, element_bytes, combine, context) result(reduction)
    integer(c_size_t), value :: count
    integer(c_int), value :: element_bytes
    procedure(sennit_combine) :: combine
    type(c_ptr), value :: context
    type(sennit_reduction) :: reduction
    reduction = reduction_by_size(count, int(element_bytes, c_size_t), combine, context)
  end function reduction_by_size_int

  ! A buffer of blocks of several sizes. The result has the addresses of the three arguments: declare them with target, and keep
  ! them while the result is used. Without offsets each block begins after the previous one. If an argument is not contiguous, the
  ! result has no sizes, and every call refuses it with ARG.
  function sennit_vbuffer_of(memory, bytes, offsets) result(blocks)
    type(*), dimension(..), target, asynchronous :: memory
    integer(c_size_t), target, asynchronous, intent(in) :: bytes(:)
    integer(c_size_t), target, asynchronous, optional, intent(in) :: offsets(:)
    type(sennit_vbuffer) :: blocks
    logical :: is_whole
    is_whole = (is_contiguous(memory) .or. size(memory) <= 1) .and. (is_contiguous(bytes) .or. size(bytes) <= 1)
    blocks%memory = sennit_place(c_loc(memory))
    if (present(offsets)) then
      is_whole = is_whole .and. (is_contiguous(offsets) .or. size(offsets) <= 1)
      blocks%offsets = c_loc(offsets)
    end if
    if (is_whole) blocks%bytes = c_loc(bytes)
  end function sennit_vbuffer_of

  ! Checks that the region is the array itself, and not a copy that the compiler has made for the call of sennit_register. The check
  ! needs the array's own descriptor, so make this call where the array is declared or is an assumed-shape argument. For a scalar,
  ! such as the first element, and for an assumed-size array the size is not checked.
  subroutine sennit_region_check(region, array, stat)
    type(sennit_region), intent(in) :: region
    type(*), dimension(..), intent(in), target, asynchronous :: array
    integer(c_int), optional, intent(out) :: stat
    logical :: is_whole
    if (present(stat)) stat = SENNIT_OK
    is_whole = .true.
    if (rank(array) > 0) is_whole = is_contiguous(array) .or. size(array) <= 1
    call check_region(region, c_loc(array), sennit_room(array), is_whole, stat)
  end subroutine sennit_region_check

  ! `bytes` is the size of the array; -1: unknown.
  subroutine check_region(region, array, bytes, is_whole, stat)
    type(sennit_region), intent(in) :: region
    type(c_ptr), value :: array
    integer(c_size_t), value :: bytes
    logical, intent(in) :: is_whole
    integer(c_int), optional, intent(out) :: stat
    character(kind=c_char, len=20), save, target :: operation = c_char_'sennit_region_check' // c_null_char
    type(c_ptr) :: registered, name
    character(100) :: text
    text = ' '
    if (sennit_gptr_is_null(region%gptr)) then
      text = 'the region is null'
    else if (.not. is_whole) then
      text = 'the array is not contiguous, so the region can only be a copy of it'
    else if (bytes >= 0 .and. bytes /= region%bytes) then
      write (text, '(2(a, i0), a)') 'the region has ', region%bytes, ' bytes, and the array ', bytes, ' bytes'
    end if
    if (text == ' ') then
      if (region%bytes == 0) return
      registered = c_sennit_ptr(region%gptr)
      if (.not. sennit_is_usable(registered, stat)) return
      if (c_associated(registered, array)) return
      text = 'the region does not begin at this array: a copy or another array was registered'
    end if
    name = c_loc(operation)  ! not as the argument: generator/calls.py has the reason
    call sennit_end_of_call(sennit_report(SENNIT_ERR_ARG, name, trim(text)), stat)
  end subroutine check_region

  ! The flag for channels with up to `messages` unread messages: SENNIT_CHANNEL_AHEAD of C.
  elemental function sennit_channel_ahead(messages) result(flag)
    integer, intent(in) :: messages
    integer(c_int) :: flag
    flag = ishft(int(messages, c_int), 8)
  end function sennit_channel_ahead

  ! The ends of `count` channels. The result has the addresses of the three arrays: declare them with target, and keep them until
  ! the channels are open. If an array is too short, the result has no channels, and stat is SENNIT_ERR_ARG.
  function channel_ends_of_size(count, targets, buffers, bytes, stat) result(ends)
    integer(c_size_t), value :: count
    integer(c_int), target, contiguous, intent(in) :: targets(:)
    type(c_ptr), target, contiguous, intent(in) :: buffers(:)
    integer(c_size_t), target, contiguous, intent(in) :: bytes(:)
    integer(c_int), optional, intent(out) :: stat
    type(sennit_channel_ends) :: ends
    character(kind=c_char, len=23), save, target :: operation = c_char_'sennit_channel_ends_of' // c_null_char
    character(100) :: text
    integer :: shortest
    type(c_ptr) :: name
    if (present(stat)) stat = SENNIT_OK
    shortest = min(size(targets), size(buffers), size(bytes))
    if (count < 0 .or. count > shortest) then
      write (text, '(2(a, i0))') 'count is ', count, ', and the shortest of the arrays has a length of ', shortest
      name = c_loc(operation)
      call sennit_end_of_call(sennit_report(SENNIT_ERR_ARG, name, text), stat)
      return
    end if
    ends%count = count
    ends%targets = c_loc(targets)
    ends%buffers = c_loc(buffers)
    ends%bytes = c_loc(bytes)
  end function channel_ends_of_size

  function channel_ends_of_int(count, targets, buffers, bytes, stat) result(ends)
    integer(c_int), value :: count
    integer(c_int), target, contiguous, intent(in) :: targets(:)
    type(c_ptr), target, contiguous, intent(in) :: buffers(:)
    integer(c_size_t), target, contiguous, intent(in) :: bytes(:)
    integer(c_int), optional, intent(out) :: stat
    type(sennit_channel_ends) :: ends
    ends = channel_ends_of_size(int(count, c_size_t), targets, buffers, bytes, stat)
  end function channel_ends_of_int

end module sennit_more
