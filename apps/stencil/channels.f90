! The iterations over Sennit's channels, in Fortran. The types and functions are those of channels.h.
module stencil_channels
  use iso_c_binding
  use sennit
  implicit none
  private
  public :: stencil_open, stencil_iterate, stencil_close

  integer, parameter :: most_links = 4

  type, bind(c) :: stencil_links
    type(c_ptr) :: part
    integer(c_int32_t) :: count
    type(sennit_channel) :: channels(most_links)
  end type stencil_links

  interface
    subroutine stencil_take_ghosts(part, link) bind(c)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: part
      integer(c_int32_t), value :: link
    end subroutine stencil_take_ghosts
    subroutine stencil_apply_edges(part) bind(c)
      import :: c_ptr
      type(c_ptr), value :: part
    end subroutine stencil_apply_edges
    subroutine stencil_apply_inner(part) bind(c)
      import :: c_ptr
      type(c_ptr), value :: part
    end subroutine stencil_apply_inner
    subroutine stencil_refresh_edges(part) bind(c)
      import :: c_ptr
      type(c_ptr), value :: part
    end subroutine stencil_refresh_edges
    subroutine stencil_refresh_inner(part) bind(c)
      import :: c_ptr
      type(c_ptr), value :: part
    end subroutine stencil_refresh_inner
  end interface

contains

  function stencil_open(links, neighbours, cells, bytes, peers) result(status) bind(c)
    type(stencil_links), intent(inout) :: links
    integer(c_int32_t), intent(in) :: neighbours(*)
    type(c_ptr), value :: cells
    integer(c_size_t), value :: bytes
    type(c_ptr), intent(inout) :: peers(*)
    integer(c_int) :: status
    integer(c_int), target :: targets(most_links)
    type(c_ptr), target :: buffers(most_links)
    integer(c_size_t), target :: sizes(most_links)
    type(c_ptr) :: found(most_links)
    integer :: count
    count = int(links%count)
    targets(:count) = neighbours(:count)
    buffers(:count) = cells
    sizes(:count) = bytes
    call sennit_channel_open(SENNIT_TEAM_WORLD, sennit_channel_ends_of(count, targets, buffers, sizes), 0, SENNIT_FOREVER, &
                             found, links%channels, status)
    if (status /= SENNIT_OK) return
    peers(:count) = found(:count)
    status = hand_over(links)
  end function stencil_open

  function hand_over(links) result(status)
    type(stencil_links), intent(in) :: links
    integer(c_int) :: status
    integer :: i
    status = SENNIT_OK
    do i = 1, int(links%count)
      call sennit_channel_have_written(links%channels(i), status)
      if (status /= SENNIT_OK) return
    end do
  end function hand_over

  function wait_ghosts(links) result(status)
    type(stencil_links), intent(in) :: links
    integer(c_int) :: status
    integer :: i
    status = SENNIT_OK
    do i = 1, int(links%count)
      call sennit_channel_wait_read(links%channels(i), SENNIT_FOREVER, status)
      if (status /= SENNIT_OK) return
      call stencil_take_ghosts(links%part, int(i - 1, c_int32_t))
    end do
  end function wait_ghosts

  function release_ghosts(links) result(status)
    type(stencil_links), intent(in) :: links
    integer(c_int) :: status
    integer :: i
    status = SENNIT_OK
    do i = 1, int(links%count)
      call sennit_channel_have_read(links%channels(i), status)
      if (status /= SENNIT_OK) return
    end do
  end function release_ghosts

  function wait_edges(links) result(status)
    type(stencil_links), intent(in) :: links
    integer(c_int) :: status
    integer :: i
    status = SENNIT_OK
    do i = 1, int(links%count)
      call sennit_channel_wait_write(links%channels(i), SENNIT_FOREVER, status)
      if (status /= SENNIT_OK) return
    end do
  end function wait_edges

  function stencil_iterate(links, iterations) result(status) bind(c)
    type(stencil_links), intent(in) :: links
    integer(c_int64_t), value :: iterations
    integer(c_int) :: status
    integer(c_int64_t) :: iteration
    status = SENNIT_OK
    do iteration = 1, iterations
      status = wait_ghosts(links)
      if (status /= SENNIT_OK) return
      call stencil_apply_edges(links%part)
      status = release_ghosts(links)
      if (status /= SENNIT_OK) return
      call stencil_apply_inner(links%part)
      status = wait_edges(links)
      if (status /= SENNIT_OK) return
      call stencil_refresh_edges(links%part)
      status = hand_over(links)
      if (status /= SENNIT_OK) return
      call stencil_refresh_inner(links%part)
    end do
  end function stencil_iterate

  function stencil_close(links) result(status) bind(c)
    type(stencil_links), intent(in) :: links
    integer(c_int) :: status
    integer :: i
    status = SENNIT_OK
    do i = 1, int(links%count)
      call sennit_channel_wait_read(links%channels(i), SENNIT_FOREVER, status)
      if (status /= SENNIT_OK) return
    end do
    status = release_ghosts(links)
    if (status == SENNIT_OK) call sennit_channel_close(links%channels, int(links%count), SENNIT_FOREVER, status)
  end function stencil_close

end module stencil_channels
