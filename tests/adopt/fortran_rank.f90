! One rank: the next rank writes into an allocatable array of a Fortran program, through the library's C interface. Broken by an
! array whose memory is not adopted, or a peer's write that misses it.
module sennit_calls
    use iso_c_binding
    implicit none
    type, bind(c) :: gptr_t
        integer(c_int32_t) :: rank
        integer(c_int32_t) :: segment
        integer(c_int64_t) :: offset
    end type
    type, bind(c) :: region_t
        type(gptr_t) :: gptr
        integer(c_int64_t) :: bytes
    end type
    type, bind(c) :: team_t
        integer(c_int32_t) :: handle
    end type
    interface
        integer(c_int) function sennit_init(options) bind(c)
            import c_int, c_ptr
            type(c_ptr), value :: options
        end function
        integer(c_int) function sennit_finalize() bind(c)
            import c_int
        end function
        integer(c_int) function sennit_rank() bind(c)
            import c_int
        end function
        integer(c_int) function sennit_size() bind(c)
            import c_int
        end function
        integer(c_int) function sennit_register(memory, bytes, flags, region) bind(c)
            import c_int, c_ptr, c_size_t, region_t
            type(c_ptr), value :: memory
            integer(c_size_t), value :: bytes
            integer(c_int), value :: flags
            type(region_t), intent(out) :: region
        end function
        integer(c_int) function sennit_deregister(region) bind(c)
            import c_int, region_t
            type(region_t), value :: region
        end function
        integer(c_int) function sennit_region_attach(team, region, regions) bind(c)
            import c_int, region_t, team_t
            type(team_t), value :: team
            type(region_t), value :: region
            type(region_t), intent(out) :: regions(*)
        end function
        integer(c_int) function sennit_region_mechanism(region, mechanism) bind(c)
            import c_int, region_t
            type(region_t), value :: region
            integer(c_int), intent(out) :: mechanism
        end function
        integer(c_int) function sennit_barrier(team, timeout_ns) bind(c)
            import c_int, c_int64_t, team_t
            type(team_t), value :: team
            integer(c_int64_t), value :: timeout_ns
        end function
        type(c_ptr) function sennit_ptr(gptr) bind(c)
            import c_ptr, gptr_t
            type(gptr_t), value :: gptr
        end function
    end interface
contains
    subroutine must(status)
        integer(c_int), intent(in) :: status
        if (status /= 0) then
            print *, 'status ', status
            error stop
        end if
    end subroutine
    subroutine require(is_true, sentence)
        logical, intent(in) :: is_true
        character(*), intent(in) :: sentence
        if (.not. is_true) then
            print *, 'this should be true: ', sentence
            error stop
        end if
    end subroutine
end module

program fortran_rank
    use sennit_calls
    implicit none
    type(team_t), parameter :: world = team_t(1)
    integer(c_int64_t), parameter :: forever = huge(forever)
    integer, parameter :: columns(3) = [1, 60, 800]
    real(c_double), allocatable, target :: array(:, :)
    real(c_double), pointer :: there(:, :)
    type(region_t) :: region
    type(region_t), allocatable :: regions(:)
    integer(c_int) :: rank, ranks, next, previous, mechanism
    integer :: i

    call must(sennit_init(c_null_ptr))
    rank = sennit_rank()
    ranks = sennit_size()
    next = mod(rank + 1, ranks)
    previous = mod(rank + ranks - 1, ranks)
    allocate (regions(0:ranks - 1))
    do i = 1, size(columns)
        allocate (array(500, columns(i)))
        array = rank
        call must(sennit_register(c_loc(array), size(array, kind=c_size_t)*8, 0, region))
        call must(sennit_region_mechanism(region, mechanism))
        call require(mechanism == 4, 'the array is adopted')
        call must(sennit_region_attach(world, region, regions))
        call c_f_pointer(sennit_ptr(regions(next)%gptr), there, shape(array))
        call require(all(there == next), 'the peer''s array is seen')
        call must(sennit_barrier(world, forever))
        there = there + 10*(rank + 1)
        call must(sennit_barrier(world, forever))
        call require(all(array == rank + 10*(previous + 1)), 'the peer has written')
        call must(sennit_deregister(region))
        call require(all(array == rank + 10*(previous + 1)), 'the peer''s store stays')
        deallocate (array)
    end do
    call must(sennit_finalize())
end program
