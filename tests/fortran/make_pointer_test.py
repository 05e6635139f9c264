#!/usr/bin/env python3
"""Writes a program that asks sennit_pointer for an array of every kind and rank: make_pointer_test.py KINDS FILE.

For each type, kind and rank, in this rank's memory and in that of the next rank, from a global pointer and from an address, with
shapes of both kinds, with and without lower bounds: the array begins at the address, its last element is at the right place, the
bounds are those asked for, and it is contiguous. Breaks when a procedure takes another rank, forgets a bound, strides, or returns
this rank's memory for a peer's.
"""
import sys

SHAPE = (2, 3, 2, 2, 1, 2, 2)
LOWER = (0, -1, 5, 1, 2, -3, 7)
HEAD = """program pointer_test
  use iso_c_binding
  use checks
  use sennit
  implicit none
  integer, parameter :: bytes = 65536
  type(sennit_gptr) :: mine, place
  type(c_ptr) :: address
  integer :: owner, turn
  call sennit_init()
  call sennit_alloc(SENNIT_TEAM_WORLD, bytes, 0, 0, mine)
  call fill(sennit_ptr(mine))
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  do turn = 0, 1
    owner = modulo(sennit_rank() + turn, sennit_size())
    place = mine
    place%rank = owner
    address = sennit_ptr(place)
    call check_owner()
    call all_kinds()
  end do
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  call sennit_free(mine)
  call sennit_finalize()
  call end_of_test()

contains

"""
TAIL = """
  ! The byte of rank `owner` at each place of its memory.
  elemental function mark_of(owner, at) result(mark)
    integer, intent(in) :: owner, at
    integer(c_int8_t) :: mark
    mark = int(modulo(101 * (owner + 1) + 7 * at, 127), c_int8_t)
  end function mark_of

  subroutine fill(whole)
    type(c_ptr), value :: whole
    integer(c_int8_t), pointer :: marks(:)
    integer :: at
    call c_f_pointer(whole, marks, [bytes])
    marks = [(mark_of(sennit_rank(), at), at = 1, bytes)]
  end subroutine fill

  ! All pointers of the test begin at `address`, which must be in the memory of the owner.
  subroutine check_owner()
    integer(c_int8_t), pointer :: marks(:)
    integer :: at
    call c_f_pointer(address, marks, [bytes])
    call check(all(marks == [(mark_of(owner, at), at = 1, bytes)]), 'the address is in the memory of the owner')
  end subroutine check_owner

  subroutine check_ends(first, last, elements, bits, what)
    type(c_ptr), value :: first, last
    integer, intent(in) :: elements, bits
    character(*), intent(in) :: what
    integer(c_intptr_t) :: begin, end
    begin = transfer(first, 0_c_intptr_t)
    end = transfer(last, 0_c_intptr_t)
    call check(begin == transfer(address, 0_c_intptr_t), what // 'begins at the address')
    call check(end - begin == (elements - 1) * (bits / 8), what // 'the last element lies behind all others')
  end subroutine check_ends

end program pointer_test
"""


def type_of(kind):
    name, value = kind.split(":")
    return f"character(kind={value})" if name == "character" else f"{name}({value})"


def elements(rank):
    count = 1
    for extent in SHAPE[:rank]:
        count *= extent
    return count


def test_of(name, kind):
    lines = [f"  subroutine {name}()"]
    lines += [f"    {type_of(kind)}, pointer :: a{rank}{'(' + ', '.join(':' * rank) + ')' if rank else ''}" for rank in range(8)]
    lines += ["    call sennit_pointer(place, a0)",
              f"    call check_ends(c_loc(a0), c_loc(a0), 1, storage_size(a0), '{kind}, rank 0: ')",
              "    nullify (a0)", "    call sennit_pointer(address, a0)",
              f"    call check_ends(c_loc(a0), c_loc(a0), 1, storage_size(a0), '{kind}, rank 0, from an address: ')"]
    for rank in range(1, 8):
        for source in ("place", "address"):
            for kind_of_shape in ("c_int", "c_int64_t"):
                lines += uses(kind, rank, source, kind_of_shape)
    return [*lines, f"  end subroutine {name}", ""]


def uses(kind, rank, source, kind_of_shape):
    shape, lower = (f"[{', '.join(map(str, values[:rank]))}]" for values in (SHAPE, LOWER))
    if kind_of_shape != "c_int":
        shape, lower = f"int({shape}, {kind_of_shape})", f"int({lower}, {kind_of_shape})"
    array, lines = f"a{rank}", []
    for bounds in (False, True):
        what = f"{kind}, rank {rank}, {source}, {kind_of_shape}: "
        low = LOWER[:rank] if bounds else (1,) * rank
        high = tuple(b + extent - 1 for b, extent in zip(low, SHAPE))
        first, last = (", ".join(map(str, place)) for place in (low, high))
        lines += [f"    nullify ({array})",
                  f"    call sennit_pointer({source}, {array}, {shape}{', lower=' + lower if bounds else ''})",
                  f"    call check(all(lbound({array}) == [{first}]) .and. all(ubound({array}) == [{last}]), &",
                  f"      '{what}bounds')",
                  f"    call check(is_contiguous({array}), '{what}contiguous')",
                  f"    call check_ends(c_loc({array}({first})), c_loc({array}({last})), {elements(rank)}, storage_size({array}), &",
                  f"      '{what}')"]
    return lines


def main():
    kinds, path = sys.argv[1:]
    names = {f"kind_{index}": kind for index, kind in enumerate(kinds.split(","))}
    lines = ["  subroutine all_kinds()", *(f"    call {name}()" for name in names), "  end subroutine all_kinds", ""]
    for name, kind in names.items():
        lines += test_of(name, kind)
    with open(path, "w", encoding="ascii") as file:
        file.write(HEAD + "\n".join(lines) + TAIL)


if __name__ == "__main__":
    main()
