! Teams, groups, grids, locks, domains and queries about the job. Breaks when arguments are passed in another order or form than
! C's, when a result is lost, or a text is cut or padded wrongly.
program team_test
  use iso_c_binding
  use checks
  use sennit
  implicit none
  type(sennit_team), parameter :: world = SENNIT_TEAM_WORLD
  integer :: rank, size, status, lines_of_log = 0

  call check(.not. sennit_initialized(), 'there is no rank before init')
  call check(sennit_rank() == -1, 'there is no rank number before init')
  call sennit_init(sennit_options(thread_level=SENNIT_THREAD_MULTIPLE), paths='self,mapped,cma ')
  call sennit_init() ! calls of init are counted
  rank = sennit_rank()
  size = sennit_size()
  call check(sennit_initialized() .and. sennit_thread_level_granted() == SENNIT_THREAD_MULTIPLE, 'a rank with options')
  call teams_are_made_in_each_way()
  call groups_have_an_algebra()
  call grids_have_coordinates()
  call locks_exclude()
  call domains_are_listed()
  call questions_are_answered()
  call errors_are_reported()
  call sennit_finalize()
  call check(sennit_initialized(), 'the first of two finalizes keeps the rank')
  call sennit_finalize()
  call check(.not. sennit_initialized(), 'the last finalize ends the rank')
  call end_of_test()

