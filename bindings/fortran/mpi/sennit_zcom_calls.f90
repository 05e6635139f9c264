! The six calls of ZCom (sennit_zcom.h) on communicators that are integers. Programs use module sennit_zcom, which exports them.
module sennit_zcom_calls
  use iso_c_binding
  use mpi
  use sennit
  use sennit_c, only: c_sennit_channel_can_read, c_sennit_channel_can_write, c_sennit_channel_have_read, &
    c_sennit_channel_have_written
  use sennit_mpi_bootstrap
  implicit none
  private
  public :: zcom_open, zcom_close, ZCom_can_write, ZCom_have_written, ZCom_can_read, ZCom_have_read

  character(kind=c_char, len=10), save, target :: operation_of_init = c_char_'ZCom_init' // c_null_char
  character(kind=c_char, len=13), save, target :: operation_of_cleanup = c_char_'ZCom_cleanup' // c_null_char

  ! The number of starts of Sennit by zcom_open that zcom_close has not ended.
  integer, save :: starts = 0

contains

  ! Every process takes part in the MPI call, also a process with an error. After that call nothing is collective, as in C.
  subroutine zcom_open(buffers, sizes, comm, target_ranks, num_targets, attached, ids, err)
    type(c_ptr), target, intent(in) :: buffers(*)
    integer(c_size_t), target, intent(in) :: sizes(*)
    integer(mpi_kind), intent(in) :: comm
    integer(c_int), intent(in) :: target_ranks(*)
    integer(c_int), value :: num_targets
    type(c_ptr), intent(inout) :: attached(*)
    integer(c_int), intent(inout) :: ids(*)
    integer(c_int), optional, intent(out) :: err
    integer(c_int), target :: worlds(max(num_targets, 0_c_int))
    type(sennit_channel) :: channels(size(worlds))
    type(sennit_channel_ends) :: ends
    integer(c_int) :: status
    call sennit_mpi_start(comm, status=status)
    if (status == SENNIT_OK) then
      call translate(comm, target_ranks(:size(worlds)), worlds, status)
      ends = sennit_channel_ends_of(size(worlds), worlds, buffers(:size(worlds)), sizes(:size(worlds)))
      if (status == SENNIT_OK) &
        call sennit_channel_open(SENNIT_TEAM_WORLD, ends, ior(SENNIT_CHANNEL_MIRROR, SENNIT_CHANNEL_PULL), SENNIT_FOREVER, &
                                 attached, channels, stat=status)
      if (status == SENNIT_OK) then
        ids(:size(worlds)) = channels%handle
        starts = starts + 1
      else
        call leave()
      end if
    end if
    if (present(err)) err = status
  end subroutine zcom_open

  ! Ends Sennit without a change of the last error.
  subroutine leave()
    type(sennit_error) :: error
    character(:), allocatable :: text
    integer(c_int) :: ended
    error = sennit_last_error()
    text = sennit_last_error_text()
    call sennit_finalize(stat=ended)
    if (ended /= SENNIT_OK) ended = sennit_error_report(error%status, operation_of_init, text, error%provider_code)
  end subroutine leave

  ! worlds(i) becomes the world rank of targets(i), a rank of the communicator. Collective over the communicator: wrong targets of
  ! one process are an error of all.
  subroutine translate(comm, targets, worlds, status)
    integer(mpi_kind), intent(in) :: comm
    integer(c_int), intent(in) :: targets(:)
    integer(c_int), intent(inout) :: worlds(:)
    integer(c_int), intent(out) :: status
    integer(mpi_kind), allocatable :: every(:)
    integer(mpi_kind) :: self, ranks, failed, first, its, code
    integer :: no_memory
    character(len=60) :: text
    status = SENNIT_OK
    call MPI_Comm_rank(comm, self, code)
    call MPI_Comm_size(comm, ranks, code)
    allocate (every(0:ranks - 1), stat=no_memory)
    if (no_memory /= 0) &
      status = sennit_error_report(SENNIT_ERR_NOMEM, operation_of_init, 'no memory for the ranks', 0_c_int64_t)
    if (any(targets < 0 .or. targets >= ranks)) &
      status = sennit_error_report(SENNIT_ERR_RANGE, operation_of_init, 'no such target in comm', 0_c_int64_t)
    ! The lowest process with an error tells the others which. In mixed programs C processes make the same calls.
    failed = merge(ranks, self, status == SENNIT_OK)
    call MPI_Allreduce(failed, first, 1_mpi_kind, MPI_INTEGER, MPI_MIN, comm, code)
    if (code == MPI_SUCCESS .and. first < ranks) then
      its = status
      call MPI_Bcast(its, 1_mpi_kind, MPI_INTEGER, first, comm, code)
      write (text, '(a, i0, a)') 'process ', first, ' of comm cannot open its channels'
      if (code == MPI_SUCCESS .and. status == SENNIT_OK) &
        status = sennit_error_report(int(its, c_int), operation_of_init, trim(text), 0_c_int64_t)
    else if (code == MPI_SUCCESS) then
      call MPI_Allgather(int(sennit_rank(), mpi_kind), 1_mpi_kind, MPI_INTEGER, every, 1_mpi_kind, MPI_INTEGER, comm, code)
    end if
    if (code /= MPI_SUCCESS .and. status == SENNIT_OK) &
      status = sennit_error_report(SENNIT_ERR_BOOTSTRAP, operation_of_init, 'an MPI call failed', int(code, c_int64_t))
    if (status == SENNIT_OK) worlds = every(targets)
  end subroutine translate

  subroutine zcom_close(ids, num_targets, comm, err)
    integer(c_int), intent(in) :: ids(*)
    integer(c_int), value :: num_targets
    integer(mpi_kind), intent(in) :: comm
    integer(c_int), optional, intent(out) :: err
    type(sennit_channel) :: channels(max(num_targets, 0_c_int))
    integer(c_int) :: status, ended
    integer(mpi_kind) :: code
    channels%handle = max(ids(:size(channels)), 0_c_int)
    call sennit_channel_close(channels, size(channels), SENNIT_FOREVER, stat=status)
    call MPI_Barrier(comm, code)
    if (code /= MPI_SUCCESS .and. status == SENNIT_OK) &
      status = sennit_error_report(SENNIT_ERR_BOOTSTRAP, operation_of_cleanup, 'MPI_Barrier failed', int(code, c_int64_t))
    if (starts > 0) then
      call sennit_finalize(stat=ended)
      starts = starts - 1
      if (status == SENNIT_OK) status = ended
    end if
    if (present(err)) err = status
  end subroutine zcom_close

  ! The four functions below call C directly, because they are called most often.

  ! Returns 1 if the call succeeded, and sets err.
  function end_of_call(status, err) result(is_well)
    integer(c_int), intent(in) :: status
    integer(c_int), optional, intent(out) :: err
    integer(c_int) :: is_well
    if (present(err)) err = status
    is_well = merge(1_c_int, 0_c_int, status == SENNIT_OK)
  end function end_of_call

  ! 1 if the target has read the last message, so that the buffer may be written, else 0.
  function ZCom_can_write(id, err) result(can)
    integer(c_int), value :: id
    integer(c_int), optional, intent(out) :: err
    integer(c_int) :: can, status
    can = 0
    status = c_sennit_channel_can_write(sennit_channel(max(id, 0_c_int)), can)
    can = end_of_call(status, err) * can
  end function ZCom_can_write

  ! Hands over the written buffer: 1, or 0 if the target has not read the last message.
  function ZCom_have_written(id, err) result(is_well)
    integer(c_int), value :: id
    integer(c_int), optional, intent(out) :: err
    integer(c_int) :: is_well
    is_well = end_of_call(c_sennit_channel_have_written(sennit_channel(max(id, 0_c_int))), err)
  end function ZCom_have_written

  ! 1 if there is a message of the target that this process has not read, else 0.
  function ZCom_can_read(id, err) result(can)
    integer(c_int), value :: id
    integer(c_int), optional, intent(out) :: err
    integer(c_int) :: can, status
    can = 0
    status = c_sennit_channel_can_read(sennit_channel(max(id, 0_c_int)), can)
    can = end_of_call(status, err) * can
  end function ZCom_can_read

  ! Hands the read buffer back: 1, or 0 if there was no message.
  function ZCom_have_read(id, err) result(is_well)
    integer(c_int), value :: id
    integer(c_int), optional, intent(out) :: err
    integer(c_int) :: is_well
    is_well = end_of_call(c_sennit_channel_have_read(sennit_channel(max(id, 0_c_int))), err)
  end function ZCom_have_read

end module sennit_zcom_calls
