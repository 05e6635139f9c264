# `sennit bench`, a part of the command line: its sources, and what the build knows about launchers.
target_sources(sennit_cli PRIVATE
    "${CMAKE_CURRENT_LIST_DIR}/bench.cpp"
    "${CMAKE_CURRENT_LIST_DIR}/bench_launch.cpp"
    "${CMAKE_CURRENT_LIST_DIR}/bench_process.cpp"
    "${CMAKE_CURRENT_LIST_DIR}/bench_ranks.cpp"
    "${CMAKE_CURRENT_LIST_DIR}/bench_start.cpp")
target_include_directories(sennit_cli PRIVATE "${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(sennit_cli PRIVATE sennit_bench_common fmt::fmt CLI11::CLI11)

# From the folder of programs to that of the measuring programs, in an installation.
file(RELATIVE_PATH SENNIT_BENCH_LIBEXEC
    "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBEXECDIR}/sennit")
target_compile_definitions(sennit_cli PRIVATE
    "SENNIT_BENCH_LIBEXEC=\"${SENNIT_BENCH_LIBEXEC}\""
    "SENNIT_BENCH_OPENMPI=\"${SENNIT_LAUNCH_OPENMPI}\""
    "SENNIT_BENCH_MPICH=\"${SENNIT_LAUNCH_MPICH}\"")
