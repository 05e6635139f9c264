! Transposition of a matrix of blocks, all to all, by several threads of each rank: each thread computes the slabs for some ranks
! and sends each slab as soon as it is ready. Threads share the attached blocks, so each call names its epoch. One signal tells
! that the slabs of all threads of all ranks have arrived.
!     sennit run -n 4 threads
program threads
  use iso_c_binding
  use must
  use omp_lib
  use sennit
  implicit none
  integer, parameter :: senders = 3, words = 2000, steps = 20
  integer(c_size_t), parameter :: slab_bytes = words * c_sizeof(1_c_int64_t)

  type(sennit_options) :: options
  type(sennit_gptr) :: memory
  type(sennit_region) :: region
  type(sennit_signal) :: arrived
  type(sennit_block) :: mine
  type(sennit_block), allocatable :: blocks(:)
  ! A block of each rank. It has a slab from each rank for even steps and one for odd steps.
  type(sennit_peer_block), allocatable :: there(:)
  integer(c_int64_t), pointer :: slabs(:, :, :)
  integer :: rank, ranks, peer

  options%thread_level = SENNIT_THREAD_MULTIPLE
  call sennit_init(options)
  rank = sennit_rank()
  ranks = sennit_size()
  call sennit_alloc(SENNIT_TEAM_WORLD, 2 * ranks * slab_bytes, 0, 0, memory)
  call sennit_pointer(memory, slabs, [words, ranks, 2])
  call sennit_signal_create(ranks, ranks, 0, arrived)
  region%gptr = sennit_gptr_at(memory, rank)
  region%bytes = 2 * ranks * slab_bytes
  call sennit_block_init(region, 0, 2 * ranks * slab_bytes, SENNIT_SIGNAL_NULL, arrived, mine)
  allocate (blocks(0:ranks - 1), there(0:ranks - 1))
  call sennit_allgather(SENNIT_TEAM_WORLD, mine, blocks, c_sizeof(mine), SENNIT_FOREVER)
  do peer = 0, ranks - 1
    call sennit_block_attach(blocks(peer), there(peer))
  end do

  call omp_set_dynamic(.false.)
  !$omp parallel num_threads(senders + 1)
  call must_be(omp_get_num_threads() == senders + 1, 'threads that send, and one that receives')
  if (omp_get_thread_num() == 0) then
    call receive()
  else
    call send_slabs(omp_get_thread_num() - 1)
  end if
  !$omp end parallel

  call sennit_flush_all(SENNIT_FOREVER)
  call sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)
  if (rank == 0) print '(i0,a,i0,a)', steps, ' steps of slabs from all to all, by ', senders, ' threads a rank'
  do peer = 0, ranks - 1
    call sennit_block_detach(there(peer))
  end do
  call sennit_signal_destroy(arrived)
  call sennit_free(memory)
  call sennit_finalize()

contains

  pure function word_of(step, from, to) result(word)
    integer, intent(in) :: step, from, to
    integer(c_int64_t) :: word
    word = (int(step, c_int64_t) * 65536 + from) * 65536 + to
  end function word_of

  subroutine send_slabs(number)
    integer, intent(in) :: number
    integer(c_int64_t), target :: slab(words)
    type(sennit_notice) :: notice
    integer :: step, to
    do step = 0, steps - 1
      do to = number, ranks - 1, senders
        slab = word_of(step, rank, to)
        ! A thread that is two steps ahead of a rank waits until that rank has read its slabs.
        notice = sennit_notice(epoch=int(step, c_int64_t), wait_ns=SENNIT_FOREVER)
        call sennit_put_notify_with(there(to), (modulo(step, 2) * ranks + rank) * slab_bytes, slab, slab_bytes, notice)
      end do
    end do
  end subroutine send_slabs

  subroutine receive()
    integer :: step, from
    do step = 0, steps - 1
      call sennit_signal_wait(arrived, SENNIT_FOREVER)
      do from = 0, ranks - 1
        call must_be(all(slabs(:, from + 1, modulo(step, 2) + 1) == word_of(step, from, rank)), 'a slab')
      end do
      call sennit_signal_reset(arrived)
    end do
  end subroutine receive

end program threads
