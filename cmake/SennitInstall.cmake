# The components of `cmake --install`; SennitPackage.cmake makes packages of the same components:
#   runtime        libsennit.so.ABI, for running programs
#   development    headers, libsennit.so, libsennit.a, CMake package, pkg-config, module file, man pages of the calls
#   fortran        module files, libsennit_fortran.a, sources of the modules for other compilers
#   openshmem_runtime   libsennit_shmem.so.ABI
#   openshmem      headers of OpenSHMEM, libsennit_shmem.so, oshcc and oshrun in a folder of their own, pkg-config
#   programs       `sennit`, its completion, the programs that `sennit bench` starts, man pages of the commands
#   bench_MPI      the programs that `sennit bench --mpi MPI` starts
#   documents      README, docs/, examples/, the pages of apps/
# The build tree also has a CMake package, .pc files and the Fortran sources, at the same places relative to the headers as an
# installation. So other projects can use the build tree in the same way.
include(CMakePackageConfigHelpers)

set(SENNIT_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/sennit")
cmake_path(GET SENNIT_HEADER_OUTPUT_DIRECTORY PARENT_PATH SENNIT_BUILT_PREFIX)
set(SENNIT_BUILT_PACKAGE "${SENNIT_BUILT_PREFIX}/lib/cmake/sennit")
# Components of find_package. To add one, call sennit_install_component().
set(SENNIT_COMPONENTS "")

# Makes the export set sennit-NAME-targets component `name` of find_package, in the component `package` of the installation.
function(sennit_install_component name package)
    install(EXPORT sennit-${name}-targets NAMESPACE sennit::
        DESTINATION "${SENNIT_PACKAGE_DIR}" COMPONENT ${package})
    export(EXPORT sennit-${name}-targets NAMESPACE sennit:: FILE "${SENNIT_BUILT_PACKAGE}/sennit-${name}-targets.cmake")
    list(APPEND SENNIT_COMPONENTS ${name})
    return(PROPAGATE SENNIT_COMPONENTS)
endfunction()

# With BUILD_SHARED_LIBS=OFF `runtime` and `openshmem_runtime` are empty, and `openshmem` has libsennit_shmem.a.
install(TARGETS sennit EXPORT sennit-c-targets
    LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
sennit_install_component(c development)
install(TARGETS sennit_static EXPORT sennit-static-targets ARCHIVE COMPONENT development)
sennit_install_component(static development)
if(TARGET sennit_cli)
    set_target_properties(sennit_cli PROPERTIES EXPORT_NAME cli)
    install(TARGETS sennit_cli EXPORT sennit-cli-targets RUNTIME COMPONENT programs)
    sennit_install_component(cli programs)
else()
    list(APPEND SENNIT_COMPONENTS cli)
endif()
set_target_properties(sennit_shmem PROPERTIES EXPORT_NAME shmem)
install(TARGETS sennit_shmem EXPORT sennit-openshmem-targets
    ARCHIVE COMPONENT openshmem
    LIBRARY COMPONENT openshmem_runtime NAMELINK_COMPONENT openshmem)
sennit_install_component(openshmem openshmem)
install(DIRECTORY frontends/openshmem/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sennit-openshmem"
    COMPONENT openshmem FILES_MATCHING PATTERN "*.h")
set(shmem_wrappers "${CMAKE_INSTALL_FULL_LIBEXECDIR}/sennit/openshmem")
foreach(place INCLUDEDIR LIBDIR BINDIR)
    file(RELATIVE_PATH to_${place} "${shmem_wrappers}" "${CMAKE_INSTALL_FULL_${place}}")
endforeach()
sennit_shmem_wrappers("${PROJECT_BINARY_DIR}/openshmem" "${to_INCLUDEDIR}/sennit-openshmem" "${to_LIBDIR}" "${to_BINDIR}")
install(PROGRAMS "${PROJECT_BINARY_DIR}/openshmem/oshcc" "${PROJECT_BINARY_DIR}/openshmem/oshc++"
    "${PROJECT_BINARY_DIR}/openshmem/oshcxx" "${PROJECT_BINARY_DIR}/openshmem/oshCC"
    "${PROJECT_BINARY_DIR}/openshmem/oshrun"
    DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/sennit/openshmem" COMPONENT openshmem)
if(TARGET sennit_fortran)
    install(TARGETS sennit_fortran EXPORT sennit-fortran-targets ARCHIVE COMPONENT fortran)
    sennit_install_component(fortran fortran)
    install(DIRECTORY "${SENNIT_HEADER_OUTPUT_DIRECTORY}/sennit/fortran"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sennit" COMPONENT fortran FILES_MATCHING PATTERN "*.mod")
    file(MAKE_DIRECTORY "${SENNIT_BUILT_PREFIX}/share/sennit/fortran")
    get_property(fortran_sources GLOBAL PROPERTY SENNIT_FORTRAN_INSTALLED_SOURCES)
    foreach(source IN LISTS fortran_sources)
        cmake_path(GET source FILENAME name)
        file(CREATE_LINK "${source}" "${SENNIT_BUILT_PREFIX}/share/sennit/fortran/${name}" SYMBOLIC)
    endforeach()
    install(FILES ${fortran_sources} DESTINATION "${CMAKE_INSTALL_DATADIR}/sennit/fortran" COMPONENT fortran)
else()
    list(APPEND SENNIT_COMPONENTS fortran)
endif()

# The .pc files find their prefix from their own place, so an installed tree may be moved.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
    OUTPUT_VARIABLE libdir)
file(RELATIVE_PATH SENNIT_PC_PREFIX "${libdir}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" SENNIT_PC_PREFIX "${SENNIT_PC_PREFIX}")
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}"
    OUTPUT_VARIABLE SENNIT_PC_INCLUDEDIR)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}"
    OUTPUT_VARIABLE SENNIT_PC_LIBDIR)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_DATADIR BASE_DIRECTORY "\${prefix}"
    OUTPUT_VARIABLE SENNIT_PC_DATADIR)
