# Debian packages that `cpack` makes from the components of SennitInstall.cmake, divided as Debian divides a library.
#   libsennitABI         the shared library; several ABIs may be installed at once
#   libsennit-dev        for compiling programs
#   libsennit-shmemABI   the shared library of OpenSHMEM
#   libsennit-shmem-dev  for compiling programs for OpenSHMEM
#   libsennit-fortran-dev   the same for Fortran
#   sennit               the command line
#   sennit-bench-MPI     programs that `sennit bench` compares with, one package for each MPI of this build
#   sennit-doc           README, documents, examples
# With BUILD_SHARED_LIBS=OFF no packages are made.
# dpkg-shlibdeps finds dependencies on other packages. tools/package builds all packages with Debian's flags.
if(NOT PROJECT_IS_TOP_LEVEL OR NOT BUILD_SHARED_LIBS)
    return()
endif()
set(SENNIT_PACKAGE_MAINTAINER "The Sennit developers <sennit@localhost>" CACHE STRING
    "Name and address of the maintainer of the packages")
if(NOT SENNIT_PACKAGE_MAINTAINER MATCHES "^[^<>]*[^<> ] <[^<>@ ]+@[^<>@ ]+>$")
    message(FATAL_ERROR "SENNIT_PACKAGE_MAINTAINER must be \"Name <address>\", such as \"Some One <some@one.example>\", not "
        "\"${SENNIT_PACKAGE_MAINTAINER}\"")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sennit)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "${SENNIT_PACKAGE_MAINTAINER}")
set(CPACK_PACKAGE_VENDOR "The Sennit developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

# sennit_package(component package SECTION name TEXT text [DEPENDS component...] [FIELDS key value...])
# FIELDS are variables CPACK_DEBIAN_<COMPONENT>_<key>.
function(sennit_package component package)
    cmake_parse_arguments(ARG "" "SECTION;TEXT" "DEPENDS;FIELDS" ${ARGN})
    string(TOUPPER "${component}" upper)
    string(CONCAT about "A rank reads and writes the memory of another rank: by loads, stores and\n"
        "copies on a node, by libfabric between nodes.")
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME "${package}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION "${ARG_SECTION}" PARENT_SCOPE)
    set(CPACK_COMPONENT_${upper}_DESCRIPTION "${about}\n\nThis package contains ${ARG_TEXT}." PARENT_SCOPE)
    set(CPACK_COMPONENT_${upper}_DEPENDS "${ARG_DEPENDS}" PARENT_SCOPE)
    while(ARG_FIELDS)
        list(POP_FRONT ARG_FIELDS key value)
        set(CPACK_DEBIAN_${upper}_${key} "${value}" PARENT_SCOPE)
    endwhile()
    set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
endfunction()

# A trigger updates the dynamic linker's cache once for many packages; a script would run for each package.
set(linker_trigger "${PROJECT_BINARY_DIR}/package/triggers")
file(CONFIGURE OUTPUT "${linker_trigger}" CONTENT "activate-noawait ldconfig\n")

set(CPACK_COMPONENTS_ALL "")
sennit_package(runtime "libsennit${SENNIT_ABI}" SECTION libs TEXT "the shared library for running programs"
    # Optional at run time: the library opens them if they are installed.
    FIELDS PACKAGE_RECOMMENDS "libhwloc15, libfabric1" PACKAGE_SUGGESTS libpmix2 PACKAGE_CONTROL_EXTRA "${linker_trigger}")
sennit_package(development libsennit-dev SECTION libdevel TEXT "headers and libraries for compiling programs" DEPENDS runtime
    FIELDS PACKAGE_SUGGESTS "sennit, sennit-doc")
sennit_package(openshmem_runtime "libsennit-shmem${SENNIT_ABI}" SECTION libs TEXT "the shared library of OpenSHMEM on Sennit"
    DEPENDS runtime FIELDS PACKAGE_CONTROL_EXTRA "${linker_trigger}")
sennit_package(openshmem libsennit-shmem-dev SECTION libdevel TEXT "headers and compiler wrappers for OpenSHMEM programs"
    DEPENDS development openshmem_runtime FIELDS PACKAGE_SHLIBDEPS OFF PACKAGE_RECOMMENDS "sennit, gcc")
if(TARGET sennit_fortran)
    sennit_package(fortran libsennit-fortran-dev SECTION libdevel TEXT "modules and a library for Fortran programs"
        DEPENDS development FIELDS PACKAGE_DEPENDS "gfortran" PACKAGE_SHLIBDEPS OFF)
endif()
if(TARGET sennit_cli)
    sennit_package(programs sennit SECTION utils TEXT "the command sennit, which starts ranks and measures" DEPENDS runtime
        FIELDS PACKAGE_RECOMMENDS "python3-matplotlib, python3-jinja2")
    foreach(mpi IN LISTS SENNIT_MPIS)
        set(launcher ${mpi})
        if(mpi STREQUAL "openmpi")
            set(launcher openmpi-bin)
        endif()
        sennit_package(bench_${mpi} sennit-bench-${mpi} SECTION utils TEXT "programs that sennit bench needs for ${mpi}"
            DEPENDS programs FIELDS PACKAGE_DEPENDS "${launcher}")
    endforeach()
endif()
sennit_package(documents sennit-doc SECTION doc TEXT "documents and examples"
    FIELDS PACKAGE_ARCHITECTURE all PACKAGE_SHLIBDEPS OFF)

configure_file(cmake/SennitPackageFiles.cmake.in "${PROJECT_BINARY_DIR}/package/files.cmake" @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_BINARY_DIR}/package/files.cmake")
set(CPACK_POST_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/SennitPackageScripts.cmake")
include(CPack)

# cpack runs the installation with the prefix of the packages. Without this code it would put their paths, such as /usr/bin/sennit,
# into the lists of `uninstall`. CMake writes the list of the component after this code.
install(CODE "if(\"\$ENV{DESTDIR}\" MATCHES \"/_CPack_Packages/\")
    set(list \"${PROJECT_BINARY_DIR}/install_manifest_\${CMAKE_INSTALL_COMPONENT}.txt\")
    set(CMAKE_INSTALL_MANIFEST_FILES \"\")
    if(EXISTS \"\${list}\")
        file(STRINGS \"\${list}\" CMAKE_INSTALL_MANIFEST_FILES)
    endif()
endif()" ALL_COMPONENTS)
