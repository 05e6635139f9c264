# Fortran programs. Used only if SENNIT_HAVE_FORTRAN is set.
#
#   sennit_fortran_program(target source... [LIBRARIES library...])   linked with sennit::fortran; the program's modules go into
#                                                                     its own folder
#   sennit_fortran_mpi(mpi)   makes sennit::mpi_fortran_<mpi>: the MPI's modules and libraries, and modules sennit_mpi,
#                             sennit_mpi_plan and sennit_zcom compiled for it; nothing if the MPI has no Fortran
function(sennit_fortran_program target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LIBRARIES")
    add_executable(${target} ${ARG_UNPARSED_ARGUMENTS})
    sennit_fortran_flags(${target})
    target_link_libraries(${target} PRIVATE sennit::fortran ${ARG_LIBRARIES})
    set_target_properties(${target} PROPERTIES Fortran_PREPROCESS OFF
        Fortran_MODULE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/modules/${target}")
endfunction()

# Sets `out` to the command line of the MPI's Fortran wrapper, beside its launcher or in PATH; empty if there is none.
function(sennit_fortran_wrapper out mpi)
    set(${out} "" PARENT_SCOPE)
    string(TOUPPER "${mpi}" upper)
    cmake_path(GET SENNIT_LAUNCH_${upper} PARENT_PATH folder)
    find_program(SENNIT_MPIFORT_${upper} NAMES mpifort.${mpi} mpifort HINTS "${folder}")
    mark_as_advanced(SENNIT_MPIFORT_${upper})
    if(NOT SENNIT_MPIFORT_${upper})
        return()
    endif()
    set(question -show)
    if(mpi STREQUAL "openmpi")
        set(question --showme)
    endif()
    execute_process(COMMAND "${SENNIT_MPIFORT_${upper}}" ${question}
        OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE code TIMEOUT 20)
    if(code EQUAL 0)
        set(${out} "${answer}" PARENT_SCOPE)
    endif()
endfunction()

# Sets `out` to the sources of sennit_mpi, sennit_mpi_plan and sennit_zcom that compile with this MPI. Its modules mpi_f08 and mpi
# may be missing, or be made for another compiler.
function(sennit_fortran_mpi_source out mpi)
    set(${out} "" PARENT_SCOPE)
    foreach(module mpi_f08 mpi)
        if(NOT DEFINED SENNIT_FORTRAN_${module}_${mpi})
            set(try "${CMAKE_CURRENT_BINARY_DIR}/modules/try_${module}_${mpi}.f90")
            file(WRITE "${try}" "use ${module}\ncall MPI_Init(i)\nend\n")
            try_compile(works "${CMAKE_CURRENT_BINARY_DIR}/modules/try_${mpi}" "${try}"
                LINK_LIBRARIES sennit::mpi_fortran_${mpi})
            set(SENNIT_FORTRAN_${module}_${mpi} ${works} CACHE INTERNAL "")
        endif()
    endforeach()
    set(folder "${PROJECT_SOURCE_DIR}/bindings/fortran/mpi")
    set(common "${folder}/sennit_mpi_bootstrap.f90" "${folder}/sennit_zcom_calls.f90" "${folder}/sennit_mpi_plan_calls.f90"
        "${folder}/sennit_mpi_plan_handles.c")
    if(SENNIT_FORTRAN_mpi_f08_${mpi})
        set(${out} ${common} "${folder}/sennit_mpi.f90" "${folder}/sennit_zcom.f90" "${folder}/sennit_mpi_plan.f90" PARENT_SCOPE)
    elseif(SENNIT_FORTRAN_mpi_${mpi})
        set(${out} ${common} "${folder}/sennit_mpi_integer.f90" "${folder}/sennit_zcom_integer.f90"
            "${folder}/sennit_mpi_plan_integer.f90" PARENT_SCOPE)
    endif()
endfunction()

function(sennit_fortran_mpi mpi)
    sennit_fortran_wrapper(command ${mpi})
    if(NOT command)
        return()
    endif()
    sennit_mpi_target(fortran_${mpi} "${command}")
    sennit_fortran_mpi_source(sources ${mpi})
    if(NOT sources)
        return()
    endif()
    add_library(sennit_mpi_${mpi} STATIC ${sources})
    sennit_internal_archive(sennit_mpi_${mpi})
    sennit_fortran_flags(sennit_mpi_${mpi})
    set(modules "${CMAKE_CURRENT_BINARY_DIR}/modules/sennit_mpi_${mpi}")
    set_target_properties(sennit_mpi_${mpi} PROPERTIES Fortran_PREPROCESS OFF Fortran_MODULE_DIRECTORY "${modules}")
    target_include_directories(sennit_mpi_${mpi} INTERFACE "${modules}")
    target_link_libraries(sennit_mpi_${mpi} PUBLIC sennit::fortran sennit::mpi_fortran_${mpi}
        PRIVATE sennit::mpi_${mpi}) # for the C source
    add_library(sennit::module_mpi_${mpi} ALIAS sennit_mpi_${mpi})
endfunction()