contains

  subroutine teams_are_made_in_each_way()
    type(sennit_team) :: team, other
    integer(c_int) :: number, members, i
    call sennit_team_create(world, size, [(size - 1 - i, i = 0, size - 1)], team)
    call sennit_team_rank(team, number)
    call sennit_team_size(team, members)
    call check(number == size - 1 - rank .and. members == size, 'a team in reverse order')
    call sennit_team_world_rank(team, 0, number)
    call check(number == size - 1, 'the first rank of a team in reverse order')
    call sennit_team_translate(team, 0, world, number)
    call check(number == size - 1, 'the first rank of that team by translation')
    call sennit_team_create(team, 1_c_size_t, [0], other)
    call check((other == SENNIT_TEAM_NULL) .eqv. (rank /= size - 1), 'a team of one, and no team')
    if (rank == size - 1) call sennit_team_destroy(other)
    call sennit_team_destroy(team)
    call sennit_team_split(world, modulo(rank, 2), -rank, team)
    call sennit_team_world_rank(team, 0, number)
    call check(number == size - 1 - modulo(size - 1 - rank, 2), 'the highest rank of this color comes first')
    call sennit_team_destroy(team)
    call sennit_team_split(world, SENNIT_COLOR_NONE, 0, team)
    call check(team == SENNIT_TEAM_NULL, 'no color, no team')
    call sennit_team_split_strided(world, size - 1, -1, size, team)
    call sennit_team_rank(team, number)
    call check(number == size - 1 - rank, 'a team by stride')
    call sennit_team_destroy(team)
    call sennit_team_split_locality(world, SENNIT_LOCALITY_SELF, team)
    call sennit_team_size(team, members)
    call check(members == 1, 'a team of one rank by locality')
    call sennit_team_destroy(team)
  end subroutine teams_are_made_in_each_way

  subroutine groups_have_an_algebra()
    type(sennit_group) :: all_ranks, first, rest, made
    type(sennit_team) :: team
    integer(c_int) :: number, translated(1), relation
    call sennit_group_of_team(world, all_ranks)
    call sennit_group_create(1, [0], first)
    call sennit_group_difference(all_ranks, first, rest)
    call sennit_group_size(rest, number)
    call check(number == size - 1, 'the group of all but the first')
    call sennit_group_union(first, rest, made)
    call sennit_group_compare(made, all_ranks, relation)
    call check(relation == SENNIT_GROUP_IDENTICAL, 'the union of the first and the rest')
    call sennit_group_destroy(made)
    call sennit_group_intersection(all_ranks, first, made)
    call sennit_group_rank(made, 0, number)
    call check(number == 0, 'the intersection has the first')
    call sennit_group_destroy(made)
    call sennit_group_include(all_ranks, 1, [size - 1], made)
    call sennit_group_world_rank(made, 0, number)
    call check(number == size - 1, 'the group of the last')
    call sennit_group_translate(made, 1, [0], all_ranks, translated)
    call check(translated(1) == size - 1, 'the number of the last among all')
    call sennit_group_destroy(made)
    call sennit_group_exclude(all_ranks, 1, [0], made)
    call sennit_group_compare(made, rest, relation)
    call check(relation == SENNIT_GROUP_IDENTICAL, 'the group that excludes the first')
    call sennit_team_create_group(world, all_ranks, team)
    call sennit_team_rank(team, number)
    call check(number == rank, 'a team of a group')
    call sennit_team_destroy(team)
    call check(made /= all_ranks .and. made /= SENNIT_GROUP_NULL .and. made == made, 'groups are compared')
    call sennit_group_destroy(made)
    call sennit_group_destroy(rest)
    call sennit_group_destroy(first)
    call sennit_group_destroy(all_ranks)
  end subroutine groups_have_an_algebra

  subroutine grids_have_coordinates()
    type(sennit_team) :: grid
    integer(c_int) :: dims(2), shape(2), periodic(2), dimensions, coords(2), number, source, destination
    dims = 0
    call sennit_grid_balance(12, 2, dims)
    call check(all(dims == [4, 3]), 'a grid for twelve ranks')
    call sennit_team_grid(world, 2, [1, size], [1, 0], grid)
    call sennit_team_grid_shape(grid, 2, dimensions, shape, periodic)
    call check(dimensions == 2 .and. all(shape == [1, size]) .and. all(periodic == [1, 0]), 'a grid of one row')
    call sennit_team_grid_shape(grid, 0, dimensions)
    call sennit_team_grid_coords(grid, rank, coords)
    call check(all(coords == [0, rank]), 'the coordinates in a grid')
    call sennit_team_grid_rank(grid, [5, rank], number)
    call check(number == rank, 'the rank across a periodic edge')
    call sennit_team_grid_shift(grid, 1, 1, source, destination)
    call check(source == rank - 1, 'the rank before, or none')
    call check(destination == merge(SENNIT_RANK_NONE, rank + 1, rank == size - 1), 'the rank behind, or none')
    call sennit_team_destroy(grid)
  end subroutine grids_have_coordinates

  subroutine locks_exclude()
    type(sennit_lock) :: lock
    logical :: acquired
    call sennit_lock_create(world, lock)
    if (rank == 0) then
      call sennit_lock_acquire(lock, SENNIT_FOREVER)
      call sennit_lock_acquire(lock, 0_c_int64_t, stat=status)
      call check_status(status, SENNIT_ERR_STATE, 'a rank acquires a lock only once')
    end if
    call sennit_barrier(world, SENNIT_FOREVER)
    if (rank == size - 1 .and. rank > 0) then
      acquired = .true.
      call sennit_lock_try(lock, acquired)
      call check(.not. acquired, 'another rank holds the lock')
    end if
    call sennit_barrier(world, SENNIT_FOREVER)
    if (rank == 0) call sennit_lock_release(lock)
    call sennit_barrier(world, SENNIT_FOREVER)
    if (rank == size - 1) then
      acquired = .false.
      call sennit_lock_try(lock, acquired)
      call check(acquired, 'no rank holds the lock')
      call sennit_lock_release(lock)
    end if
    call check(lock /= SENNIT_LOCK_NULL .and. lock == lock, 'locks are compared')
    call sennit_lock_destroy(lock)
  end subroutine locks_exclude

  subroutine domains_are_listed()
    type(sennit_domain) :: domain
    integer(c_int) :: number, ranks(size)
    integer(c_size_t) :: members
    call sennit_domain_count(number, stat=status)
    if (status == SENNIT_ERR_UNSUPPORTED) return
    call check(status == SENNIT_OK .and. number > 0, 'domains')
    call sennit_domain_get(0, domain)
    call check(domain%kind == SENNIT_DOMAIN_MACHINE .and. domain%parent == -1 .and. domain%inside == number - 1, 'the machine')
    call sennit_domain_ranks(0, int(size, c_size_t), ranks, members)
    call check(members == size .and. all(ranks == [(number, number = 0, size - 1)]), 'the ranks of the machine')
    call sennit_domain_ranks(0, size, ranks, number)
    call check(number == size, 'the number of ranks in the default kind')
  end subroutine domains_are_listed

  subroutine questions_are_answered()
    integer(c_int) :: level, path, index, world_rank
    character(200) :: text
    character(5) :: short
    type(sennit_provider) :: provider
    type(sennit_knob) :: knob
    type(sennit_counters) :: counters
    integer(c_size_t) :: found
    real(c_double) :: now
    now = sennit_wtime()
    call check(now > 0 .and. sennit_wtime() >= now, 'the clock advances')
    call sennit_locality(rank, level)
    call check(level == SENNIT_LOCALITY_SELF, 'the locality of this rank')
    text = 'unchanged'
    call sennit_locality_string(rank, text)
    call check(text(1:1) /= ' ' .and. text(200:200) == ' ' .and. text /= 'unchanged', 'the locality as text, padded with blanks')
    call sennit_locality_string(rank, short)
    call check(short == text(1:5), 'the locality as text, cut to the length of the variable')
    short = 'what?'
    call sennit_locality_string(size, short, stat=status)
    call check(status == SENNIT_ERR_RANGE .and. short == 'what?', 'a rank that does not exist leaves the text unchanged')
    call sennit_peer_path(rank, path)
    call check(path == SENNIT_PATH_SELF .and. sennit_path_name(path) == 'self' .and. sennit_path_built(path), 'the path')
    call sennit_peer_path_reason(rank, SENNIT_PATH_SELF, text)
    call check(len_trim(text) > 0, 'the reason of the path')
    call check(len(sennit_bootstrap_used()) > 0 .and. index_of_last_launcher() > 0, 'launchers')
    call check(scan(sennit_version(), '.') > 0 .and. len(sennit_build_description()) > 0, 'the version')
    do index = 0, 1000
      call sennit_knob_get(index, knob, stat=status)
      if (status /= SENNIT_OK) exit
      if (sennit_string(knob%name) == 'SENNIT_PATHS') call check(sennit_string(knob%type) == 'text', 'a knob')
    end do
    call check(status == SENNIT_ERR_RANGE .and. index > 3, 'knobs up to the last')
    call sennit_provider_get(100, provider, stat=status)
    call check(status == SENNIT_ERR_RANGE .or. status == SENNIT_ERR_UNSUPPORTED, 'no provider of that number')
    call sennit_stats_get(SENNIT_STATS_SEVERAL, SENNIT_PATH_NONE, counters, stat=status)
    call check_status(status, SENNIT_ERR_UNSUPPORTED, 'counters where SENNIT_STATS is not set')
    call sennit_stats_print(stat=status)
    call check_status(status, SENNIT_ERR_UNSUPPORTED, 'counters are not printed if SENNIT_STATS is not set')
    call sennit_trace_note('nothing', stat=status)
    call check_status(status, SENNIT_OK, 'a note outside of a call')
    call sennit_thread_attach(rank, stat=status)
    call check_status(status, SENNIT_OK, 'a thread of this rank')
    call sennit_team_world_rank(world, rank, world_rank)
    call sennit_alloc_and_free(found)
    call check(found == 64 .and. world_rank == rank, 'memory of one rank alone')
  end subroutine questions_are_answered

  function index_of_last_launcher() result(index)
    integer :: index
    character(100) :: text
    do index = 0, 100
      text = ' '
      if (len(sennit_bootstrap_describe(index, text)) == 0) exit
      call check(len_trim(text) > 0, 'the description of a launcher')
    end do
  end function index_of_last_launcher

  subroutine sennit_alloc_and_free(bytes)
    integer(c_size_t), intent(inout) :: bytes
    type(sennit_gptr) :: place
    integer(c_int8_t), pointer :: memory(:)
    call sennit_alloc_local(64_c_size_t, 4096, 0, place)
    call sennit_segment_bytes(place, bytes)
    call sennit_pointer(place, memory, [bytes])
    call check(modulo(transfer(c_loc(memory), 0_c_intptr_t), 4096_c_intptr_t) == 0, 'the alignment of allocated memory')
    call check(c_associated(sennit_ptr(place), c_loc(memory)), 'the same address')
    call check(sennit_gptr_of(memory, sennit_rank()) == place, 'the global pointer of an address')
    call sennit_free(place)
    call sennit_free(place, stat=status)
    call check_status(status, SENNIT_ERR_NOT_REGISTERED, 'memory is freed only once')
    call check(.not. c_associated(sennit_ptr(place)), 'freed memory has no address')
    call sennit_pointer(place, memory, [bytes], stat=status)
    call check_status(status, SENNIT_ERR_NOT_REGISTERED, 'freed memory has no pointer')
  end subroutine sennit_alloc_and_free

  subroutine errors_are_reported()
    character(kind=c_char, len=8), save, target :: operation = c_char_'my_call' // c_null_char
    type(sennit_error) :: error
    status = sennit_error_report(SENNIT_ERR_RANGE, operation, 'a sentence of mine   ', 42_c_int64_t)
    error = sennit_last_error()
    call check(status == SENNIT_ERR_RANGE .and. error%status == status .and. error%provider_code == 42, 'an error of the program')
    call check(sennit_string(error%operation) == 'my_call', 'the operation of an error')
    call check(sennit_last_error_text() == 'a sentence of mine' .and. len(sennit_last_error_text()) == 18, 'the text of an error')
    call check(sennit_string(c_null_ptr) == '' .and. sennit_status_string(SENNIT_OK) == 'SENNIT_OK', 'texts of C')
    call sennit_log_set(count_lines, c_null_ptr, SENNIT_LOG_DEBUG)
    call sennit_barrier(SENNIT_TEAM_NULL, SENNIT_FOREVER, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a barrier of no team')
    call sennit_log_set(context=c_null_ptr, level=99, stat=status)
    call check_status(status, SENNIT_ERR_ARG, 'a level that does not exist')
    call sennit_log_set(context=c_null_ptr, level=SENNIT_LOG_WARNING)
    call check(lines_of_log > 0, 'a procedure of Fortran gets the log')
  end subroutine errors_are_reported

  subroutine count_lines(context, level, text) bind(C)
    type(c_ptr), value :: context
    integer(c_int), value :: level
    type(c_ptr), value :: text
    if (.not. c_associated(context) .and. level > 0 .and. len(sennit_string(text)) > 0) lines_of_log = lines_of_log + 1
  end subroutine count_lines

end program team_test
