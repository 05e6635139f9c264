! Buffers of every kind and form, sizes of both kinds, and each way to complete. Breaks when C gets another address than the
! buffer's, when a copy of a buffer is lost, or when an error changes something.
program rma_test
  use iso_c_binding
  use checks
  use sennit
  implicit none
  integer, parameter :: bytes = 4096
  type :: pair
    integer :: number
    real(c_double) :: weight
  end type pair
  type(sennit_gptr) :: memory, next
  integer :: rank, size

  call sennit_init()
  rank = sennit_rank()
  size = sennit_size()
  call sennit_alloc(SENNIT_TEAM_WORLD, bytes, 0, 0, memory)
  next = sennit_gptr_at(memory, modulo(rank + 1, size))
  call a_buffer_may_be_of_any_type_kind_and_rank()
  call sizes_may_be_of_both_kinds()
  call sections_are_copied_where_the_call_is_complete_when_it_returns()
  call sections_are_refused_where_it_is_not()
  call requests_complete_by_each_wait()
  call operations_without_request_complete_by_a_flush()
  call boxes_and_pieces_leave_their_places()
  call memory_of_the_program_is_registered()
  call a_hidden_copy_that_was_registered_is_found()
  call sizes_are_those_of_the_memory()
  call an_error_changes_nothing()
  call sennit_free(memory)
  call sennit_finalize()
  call end_of_test()

