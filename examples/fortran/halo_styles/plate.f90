! The twin of ../../halo_styles/plate.h. The program is ../../halo_styles/main.c: cells(column, row) here are cells[row][column] there.
module plates
  use iso_c_binding
  use must
  use sennit
  implicit none
  integer, parameter :: up = 1, down = 2, left = 3, right = 4, sides = 4, dp = c_double, bytes = 8

  type, bind(C) :: plate
    type(sennit_team) :: grid
    integer(c_int) :: neighbours(sides) ! world ranks; SENNIT_RANK_NONE beyond an edge of the plate
    integer(c_int) :: n
    type(sennit_gptr) :: memory         ! this rank's two states, one after another
    type(c_ptr) :: own                  ! its address
  end type plate

contains

  integer(c_size_t) function bytes_of(p)
    type(plate), intent(in) :: p
    bytes_of = 2_c_size_t * bytes * (p%n + 2) * (p%n + 2)
  end function bytes_of

  ! The first cell of this rank's edge at a side, as the index of an array with all cells of both states.
  integer function edge(p, step, side)
    type(plate), intent(in) :: p
    integer, intent(in) :: step, side
    edge = 1 + place(p, step, merge(p%n, 1, side == down), merge(p%n, 1, side == right))
  end function edge

  ! The first cell of the halo that receives the edge, in bytes from the first cell.
  integer(c_size_t) function halo(p, step, side)
    type(plate), intent(in) :: p
    integer, intent(in) :: step, side
    integer :: row, column
    row = merge(p%n + 1, merge(0, 1, side == down), side == up)
    column = merge(p%n + 1, merge(0, 1, side == right), side == left)
    halo = bytes * int(place(p, step, row, column), c_size_t)
  end function halo

  integer function place(p, step, row, column)
    type(plate), intent(in) :: p
    integer, intent(in) :: step, row, column
    place = (modulo(step, 2) * (p%n + 2) + row) * (p%n + 2) + column
  end function place

  ! The cells of a row of C are contiguous; a column has one cell in each row, on both ranks.
  logical function is_row(side)
    integer, intent(in) :: side
    is_row = side == up .or. side == down
  end function is_row

  type(sennit_box) function column_of(p)
    type(plate), intent(in) :: p
    column_of = sennit_box_line(bytes, p%n, (p%n + 2) * bytes, (p%n + 2) * bytes)
  end function column_of

  ! All cells of both states.
  function cells_of(p) result(cells)
    type(plate), intent(in) :: p
    real(dp), pointer, contiguous :: cells(:)
    call sennit_pointer(p%memory, cells, [bytes_of(p) / bytes])
  end function cells_of

end module plates
