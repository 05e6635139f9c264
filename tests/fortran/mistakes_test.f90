! Mistakes that only Fortran programs make, with stat: each is refused with its own message, and nothing is changed. Breaks when a
! size below 0 reaches C, an array pointer may leave its segment, or a message does not say what to do.
program mistakes_test
  use iso_c_binding
  use checks
  use sennit
  implicit none
  type(sennit_gptr) :: memory
  integer(c_int) :: stat
  call sennit_init()
  call sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, memory)
  call pointers_lie_inside_of_their_segment()
  call sizes_below_zero_are_refused()
  call a_box_has_one_element_along_what_is_not_said()
  call ends_of_channels_have_arrays_that_are_long_enough()
  call null_handles_are_called_null()
  call a_section_as_a_box_is_answered_with_the_first_element()
  call memory_that_is_stored_is_the_array_itself()
  call the_mark_for_in_place_is_no_destination()
  call sennit_free(memory)
  call sennit_finalize()
  call end_of_test()

contains

  ! Checks that the last call failed with this status and text.
  subroutine check_refused(status, text, what)
    integer(c_int), intent(in) :: status
    character(*), intent(in) :: text, what
    call check_status(stat, status, what)
    call check(index(sennit_last_error_text(), text) > 0, what // ' says: ' // text // ', and not: ' // sennit_last_error_text())
  end subroutine check_refused

  subroutine pointers_lie_inside_of_their_segment()
    integer, target :: before(3)
    integer, pointer :: numbers(:), number
    real(c_double), pointer :: table(:, :)
    type(sennit_gptr) :: behind
    type(sennit_error) :: error
    numbers => before
    call sennit_pointer(c_null_ptr, numbers, [3], stat=stat)
    call check_refused(SENNIT_ERR_ARG, 'the address is null', 'an array at no address')
    call check(associated(numbers, before), 'the pointer stays as it was')
    error = sennit_last_error()
    call check(sennit_string(error%operation) == 'sennit_pointer', 'the error names the call')
    call sennit_pointer(c_null_ptr, number, stat=stat)
    call check_refused(SENNIT_ERR_ARG, 'the address is null', 'a scalar at no address')
    call sennit_pointer(c_loc(before), numbers, [-1], stat=stat)
    call check_refused(SENNIT_ERR_ARG, 'the shape has a negative extent', 'an array of -1 elements at an address')
    call sennit_pointer(c_loc(before), numbers, [1, 1], stat=stat)
    call check_refused(SENNIT_ERR_ARG, 'the shape has size 2, the array has rank 1', 'two extents for one dimension')
    call sennit_pointer(c_loc(before), numbers, [1], lower=[1, 1], stat=stat)
    call check_refused(SENNIT_ERR_ARG, 'lower has size 2, the array has rank 1', 'two lower bounds for one dimension')
    nullify (table)
    call sennit_pointer(memory, table, [4], stat=stat)
    call check_refused(SENNIT_ERR_ARG, 'the shape has size 1, the array has rank 2', 'one extent for two dimensions')
    call sennit_pointer(memory, table, [100, 100], stat=stat)
    call check_refused(SENNIT_ERR_RANGE, 'an array of 80000 bytes at offset 0 leaves the segment of 64 bytes', 'a large array')
    call check(.not. associated(table), 'the pointer stays null')
    call sennit_pointer(memory, table, [2_c_int64_t**40, 2_c_int64_t**40], stat=stat)
    call check_refused(SENNIT_ERR_RANGE, 'leaves the segment', 'an array of more bytes than an integer holds')
    call sennit_pointer(memory, table, [-2, 4], stat=stat)
    call check_refused(SENNIT_ERR_ARG, 'the shape has a negative extent', 'an array of -2 lines')
    call sennit_pointer(memory, table, [2, 4], stat=stat)
    call check_status(stat, SENNIT_OK, 'an array that fills its segment')
    behind = sennit_gptr_add(memory, 8)
    call sennit_pointer(behind, table, [2, 4], stat=stat)
    call check_refused(SENNIT_ERR_RANGE, 'an array of 64 bytes at offset 8 leaves the segment of 64 bytes', 'an array at offset 8')
    call sennit_pointer(sennit_gptr_add(memory, 60), number, stat=stat)
    call check_status(stat, SENNIT_OK, 'the last number of the segment')
    call sennit_pointer(behind, table, [7, 1], stat=stat)
    call check_status(stat, SENNIT_OK, 'an array from behind the start to the end')
    call sennit_pointer(memory, table, [0, 1000], stat=stat)
    call check_status(stat, SENNIT_OK, 'an array without elements')
  end subroutine pointers_lie_inside_of_their_segment

  subroutine sizes_below_zero_are_refused()
    real(c_double), asynchronous :: values(8)
    type(sennit_gptr) :: made
    type(sennit_request) :: request
    integer(c_int) :: wrapped
    values = 1
    wrapped = -8
    call sennit_put(memory, values, wrapped, stat)
    call check_refused(SENNIT_ERR_RANGE, 'bytes is -8, which is negative', 'a put')
    call sennit_put(memory, values, -8_c_size_t, stat)
    call check_refused(SENNIT_ERR_RANGE, 'bytes is -8, which is negative', 'a put with a size of kind c_size_t')
    call sennit_put_nb(memory, values, wrapped, request, stat)
    call check_refused(SENNIT_ERR_RANGE, 'use integer(c_size_t)', 'a put with a request')
    call check(request == SENNIT_REQUEST_NULL, 'the request stays null')
    call sennit_alloc(SENNIT_TEAM_WORLD, wrapped, 0, 0, made, stat)
    call check_refused(SENNIT_ERR_RANGE, 'bytes is -8', 'an allocation')
    call check(made == SENNIT_GPTR_NULL, 'the place stays null')
    call sennit_broadcast(SENNIT_TEAM_WORLD, 0, values, wrapped, SENNIT_FOREVER, stat)
    call check_refused(SENNIT_ERR_RANGE, 'bytes is -8', 'a broadcast')
    call sennit_allreduce(SENNIT_TEAM_WORLD, values, values, sennit_reduction_of(-3, SENNIT_DOUBLE, SENNIT_SUM), SENNIT_FOREVER, &
                          stat)
    call check_refused(SENNIT_ERR_ARG, '-3 as a signed number', 'a reduction')
    call sennit_put(memory, values, 0, stat)
    call check_status(stat, SENNIT_OK, 'a put of 0 bytes')
  end subroutine sizes_below_zero_are_refused

  subroutine a_box_has_one_element_along_what_is_not_said()
    integer :: values(16), back(16)
    type(sennit_box) :: box
    type(sennit_gptr) :: own
    integer :: i
    own = sennit_gptr_at(memory, sennit_rank())
    values = [(i, i = 1, 16)]
    back = 0
    call sennit_put(own, back, 64)
    box%element_bytes = 4
    box%counts(1) = 4
    box%remote_strides(1) = 4
    box%local_strides(1) = 16
    call sennit_put_strided(own, values, box)
    call sennit_get(back, own, 64)
    call check(all(back(1:4) == values(1::4)) .and. all(back(5:) == 0), 'a box of one dimension is moved')
  end subroutine a_box_has_one_element_along_what_is_not_said

  subroutine ends_of_channels_have_arrays_that_are_long_enough()
    integer(c_int), target :: targets(2), one_target(1)
    type(c_ptr), target :: buffers(2), one_buffer(1)
    integer(c_size_t), target :: bytes(2), one_size(1)
    type(sennit_channel_ends) :: ends
    targets = 0
    one_target = 0
    buffers = c_null_ptr
    one_buffer = c_null_ptr
    bytes = 0
    one_size = 0
    ends = sennit_channel_ends_of(2, one_target, buffers, bytes, stat)
    call check_refused(SENNIT_ERR_ARG, 'count is 2, and the shortest of the arrays has a length of 1', 'one target')
    call check(ends%count == 0, 'the ends stay empty')
    ends = sennit_channel_ends_of(2_c_size_t, targets, one_buffer, bytes, stat)
    call check_refused(SENNIT_ERR_ARG, 'count is 2', 'one buffer')
    ends = sennit_channel_ends_of(2, targets, buffers, one_size, stat)
    call check_refused(SENNIT_ERR_ARG, 'count is 2', 'one size')
    ends = sennit_channel_ends_of(-1, targets, buffers, bytes, stat)
    call check_refused(SENNIT_ERR_ARG, 'count is -1', 'a negative count')
    ends = sennit_channel_ends_of(2, targets, buffers, bytes, stat)
    call check_status(stat, SENNIT_OK, 'arrays of the right length')
    call check(ends%count == 2, 'two ends')
    ends = sennit_channel_ends_of(1, targets, buffers, bytes)
    call check(ends%count == 1, 'arrays that are longer than count')
  end subroutine ends_of_channels_have_arrays_that_are_long_enough

  subroutine null_handles_are_called_null()
    integer :: value
    integer, pointer :: number
    type(sennit_region) :: region
    type(sennit_block) :: block
    integer(c_int) :: mechanism
    value = 1
    call sennit_put(SENNIT_GPTR_NULL, value, 4, stat)
    call check_refused(SENNIT_ERR_ARG, 'the global pointer is null (SENNIT_GPTR_NULL)', 'a put')
    call sennit_pointer(SENNIT_GPTR_NULL, number, stat=stat)
    call check_refused(SENNIT_ERR_ARG, 'the global pointer is null', 'a pointer')
    call sennit_free(SENNIT_GPTR_NULL, stat)
    call check_refused(stat, 'null', 'a free')
    call check(stat /= SENNIT_OK, 'a null pointer is not freed')
    call sennit_deregister(SENNIT_REGION_NULL, stat)
    call check_refused(SENNIT_ERR_ARG, 'the region is null (SENNIT_REGION_NULL)', 'a deregistration')
    call sennit_region_detach(SENNIT_REGION_NULL, stat)
    call check_refused(SENNIT_ERR_ARG, 'the region is null', 'a detach')
    call sennit_region_mechanism(region, mechanism, stat)
    call check_refused(SENNIT_ERR_ARG, 'the region is null', 'a query of the mechanism')
    call sennit_block_init(region, 0, 4, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, block, stat)
    call check_refused(SENNIT_ERR_ARG, 'the region is null', 'a block')
    call sennit_signal_notify(SENNIT_SIGNAL_NULL, 0, stat)
    call check_refused(SENNIT_ERR_ARG, 'the signal is null (SENNIT_SIGNAL_NULL)', 'an event')
    call sennit_signal_reset(SENNIT_SIGNAL_NULL, stat)
    call check_refused(SENNIT_ERR_ARG, 'the signal is null (SENNIT_SIGNAL_NULL)', 'a reset')
  end subroutine null_handles_are_called_null

  ! Broken by a copy made by the compiler, or memory behind the array, that is registered or that every run of a plan reads.
  subroutine memory_that_is_stored_is_the_array_itself()
    real(c_double), target, asynchronous :: cube(2, 2, 2)
    real(c_double), allocatable, target, asynchronous :: nothing(:)
    character(3), target, asynchronous :: names(4)
    type(sennit_region) :: region
    type(sennit_block) :: block
    type(sennit_peer_block) :: to
    type(sennit_plan) :: plan
    type(sennit_notice) :: notice
    cube = 1
    call sennit_register(cube, 65, 0, region, stat)
    call check_refused(SENNIT_ERR_RANGE, 'bytes is 65, and the array has 64 bytes', 'more than the array')
    call sennit_register(cube(:, :, 2), 64_c_size_t, 0, region, stat)
    call check_refused(SENNIT_ERR_RANGE, 'the array has 32 bytes; if more memory follows it, pass its first element', 'a slice')
    call sennit_register(names, 13, 0, region, stat)
    call check_refused(SENNIT_ERR_RANGE, 'the array has 12 bytes', 'an array of texts')
    call sennit_register(nothing, 8, 0, region, stat)
    call check_refused(SENNIT_ERR_ARG, 'memory is null', 'an array that is not allocated')
    call check(region%bytes == 0, 'the region stays null')
    call register_all_of(cube)
    region%gptr = sennit_gptr_at(memory, sennit_rank())
    region%bytes = 64
    call sennit_block_init(region, 0, 64, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, block)
    call sennit_block_attach(block, to)
    call sennit_plan_create(plan)
    call sennit_plan_put_with(plan, to, 0, cube(1, :, :), 32, notice, stat)
    call check_refused(SENNIT_ERR_ARG, 'a copy would not last', 'a section with a notice')
    call sennit_plan_get_with(plan, cube(1, :, :), to, 0, 32, notice, stat)
    call check_refused(SENNIT_ERR_ARG, 'a copy would not last', 'a section as the destination of a get with a notice')
    call sennit_plan_put(plan, to, 0, cube(:, 1, 1), 64, stat)
    call check_refused(SENNIT_ERR_RANGE, 'bytes is 64, and the array has 16 bytes', 'a line')
    call sennit_plan_put(plan, to, 0, cube(1, 1, 1), 64, stat)
    call check_status(stat, SENNIT_OK, 'the first element')
    call sennit_plan_destroy(plan)
    call sennit_block_detach(to)
  end subroutine memory_that_is_stored_is_the_array_itself

  subroutine register_all_of(values)
    real(c_double), target, asynchronous :: values(*)
    type(sennit_region) :: region
    call sennit_register(values, 64, 0, region, stat)
    call check_status(stat, SENNIT_OK, 'an assumed-size array')
    if (stat == SENNIT_OK) call sennit_deregister(region)
    call sennit_register(values(1), 64, 0, region, stat)
    call check_status(stat, SENNIT_OK, 'the first element of an assumed-size array')
    if (stat == SENNIT_OK) call sennit_deregister(region)
  end subroutine register_all_of

  subroutine the_mark_for_in_place_is_no_destination()
    integer, target, asynchronous :: values(4)
    values = 1
    call sennit_allreduce(SENNIT_TEAM_WORLD, values, sennit_in_place, sennit_reduction_of(4, SENNIT_INT32, SENNIT_SUM), &
                          SENNIT_FOREVER, stat)
    call check_refused(SENNIT_ERR_ARG, 'SENNIT_IN_PLACE is the destination: pass it as the source', 'a reduction')
  end subroutine the_mark_for_in_place_is_no_destination

  subroutine a_section_as_a_box_is_answered_with_the_first_element()
    real(c_double), asynchronous :: cube(2, 2, 2)
    type(sennit_request) :: request
    cube = 1
    call sennit_put_strided(memory, cube(1, :, 1), sennit_box_line(8, 2, 8, 16), stat)
    call check_refused(SENNIT_ERR_ARG, 'pass the first element, as in a(1, 1, 1)', 'a section as a box')
    call sennit_put_nb(memory, cube(1, :, 1), 16, request, stat)
    call check_refused(SENNIT_ERR_ARG, 'a copy would not last', 'a section in a call with a request')
  end subroutine a_section_as_a_box_is_answered_with_the_first_element

end program mistakes_test