contains

  subroutine a_buffer_may_be_of_any_type_kind_and_rank()
    integer(c_int8_t) :: small, small_back
    complex(c_double) :: z(2, 3), z_back(2, 3)
    logical :: yes(3), yes_back(3)
    character(11) :: text, text_back
    type(pair) :: record, record_back
    integer, allocatable :: many(:, :), many_back(:, :)
    real(c_float), pointer :: pointed(:), pointed_back(:)
    small = 7_c_int8_t
    call sennit_put(next, small, 1)
    call sennit_get(small_back, next, 1)
    call check(small_back == 7, 'a scalar of one byte')
    z = cmplx(rank, 5, c_double)
    z(2, 3) = (1, 2)
    call sennit_put(next, z, c_sizeof(z))
    call sennit_get(z_back, next, c_sizeof(z))
    call check(all(abs(z - z_back) <= 0), 'complex numbers in an array of rank 2')
    yes = [.true., .false., .true.]
    call sennit_put(next, yes, 12)
    call sennit_get(yes_back, next, 12)
    call check(all(yes .eqv. yes_back), 'logicals')
    text = 'some letter'
    call sennit_put(next, text, len(text))
    call sennit_get(text_back, next, len(text))
    call check(text == text_back, 'a string of characters')
    record = pair(rank, 0.5_c_double)
    call sennit_put(next, record, storage_size(record) / 8)
    call sennit_get(record_back, next, storage_size(record) / 8)
    call check(record_back%number == rank .and. abs(record_back%weight - 0.5_c_double) <= 0, 'a derived type')
    allocate (many(4, 5), source=rank)
    allocate (many_back(4, 5), source=-1)
    call sennit_put(next, many, 80)
    call sennit_get(many_back, next, 80)
    call check(all(many_back == rank), 'an allocated array')
    allocate (pointed(6), source=real(rank, c_float))
    allocate (pointed_back(6), source=-1.0)
    call sennit_put(next, pointed, 24)
    call sennit_get(pointed_back, next, 24)
    call check(all(abs(pointed_back - rank) <= 0), 'pointers')
    call sennit_put(next, many(3, 2), 4)
    many_back = -1
    call sennit_get(many_back(2, 4), next, 4)
    call check(many_back(2, 4) == rank .and. count(many_back == -1) == 19, 'one element of an array, by its address')
    deallocate (pointed, pointed_back)
  end subroutine a_buffer_may_be_of_any_type_kind_and_rank

  subroutine sizes_may_be_of_both_kinds()
    integer :: number, back
    type(sennit_gptr) :: place
    number = 100 + rank
    call sennit_put(next, number, 4_c_size_t)
    call sennit_get(back, next, 4)
    call check(back == number, 'a size of default kind and of c_size_t')
    place = sennit_gptr_at(memory, 1_c_int64_t)
    call check(place == sennit_gptr_at(memory, 1), 'a rank of either kind')
    place = sennit_gptr_at(memory, 2_c_int64_t**32)
    call check(place%rank == SENNIT_RANK_NONE, 'a number of more than 32 bits becomes no rank')
    place = sennit_gptr_add(next, 8)
    call check(place%offset == 8, 'a distance of default kind')
    place = sennit_gptr_add(place, -5_c_int64_t)
    call check(place%offset == 3, 'a distance back, of the other kind')
    call check(place /= next .and. sennit_gptr_add(place, -3) == next, 'global pointers are compared')
    call check(sennit_gptr_is_null(SENNIT_GPTR_NULL) .and. .not. sennit_gptr_is_null(next), 'a null pointer and another one')
  end subroutine sizes_may_be_of_both_kinds

  subroutine sections_are_copied_where_the_call_is_complete_when_it_returns()
    integer :: table(4, 4), back(4, 4), i
    table = reshape([(100 * rank + i, i = 1, 16)], [4, 4])
    call sennit_put(next, table(2, :), 16)
    back = -1
    call sennit_get(back(3, :), next, 16)
    call check(all(back(3, :) == table(2, :)), 'a row of a matrix that was put and got')
    call check(all(back([1, 2, 4], :) == -1), 'the other rows are as they were')
  end subroutine sections_are_copied_where_the_call_is_complete_when_it_returns

  subroutine sections_are_refused_where_it_is_not()
    integer, asynchronous :: table(4, 4)
    integer :: status, back(4)
    type(sennit_request) :: request
    type(sennit_error) :: error
    table = 0
    back = 5
    call sennit_put(next, back, 16)
    call sennit_put_nb(next, table(2, :), 16, request, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a row of a matrix cannot be put with a request')
    error = sennit_last_error()
    call check(sennit_string(error%operation) == 'sennit_put_nb', 'the error names the call')
    call check(request == SENNIT_REQUEST_NULL, 'no request was made')
    call sennit_get_nb(table(2, :), next, 16, request, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a row of a matrix cannot be got with a request')
    call sennit_put_nbi(next, table(2, :), 16, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a row of a matrix cannot be put by put_nbi')
    call sennit_get_nbi(table(2, :), next, 16, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a row of a matrix cannot be got by get_nbi')
    call sennit_put_strided(next, table(2, :), sennit_box_line(4, 4, 4, 4), stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a row of a matrix cannot be put as a box')
    call sennit_get(back, next, 16)
    call check(all(back == 5), 'nothing was moved')
    call sennit_put_nb(next, table(:, 2), 16, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call sennit_put_nb(next, table(2, 3:3), 4, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call sennit_get(back, next, 16)
    call check(all(back == 0), 'a column is contiguous, and so is one element')
  end subroutine sections_are_refused_where_it_is_not

  subroutine requests_complete_by_each_wait()
    type(sennit_request) :: requests(3)
    integer, asynchronous :: numbers(3), back(3)
    integer :: i, index
    integer(c_size_t) :: long_index
    logical :: done
    numbers = [rank, rank + 1, rank + 2]
    do i = 1, 3
      call sennit_put_nb(sennit_gptr_add(next, 4 * (i - 1)), numbers(i), 4, requests(i))
    end do
    call sennit_wait_all(3, requests, SENNIT_FOREVER)
    back = -1
    do i = 1, 3
      call sennit_get_nb(back(i), sennit_gptr_add(next, 4 * (i - 1)), 4_c_size_t, requests(i))
    end do
    done = .false.
    do while (.not. done)
      call sennit_test_all(3, requests, done)
    end do
    call check(all(back == numbers), 'the numbers that test_all completed')
    call sennit_wait_any(3, requests, 2000000000, index)
    call check(index == 0, 'the index is 0 if all are complete')
    call sennit_wait_any(3_c_size_t, requests, SENNIT_FOREVER, long_index)
    call check(long_index == 0, 'the index of the other kind is 0 if all are complete')
    call sennit_barrier_nb(SENNIT_TEAM_WORLD, requests(2))
    call sennit_wait_any(3, requests, SENNIT_FOREVER, index)
    call check(index == 2 .and. .not. requests(2) /= SENNIT_REQUEST_NULL, 'the index counts from 1')
    call sennit_get_nb(back(1), next, 4, requests(1))
    done = .false.
    do while (.not. done)
      call sennit_test(requests(1), done)
    end do
    call check(back(1) == rank, 'the number that test completed')
  end subroutine requests_complete_by_each_wait

  subroutine operations_without_request_complete_by_a_flush()
    integer, asynchronous :: number, back
    number = 77 + rank
    call sennit_put_nbi(next, number, 4)
    call sennit_flush(modulo(rank + 1, size), SENNIT_FOREVER)
    call sennit_get_nbi(back, next, 4)
    call sennit_flush_all(SENNIT_FOREVER)
    call check(back == number, 'a put and a get that a flush completed')
    call sennit_put(next, 1, 4)
    call sennit_fence()
    call sennit_put(next, 2, 4)
    call sennit_get(back, next, 4)
    call check(back == 2, 'two puts in the order of a fence')
    number = 5
    call sennit_put_local(next, number, 4)
    number = 6
    call sennit_flush_local(modulo(rank + 1, size), SENNIT_FOREVER)
    call sennit_flush_local_all(SENNIT_FOREVER)
    call sennit_flush_all(SENNIT_FOREVER)
    call sennit_get(back, next, 4)
    call check(back == 5, 'the value at the time of the put')
  end subroutine operations_without_request_complete_by_a_flush

  ! Puts rows of a 3 by 4 matrix into a line, in each form.
  subroutine boxes_and_pieces_leave_their_places()
    integer, asynchronous :: table(3, 4), back(4)
    type(sennit_box) :: row
    type(sennit_piece) :: pieces(2)
    type(sennit_request) :: request
    integer :: i
    table = reshape([(i, i = 1, 12)], [3, 4])
    row = sennit_box_line(sennit_bytes(table(1, 1)), 4, 4, 12)
    call sennit_put_strided(next, table(2, 1), row)
    call sennit_get(back, next, 16)
    call check(all(back == table(2, :)), 'a row by a box')
    call sennit_put_strided_nb(next, table(3, 1), row, request)
    call sennit_wait(request, SENNIT_FOREVER)
    row = sennit_box_line(4_c_int64_t, 4_c_int64_t, 4_c_int64_t, 12_c_int64_t)
    call sennit_put_strided_nbi(sennit_gptr_add(next, 16), table, row)
    call sennit_flush_all(SENNIT_FOREVER)
    call sennit_get(back, sennit_gptr_add(next, 16), 16)
    call check(all(back == table(1, :)), 'a row by a box that a flush completed')
    call sennit_put_strided_local(sennit_gptr_add(next, 16), table(2, 1), row)
    call sennit_flush_all(SENNIT_FOREVER)
    call sennit_get(back, sennit_gptr_add(next, 16), 16)
    call check(all(back == table(2, :)), 'a row by a box whose buffer is free at once')
    table = -1
    call sennit_get_strided(table(1, 1), next, row)
    call sennit_get_strided_nb(table(2, 1), next, row, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call sennit_get_strided_nbi(table(3, 1), next, row)
    call sennit_flush_all(SENNIT_FOREVER)
    call check(all(table(1, :) == [3, 6, 9, 12]) .and. all(table(2, :) == table(1, :)) .and. all(table(3, :) == table(1, :)), &
               'rows that were got by boxes')
    pieces(1) = sennit_piece(remote_offset=4, local_offset=8, bytes=4)
    pieces(2) = sennit_piece(remote_offset=0, local_offset=0, bytes=4)
    table(:, 1) = [31, 32, 33]
    call sennit_put_indexed(next, table, 2, pieces)
    call sennit_put_indexed_nb(sennit_gptr_add(next, 8), table, 2, pieces, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call sennit_put_indexed_nbi(sennit_gptr_add(next, 16), table, 2_c_size_t, pieces)
    call sennit_flush_all(SENNIT_FOREVER)
    call sennit_get(table, next, 24)
    call check(all(table(:, 1) == [31, 33, 31]) .and. all(table(:, 2) == [33, 31, 33]), 'pieces that were put')
    table = 0
    call sennit_get_indexed(table(1, 1), next, 2, pieces)
    call sennit_get_indexed_nb(table(1, 2), next, 2, pieces, request)
    call sennit_wait(request, SENNIT_FOREVER)
    call sennit_get_indexed_nbi(table(1, 3), next, 2, pieces)
    call sennit_flush_all(SENNIT_FOREVER)
    call check(all(table(1, 1:3) == 31) .and. all(table(3, 1:3) == 33) .and. all(table(2, 1:3) == 0), 'pieces that were got')
  end subroutine boxes_and_pieces_leave_their_places

  ! Breaks when a size counts elements, or forgets the length of a text or a dimension.
  subroutine sizes_are_those_of_the_memory()
    integer(c_int) :: table(3, 5), one
    real(c_double), allocatable :: many(:)
    character(5) :: texts(3)
    complex(c_float) :: numbers(2)
    allocate (many(0:9))
    call check(sennit_bytes(table) == 60 .and. sennit_bytes(one) == 4 .and. sennit_bytes(table(:, 2)) == 12, 'integers')
    call check(sennit_bytes(many) == 80 .and. sennit_bytes(numbers) == 16, 'reals and complex numbers')
    call check(sennit_bytes(texts) == 15 .and. sennit_bytes(texts(1)) == 5, 'texts with their lengths')
    call check(sennit_bytes(table(1:0, 1)) == 0, 'no elements')
  end subroutine sizes_are_those_of_the_memory

  subroutine memory_of_the_program_is_registered()
    real(c_double), allocatable, asynchronous :: mine(:, :)
    type(sennit_region) :: region, regions(size)
    real(c_double) :: back
    integer :: status, right, mechanism
    character(200) :: reason
    allocate (mine(5, 5), source=real(rank, c_double))
    call sennit_register(mine(2, :), 40, 0, region, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a row of a matrix is not registered')
    call sennit_register(mine, 200, 0, region)
    call check(region%bytes == 200 .and. region%gptr%rank == rank, 'the region has the size and the rank')
    call sennit_region_attach(SENNIT_TEAM_WORLD, region, regions, stat=status)
    call sennit_region_mechanism(region, mechanism)
    reason = ' '
    call sennit_region_reason(region, mechanism, reason)
    call check(mechanism > SENNIT_MECHANISM_NONE .and. len_trim(reason) > 0, 'the mechanism and its reason')
    if (status /= SENNIT_ERR_UNSUPPORTED) then
      call check_status(status, SENNIT_OK, 'regions are exchanged')
      right = modulo(rank + 1, size) + 1
      call sennit_get(back, sennit_gptr_add(regions(right)%gptr, 96), 8)
      call check(nint(back) == modulo(rank + 1, size), "the right rank's array")
      call sennit_region_detach(regions(rank + 1), stat=status)
      call check_status(status, SENNIT_ERR_ARG, "one's own region is not detached")
      call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
    end if
    call sennit_deregister(region)
  end subroutine memory_of_the_program_is_registered

  ! gfortran makes copies for contiguous dummies: registered memory that does not begin at the caller's array is such a copy. Breaks
  ! when the check itself gets a copy, or accepts any address.
  subroutine a_hidden_copy_that_was_registered_is_found()
    real(c_double), target, asynchronous :: mine(2048), other(2048), one
    mine = 1
    other = 2
    one = 3
    call register_behind_an_assumed_shape(mine(1:2048:2), 'every second element')
    call register_behind_an_assumed_shape(mine, 'a whole array, which gfortran copies too')
    call register_behind_contiguous_ones(mine)
    call register_where_it_is_declared(mine, other, one)
  end subroutine a_hidden_copy_that_was_registered_is_found

  ! The dummy is not asynchronous: with that attribute on both sides the compiler refuses the call.
  subroutine register_behind_an_assumed_shape(array, sentence)
    real(c_double), target :: array(:)
    character(*), intent(in) :: sentence
    type(sennit_region) :: region
    logical :: is_copied
    integer :: status
    call register_contiguous(array, region, c_loc(array), is_copied)
    call check(is_copied .or. is_contiguous(array), 'a section that is not contiguous is copied')
    call sennit_region_check(region, array, stat=status)
    call check_status(status, merge(SENNIT_ERR_ARG, SENNIT_OK, is_copied), sentence)
    if (is_copied) call check(index(sennit_last_error_text(), 'copy') > 0, 'the error names the copy')
    call sennit_deregister(region)
  end subroutine register_behind_an_assumed_shape

  subroutine register_behind_contiguous_ones(array)
    real(c_double), contiguous, target, asynchronous :: array(:)
    type(sennit_region) :: region
    logical :: is_copied
    call register_contiguous(array, region, c_loc(array), is_copied)
    call check(.not. is_copied, 'no copy between two contiguous dummies')
    call sennit_region_check(region, array)
    call sennit_deregister(region)
  end subroutine register_behind_contiguous_ones

  subroutine register_contiguous(array, region, place, is_copied)
    real(c_double), contiguous, target, asynchronous :: array(:)
    type(sennit_region), intent(out) :: region
    type(c_ptr), value :: place
    logical, intent(out) :: is_copied
    is_copied = .not. c_associated(place, c_loc(array))
    call sennit_register(array, sennit_bytes(array), 0, region)
  end subroutine register_contiguous

  subroutine register_where_it_is_declared(mine, other, one)
    real(c_double), contiguous, target, asynchronous :: mine(:), other(:)
    real(c_double), target, asynchronous :: one
    type(sennit_region) :: region
    integer :: status
    call sennit_register(mine, sennit_bytes(mine), 0, region)
    call sennit_region_check(region, mine)
    call sennit_region_check(region, mine(1))
    call sennit_region_check(region, other, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'another array')
    call sennit_region_check(region, mine(2:), stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'another place of the array')
    call sennit_region_check(region, mine(:2000), stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a region that is longer than the array')
    call sennit_region_check(SENNIT_REGION_NULL, mine, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a null region')
    call sennit_deregister(region)
    call sennit_region_check(region, mine, stat=status)
    call check_status(status, SENNIT_ERR_NOT_REGISTERED, 'a region that has ended')
    call sennit_register(one, sennit_bytes(one), 0, region)
    call sennit_region_check(region, one)
    call sennit_deregister(region)
    call sennit_register(mine, sennit_bytes(mine) / 2, 0, region)
    call sennit_region_check(region, mine, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a region of half of the array')
    call check(index(sennit_last_error_text(), ' bytes, and the array ') > 0, 'the error says both sizes')
    call sennit_region_check(region, mine(:1024))
    call sennit_deregister(region)
    call sennit_register(mine, 0, 0, region)
    call sennit_region_check(region, mine(:0))
    call sennit_region_check(region, mine, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a region of no bytes')
    call sennit_deregister(region)
  end subroutine register_where_it_is_declared

  subroutine an_error_changes_nothing()
    integer :: number, status
    integer(c_size_t) :: found
    number = 11
    call sennit_get(number, sennit_gptr_add(next, bytes), 4, stat=status)
    call check_status(status, SENNIT_ERR_RANGE, 'beyond the end')
    call sennit_get(number, next, -4, stat=status)
    call check_status(status, SENNIT_ERR_RANGE, 'a negative size')
    call check(number == 11, 'the buffer is as it was')
    found = 12
    call sennit_segment_bytes(SENNIT_GPTR_NULL, found, stat=status)
    call check(status /= SENNIT_OK .and. found == 12, 'the size of no segment')
    call sennit_segment_bytes(memory, found)
    call check(found == bytes, 'the size of the segment')
  end subroutine an_error_changes_nothing

end program rma_test
