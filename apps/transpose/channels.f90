! The steps over Sennit's channels, in Fortran. The types and functions are those of channels.h.
module transpose_channels
  use iso_c_binding
  use sennit
  implicit none
  private
  public :: transpose_open, transpose_iterate, transpose_close

  type, bind(c) :: transpose_links
    type(c_ptr) :: part
    integer(c_int64_t) :: count
    type(c_ptr) :: peers, channels, theirs
  end type transpose_links

  interface
    subroutine transpose_add_block(part, link) bind(c)
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: part
      integer(c_int64_t), value :: link
    end subroutine transpose_add_block
  end interface

contains

  function transpose_open(links, b, bytes) result(status) bind(c)
    type(transpose_links), intent(in) :: links
    type(c_ptr), value :: b
    integer(c_size_t), value :: bytes
    integer(c_int) :: status
    integer(c_int), pointer, contiguous :: peers(:)
    type(sennit_channel), pointer, contiguous :: channels(:)
    type(c_ptr), pointer, contiguous :: theirs(:)
    type(c_ptr), allocatable, target :: buffers(:)
    integer(c_size_t), allocatable, target :: sizes(:)
    call c_f_pointer(links%peers, peers, [links%count])
    call c_f_pointer(links%channels, channels, [links%count])
    call c_f_pointer(links%theirs, theirs, [links%count])
    allocate (buffers(links%count), sizes(links%count))
    buffers = b
    sizes = bytes
    call sennit_channel_open(SENNIT_TEAM_WORLD, sennit_channel_ends_of(size(peers), peers, buffers, sizes), 0, SENNIT_FOREVER, &
                             theirs, channels, status)
  end function transpose_open

  function transpose_iterate(links, steps) result(status) bind(c)
    type(transpose_links), intent(in) :: links
    integer(c_int64_t), value :: steps
    integer(c_int) :: status
    type(sennit_channel), pointer, contiguous :: channels(:)
    integer(c_int64_t) :: step, i
    call c_f_pointer(links%channels, channels, [links%count])
    status = SENNIT_OK
    do step = 1, steps
      call transpose_add_block(links%part, -1_c_int64_t)
      do i = 1, links%count
        call sennit_channel_wait_write(channels(i), SENNIT_FOREVER, status)
        if (status /= SENNIT_OK) return
        call transpose_add_block(links%part, i - 1)
        call sennit_channel_have_written(channels(i), status)
        if (status /= SENNIT_OK) return
      end do
      do i = 1, links%count
        call sennit_channel_wait_read(channels(i), SENNIT_FOREVER, status)
        if (status == SENNIT_OK) call sennit_channel_have_read(channels(i), status)
        if (status /= SENNIT_OK) return
      end do
    end do
  end function transpose_iterate

  function transpose_close(links) result(status) bind(c)
    type(transpose_links), intent(in) :: links
    integer(c_int) :: status
    type(sennit_channel), pointer, contiguous :: channels(:)
    call c_f_pointer(links%channels, channels, [links%count])
    call sennit_channel_close(channels, size(channels), SENNIT_FOREVER, status)
  end function transpose_close

end module transpose_channels
