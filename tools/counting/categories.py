"""The four categories of the paper for calls of MPI, MPI RMA, OpenSHMEM and Sennit (docs/manual/productivity.md).

    plain(name)          the counted name: without profiling prefix and type
    category(name)       (library, category) of a call, None for other functions; the category is UNKNOWN if the
                         name has a library's prefix and is not in the table

A word of the table is a name, or a prefix that ends with *. The longest matching word decides.
"""
import re

SYNCHRONISATION, COMMUNICATION, ALLOCATION, RANK_QUERY = CATEGORIES = (
    "synchronisation", "communication", "allocation", "rank query")
LEFT_OUT, UNKNOWN = "left out", "unknown"
MPI, RMA, SHMEM, SENNIT = LIBRARIES = ("MPI", "MPI-RMA", "OpenSHMEM", "Sennit")

TABLE = {
    MPI: {
        SYNCHRONISATION: """
            MPI_Barrier* MPI_Ibarrier MPI_Wait* MPI_Test* MPI_Probe MPI_Iprobe MPI_Mprobe MPI_Improbe MPI_Parrived MPI_Cancel
            MPI_Request_free MPI_Request_get_status* MPI_Grequest_*""",
        COMMUNICATION: """
            MPI_Send* MPI_Bsend* MPI_Ssend* MPI_Rsend* MPI_Psend_init MPI_Recv* MPI_Mrecv* MPI_Precv_init MPI_Isend* MPI_Ibsend*
            MPI_Issend* MPI_Irsend* MPI_Irecv* MPI_Imrecv* MPI_Start MPI_Startall MPI_Pready*
            MPI_Bcast* MPI_Ibcast* MPI_Gather* MPI_Igather* MPI_Scatter* MPI_Iscatter* MPI_Allgather* MPI_Iallgather*
            MPI_Alltoall* MPI_Ialltoall* MPI_Neighbor_* MPI_Ineighbor_* MPI_Reduce* MPI_Ireduce* MPI_Allreduce* MPI_Iallreduce*
            MPI_Scan* MPI_Iscan* MPI_Exscan* MPI_Iexscan* MPI_Op_* MPI_Type_* MPI_Pack* MPI_Unpack* MPI_Get_count*
            MPI_Get_elements* MPI_Get_address MPI_Address MPI_Aint_*""",
        ALLOCATION: "MPI_Buffer_*",
        RANK_QUERY: """
            MPI_Comm_* MPI_Group_* MPI_Intercomm_* MPI_Cart* MPI_Graph* MPI_Dist_graph_* MPI_Dims_create MPI_Topo_test""",
        LEFT_OUT: """
            MPI_Init MPI_Init_thread MPI_Initialized MPI_Finalize MPI_Finalized MPI_Abort MPI_Session_* MPI_Query_thread
            MPI_Is_thread_main MPI_Comm_spawn* MPI_Comm_accept MPI_Comm_connect MPI_Comm_disconnect MPI_Comm_join
            MPI_Comm_get_parent MPI_Open_port MPI_Close_port MPI_Publish_name MPI_Unpublish_name MPI_Lookup_name
            MPI_Wtime MPI_Wtick MPI_Pcontrol MPI_Get_version MPI_Get_library_version MPI_Get_processor_name MPI_T_* MPI_File_*
            MPI_Register_datarep* MPI_Info_* MPI_Errhandler_* MPI_Error_* MPI_Add_error_* MPI_Remove_error_* MPI_Attr_*
            MPI_Keyval_* MPI_Message_* MPI_Status_* MPI_Request_c2f MPI_Request_f2c MPI_Op_c2f MPI_Op_f2c
            MPI_Comm_c2f MPI_Comm_f2c MPI_Comm_call_errhandler MPI_Comm_create_errhandler MPI_Comm_get_errhandler
            MPI_Comm_set_errhandler MPI_Comm_create_keyval MPI_Comm_free_keyval MPI_Comm_delete_attr MPI_Comm_get_attr
            MPI_Comm_set_attr MPI_Comm_get_info MPI_Comm_set_info MPI_Comm_get_name MPI_Comm_set_name MPI_Group_c2f MPI_Group_f2c
            MPI_Type_c2f MPI_Type_f2c MPI_Type_create_keyval MPI_Type_free_keyval MPI_Type_delete_attr MPI_Type_get_attr
            MPI_Type_set_attr MPI_Type_get_name MPI_Type_set_name""",
    },
    RMA: {
        SYNCHRONISATION: """
            MPI_Win_fence MPI_Win_lock* MPI_Win_unlock* MPI_Win_flush* MPI_Win_sync MPI_Win_post MPI_Win_start MPI_Win_complete
            MPI_Win_wait MPI_Win_test""",
        COMMUNICATION: """
            MPI_Put MPI_Put_c MPI_Rput* MPI_Get MPI_Get_c MPI_Rget* MPI_Accumulate* MPI_Raccumulate* MPI_Get_accumulate*
            MPI_Fetch_and_op MPI_Compare_and_swap""",
        ALLOCATION: """
            MPI_Alloc_mem MPI_Free_mem MPI_Win_create MPI_Win_create_c MPI_Win_create_dynamic MPI_Win_allocate*
            MPI_Win_attach MPI_Win_detach MPI_Win_shared_query* MPI_Win_free""",
        RANK_QUERY: "MPI_Win_get_group",
        LEFT_OUT: """
            MPI_Win_c2f MPI_Win_f2c MPI_Win_call_errhandler MPI_Win_create_errhandler MPI_Win_get_errhandler
            MPI_Win_set_errhandler MPI_Win_create_keyval MPI_Win_free_keyval MPI_Win_delete_attr MPI_Win_get_attr
            MPI_Win_set_attr MPI_Win_get_info MPI_Win_set_info MPI_Win_get_name MPI_Win_set_name""",
    },
    SHMEM: {
        SYNCHRONISATION: """
            shmem_barrier* shmem_sync* shmem_team_sync shmem_fence shmem_quiet shmem_pe_quiet shmem_ctx_fence shmem_ctx_quiet
            shmem_ctx_pe_quiet shmem_wait* shmem_test* shmem_set_* shmem_clear_* shmem_udcflush* shmem_signal_* shmem_ctx_signal_*""",
        COMMUNICATION: """
            shmem_put* shmem_get* shmem_p shmem_g shmem_iput* shmem_iget* shmem_ibput* shmem_ibget* shmem_ctx_put* shmem_ctx_get*
            shmem_ctx_iput* shmem_ctx_iget* shmem_ctx_ibput* shmem_ctx_ibget* shmem_atomic_* shmem_add shmem_inc shmem_fadd
            shmem_finc shmem_swap shmem_cswap shmem_fetch shmem_set shmem_broadcast* shmem_collect* shmem_fcollect*
            shmem_alltoall* shmem_and_* shmem_or_* shmem_xor_* shmem_min_* shmem_max_* shmem_sum_* shmem_prod_*""",
        ALLOCATION: """
            shmem_malloc* shmem_calloc shmem_align shmem_realloc shmem_free shmem_ptr shmem_team_ptr shmem_addr_accessible
            shmem_ctx_create shmem_ctx_destroy shmem_ctx_session_* shmem_team_create_ctx shmalloc shmemalign shrealloc shfree""",
        RANK_QUERY: "shmem_my_pe shmem_n_pes shmem_pe_accessible shmem_team_* shmem_ctx_get_team _my_pe _num_pes",
        LEFT_OUT: "shmem_init* shmem_finalize shmem_global_exit shmem_info_* shmem_query_* shmem_pcontrol start_pes",
    },
    SENNIT: {
        SYNCHRONISATION: """
            sennit_barrier sennit_barrier_nb sennit_fence sennit_flush* sennit_wait* sennit_test* sennit_signal_* sennit_lock_*
            sennit_channel_* sennit_plan_wait sennit_message_plan_wait sennit_message_plan_test
            unr_sig_* ZCom_can_* ZCom_have_*""",
        COMMUNICATION: """
            sennit_put* sennit_get* sennit_accumulate* sennit_atomic_* sennit_box_line sennit_broadcast* sennit_gather*
            sennit_scatter* sennit_allgather* sennit_alltoall* sennit_reduce* sennit_allreduce* sennit_scan* sennit_reduction_*
            sennit_plan_* sennit_message_plan_* sennit_queue_*
            UNR_Put UNR_Get UNR_RMA_Plan unr_blk_rdma_* unr_blk_part_rdma_* unr_plan_*""",
        ALLOCATION: """
            sennit_alloc sennit_alloc_local sennit_free sennit_register sennit_deregister sennit_region_* sennit_segment_bytes
            sennit_ptr sennit_gptr_* sennit_block_* sennit_signal_create sennit_signal_destroy sennit_waitset_create
            sennit_waitset_destroy sennit_lock_create sennit_lock_destroy sennit_channel_open sennit_channel_close
            sennit_queue_create sennit_queue_destroy sennit_queue_attach sennit_queue_detach
            UNR_Mem_Reg unr_mem_reg* unr_blk_reg UNR_Blk_Init UNR_Sig_Init unr_sig_create unr_sig_pool_create
            ZCom_init_c ZCom_cleanup_c""",
        RANK_QUERY: "sennit_rank sennit_size sennit_team_* sennit_group_* sennit_grid_* sennit_domain_* sennit_locality*",
        LEFT_OUT: """
            sennit_init sennit_init_mpi sennit_initialized sennit_finalize sennit_thread_* sennit_bootstrap_* sennit_wtime
            sennit_last_error sennit_error_report sennit_log_set sennit_status_string sennit_version sennit_build_description
            sennit_knob_get sennit_path_* sennit_peer_* sennit_provider_get sennit_stats_* sennit_trace_note sennit_mechanism_name
            unr_init unr_finalize
            sennit_shmem_has_no_form_for_this_type sennit_shmem_wrong_number_of_arguments""",
    },
}
# The beginnings of names of each library; MPI RMA has those of MPI.
NAMES = re.compile(r"MPIX?_[A-Z]|_?shmemx?_[a-z]|sennit_[a-z]|unr_[a-z]|UNR_[A-Z]|ZCom_[a-z]")
PROFILED = re.compile(r"^(?:P(?=MPIX?_)|p(?=shmem|shmalloc|shrealloc|shfree|start_pes|_my_pe|_num_pes))")
# A typed call of OpenSHMEM counts as the generic call of C11 that the standard has for it; the same for Sennit.
SHMEM_TYPED = re.compile(
    r"shmem_(?:ctx_)?(?:float|double|longdouble|char|schar|short|int|long|longlong|uchar|ushort|uint|ulong|ulonglong"
    r"|u?int(?:8|16|32|64)|size|ptrdiff|complexf|complexd)_")
SENNIT_TYPED = re.compile(r"(sennit_atomic_\w+?)_[iuf](?:32|64)")
WORDS = {word: (library, kind) for library, kinds in TABLE.items() for kind, text in kinds.items() for word in text.split()}


def plain(name):
    return SENNIT_TYPED.sub(r"\1", SHMEM_TYPED.sub("shmem_", PROFILED.sub("", name)))


def word_for(name):
    """The word of the table that decides for a plain name, None if there is none."""
    if name in WORDS:
        return name
    return next((name[:end] + "*" for end in range(len(name), 0, -1) if name[:end] + "*" in WORDS), None)


def category(name):
    word = word_for(plain(name))
    if word is not None:
        return WORDS[word]
    return (None, UNKNOWN) if NAMES.match(plain(name)) else None