function(sennit_write_pc name file)
    configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${name}.pc.in" "${file}" @ONLY)
endfunction()
function(sennit_write_built_pc name)
    set(SENNIT_PC_PREFIX "../..")
    set(SENNIT_PC_INCLUDEDIR "${SENNIT_HEADER_OUTPUT_DIRECTORY}")
    set(SENNIT_PC_LIBDIR "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
    set(SENNIT_PC_DATADIR "\${prefix}/share")
    sennit_write_pc(${name} "${SENNIT_BUILT_PREFIX}/lib/pkgconfig/${name}.pc")
endfunction()
# Without a shared library sennit::sennit is the archive.
set(SENNIT_PUBLIC_LIBS "")
set(SENNIT_PRIVATE_LIBS " ${SENNIT_STATIC_LIBS}")
if(NOT BUILD_SHARED_LIBS)
    set(SENNIT_PUBLIC_LIBS " ${SENNIT_STATIC_LIBS}")
    set(SENNIT_PRIVATE_LIBS "")
endif()
set(pc_files "sennit:development" "sennit-static:development" "sennit-openshmem:openshmem")
if(TARGET sennit_fortran)
    list(APPEND pc_files "sennit-fortran:fortran")
endif()
foreach(words IN LISTS pc_files)
    string(REPLACE ":" ";" words "${words}")
    list(GET words 0 name)
    list(GET words 1 component)
    sennit_write_built_pc(${name})
    sennit_write_pc(${name} "${PROJECT_BINARY_DIR}/generated/${name}.pc")
    install(FILES "${PROJECT_BINARY_DIR}/generated/${name}.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT ${component})
endforeach()

# Read before the other components, in this order.
set(SENNIT_BASE_COMPONENTS c)
if(NOT BUILD_SHARED_LIBS)
    set(SENNIT_BASE_COMPONENTS static c)
endif()

# A version satisfies requests for any version with the same ABI.
set(compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(compatibility SameMinorVersion)
endif()
set(SENNIT_FORTRAN_SOURCES "${CMAKE_INSTALL_DATADIR}/sennit/fortran")
configure_package_config_file(cmake/sennitConfig.cmake.in "${SENNIT_BUILT_PACKAGE}/sennitConfig.cmake"
    INSTALL_DESTINATION "${SENNIT_PACKAGE_DIR}" PATH_VARS SENNIT_FORTRAN_SOURCES NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${SENNIT_BUILT_PACKAGE}/sennitConfigVersion.cmake"
    COMPATIBILITY ${compatibility})
install(FILES "${SENNIT_BUILT_PACKAGE}/sennitConfig.cmake" "${SENNIT_BUILT_PACKAGE}/sennitConfigVersion.cmake"
    DESTINATION "${SENNIT_PACKAGE_DIR}" COMPONENT development)

install(DIRECTORY include/sennit DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
    FILES_MATCHING PATTERN "*.h")
install(FILES "${SENNIT_HEADER_OUTPUT_DIRECTORY}/sennit/version.h"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sennit" COMPONENT development)
# Documents keep their relative places, so their links work. Pages of results are installed with their pictures and data files,
# pages of applications with the settings shown there but without sources. Links to headers lead to pages that Python makes
# from the headers, or without Python to copies of the headers.
file(GLOB_RECURSE documents RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/apps/*.md" "${PROJECT_SOURCE_DIR}/docs/*.md")
list(APPEND documents README.md CHANGELOG.md CONTRIBUTING.md)
set(document_folder "${PROJECT_SOURCE_DIR}")
file(GLOB reference_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/sennit/*.h" "${PROJECT_SOURCE_DIR}/tools/reference/*.py"
    "${PROJECT_SOURCE_DIR}/bindings/fortran/*.f90" "${PROJECT_SOURCE_DIR}/bindings/fortran/mpi/*.f90"
    "${PROJECT_SOURCE_DIR}/bindings/fortran/generator/*.py")
if(SENNIT_HAVE_PYTHON)
    set(document_folder "${PROJECT_BINARY_DIR}/documents")
    list(TRANSFORM documents PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE document_sources)
    add_custom_command(OUTPUT "${document_folder}/made"
        COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/make-reference" --into "${document_folder}" ${documents}
        COMMAND "${CMAKE_COMMAND}" -E touch "${document_folder}/made"
        DEPENDS ${document_sources} ${reference_sources} tools/make-reference
        COMMENT "Making the pages of headers" VERBATIM)
    add_custom_target(sennit_documents ALL DEPENDS "${document_folder}/made")
    install(DIRECTORY "${document_folder}/docs/manual/headers"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs/manual" COMPONENT documents)
    install(FILES "${document_folder}/docs/manual/reference.md" "${document_folder}/docs/manual/fortran-calls.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs/manual" COMPONENT documents)
else()
    install(DIRECTORY include/sennit DESTINATION "${CMAKE_INSTALL_DOCDIR}/include" COMPONENT documents
        FILES_MATCHING PATTERN "*.h")
endif()
foreach(page IN LISTS documents)
    cmake_path(GET page PARENT_PATH folder)
    install(FILES "${document_folder}/${page}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}" COMPONENT documents)
endforeach()
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT documents)
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs" COMPONENT documents
    FILES_MATCHING PATTERN "*.png" PATTERN "*.jsonl")
file(GLOB_RECURSE application_settings RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/apps/*.ini")
foreach(settings IN LISTS application_settings)
    cmake_path(GET settings PARENT_PATH folder)
    install(FILES "${settings}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}" COMPONENT documents)
endforeach()
install(DIRECTORY examples/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT documents
    FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "*.cpp" PATTERN "*.f90")

# The module file finds the prefix from its own location. The completion is installed with the command line.
set(module_dir "${CMAKE_INSTALL_DATADIR}/sennit/modulefiles/sennit")
cmake_path(ABSOLUTE_PATH module_dir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE module_place)
file(RELATIVE_PATH SENNIT_MODULE_PREFIX "${module_place}" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" SENNIT_MODULE_PREFIX "${SENNIT_MODULE_PREFIX}")
configure_file(cmake/sennit.module.in "${PROJECT_BINARY_DIR}/generated/sennit.module" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/generated/sennit.module"
    DESTINATION "${module_dir}" RENAME "${PROJECT_VERSION}" COMPONENT development)
if(TARGET sennit_cli)
    install(FILES packaging/completion/sennit.bash
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME sennit COMPONENT programs)
endif()

# Man pages are made from the headers, the help of the command line and the table of knobs.
set(SENNIT_MAN AUTO CACHE STRING "Man pages: AUTO: made if possible; ON: required; OFF: not made")
set_property(CACHE SENNIT_MAN PROPERTY STRINGS AUTO ON OFF)
sennit_is_wanted(man_wanted SENNIT_MAN)
set(man_missing "")
if(NOT SENNIT_HAVE_PYTHON)
    set(man_missing "Python is missing, or not all of its modules are there (python3)")
elseif(NOT TARGET sennit_cli)
    set(man_missing "they need the programs (SENNIT_BUILD_PROGRAMS)")
elseif(CMAKE_CROSSCOMPILING OR SENNIT_SANITIZE)
    set(man_missing "the command line is built for another processor or with a sanitizer")
endif()
if(man_wanted AND man_missing AND NOT SENNIT_MAN STREQUAL "AUTO")
    sennit_insist("SENNIT_MAN is ON, but man pages cannot be made: ${man_missing}")
elseif(NOT man_wanted)
    sennit_note("man pages" "left out by SENNIT_MAN=${SENNIT_MAN}")
elseif(man_missing)
    sennit_note("man pages" "left out: ${man_missing}")
else()
    sennit_note("man pages" "made from the headers and the help of the commands")
    add_custom_command(OUTPUT "${PROJECT_BINARY_DIR}/man/made"
        COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/make-man"
            --sennit $<TARGET_FILE:sennit_cli> --version "${PROJECT_VERSION}" "${PROJECT_BINARY_DIR}/man"
        COMMAND "${CMAKE_COMMAND}" -E touch "${PROJECT_BINARY_DIR}/man/made"
        DEPENDS sennit_cli ${reference_sources} tools/make-man src/base/knobs.def
        COMMENT "Making man pages" VERBATIM)
    add_custom_target(sennit_man ALL DEPENDS "${PROJECT_BINARY_DIR}/man/made")
    foreach(section man1 man7)
        install(DIRECTORY "${PROJECT_BINARY_DIR}/man/${section}"
            DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT programs)
    endforeach()
    install(DIRECTORY "${PROJECT_BINARY_DIR}/man/man3"
        DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT development)
endif()

# Builds everything that an installation needs, without tests, applications and examples.
add_custom_target(sennit_installed DEPENDS sennit sennit_static sennit_shmem)
if(TARGET sennit_cli)
    add_dependencies(sennit_installed sennit_cli ${SENNIT_BENCH_PROGRAMS})
endif()
if(TARGET sennit_fortran)
    add_dependencies(sennit_installed sennit_fortran sennit_fortran_sources)
endif()
foreach(made sennit_man sennit_documents)
    if(TARGET ${made})
        add_dependencies(sennit_installed ${made})
    endif()
endforeach()

# Removes the files in the lists that `cmake --install` leaves in the build tree.
if(PROJECT_IS_TOP_LEVEL)
    add_custom_target(uninstall
        COMMAND "${CMAKE_COMMAND}" "-DTREE=${PROJECT_BINARY_DIR}" -P "${CMAKE_CURRENT_LIST_DIR}/SennitUninstall.cmake"
        COMMENT "Removing what was installed" VERBATIM)
endif()
