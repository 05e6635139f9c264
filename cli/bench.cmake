# `sennit bench`: its sources, and the launchers that the build has found.
target_sources(sennit_cli PRIVATE
    "${CMAKE_CURRENT_LIST_DIR}/bench.cpp"
    "${CMAKE_CURRENT_LIST_DIR}/bench_launch.cpp"
    "${CMAKE_CURRENT_LIST_DIR}/bench_process.cpp"
    "${CMAKE_CURRENT_LIST_DIR}/bench_ranks.cpp"
    "${CMAKE_CURRENT_LIST_DIR}/bench_start.cpp"
    "${CMAKE_CURRENT_LIST_DIR}/report.cpp")
target_include_directories(sennit_cli PRIVATE "${CMAKE_CURRENT_LIST_DIR}")
target_link_libraries(sennit_cli PRIVATE sennit_bench_common fmt::fmt CLI11::CLI11)

# In an installation: the path from the folder of `sennit` to the folder of the measuring programs.
file(RELATIVE_PATH SENNIT_BENCH_LIBEXEC
    "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBEXECDIR}/sennit")
target_compile_definitions(sennit_cli PRIVATE
    "SENNIT_BENCH_LIBEXEC=\"${SENNIT_BENCH_LIBEXEC}\""
    "SENNIT_BENCH_OPENMPI=\"${SENNIT_LAUNCH_OPENMPI}\""
    "SENNIT_BENCH_MPICH=\"${SENNIT_LAUNCH_MPICH}\"")

# `sennit report` is a program in Python. The build tree has a link to its sources. An installation has the sources
# beside the measuring programs, together with the modules that also make the pages of docs/results.
cmake_path(SET report_folder NORMALIZE "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${SENNIT_BENCH_LIBEXEC}")
file(MAKE_DIRECTORY "${report_folder}")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/bench/report" "${report_folder}/report" SYMBOLIC)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/bench/report/" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/sennit/report"
    COMPONENT programs FILES_MATCHING PATTERN "*.py" PATTERN "*.j2" PATTERN "results*.py" EXCLUDE)
foreach(module charts lines pages runs)
    install(FILES "${PROJECT_SOURCE_DIR}/bench/study/${module}.py" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/sennit/report"
        COMPONENT programs)
endforeach()
