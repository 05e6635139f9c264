# Functions that add tests. The label of a test says where it runs; CONTRIBUTING.md has the time limit of each label:
#   quick    `make test`, in the release tree
#   full     `.ci/run` runs quick and full, in the release, asan and tsan trees
#   long     `make test-long` alone
# Tests of the network also have the label `network`, for `ctest -L network`. Under the address sanitizer `full network` is `long`,
# because the quick ones make the same calls. The label `asan` marks the exceptions: tests that receive bytes of strangers, combine
# all modes, or use memory in ways that no quick test does.
# Every test has a timeout. If the machine lacks something, the test names it and exits with 77.
#
#   sennit_add_unit_test(NAME name SOURCES file... [LIBRARIES target...] [LABELS label...]
#                        [TIMEOUT seconds] [PROCESSORS n] [NOT_UNDER sanitizer...])
#       a GoogleTest program; each of its tests becomes a ctest test
#   sennit_add_rank_test(NAME name PROGRAM target [ARGS word...] [RANKS n...] [PATHS path...]
#                        [LABELS label...] [QUICK_RANKS n...] [LONG_RANKS n...] [TIMEOUT seconds]
#                        [RUN_ARGS word...] [ENVIRONMENT K=V...] [NOT_UNDER sanitizer...])
#       one test for each number of ranks and each path, under `sennit run -n N`. With QUICK_RANKS the other
#       numbers of ranks are `full`; LONG_RANKS are `long`. The test also fails if processes, files or sockets
#       remain
#   sennit_add_mpi_test(NAME name MPI openmpi|mpich PROGRAM target [ARGS ...] [RANKS n...] [LABELS ...]
#                       [TIMEOUT seconds] [NOT_UNDER sanitizer...])
#       the same under the launcher of that MPI
#   sennit_add_script_test(NAME name COMMAND word... [NEEDS target...] [LABELS ...] [TIMEOUT seconds] [PROCESSORS n]
#                          [WATCH sennit|mpi] [NOT_UNDER sanitizer...])
#       any command. With WATCH it also fails if something remains (mpi: except files of the MPI). NEEDS names
#       targets that are not in the command as $<TARGET_FILE:target>
# Defaults: LABELS is SENNIT_TEST_LABEL (quick, unless the folder sets it), TIMEOUT is 60 s. NOT_UNDER address or thread leaves the test
# out of that tree. The target sennit_tests_LABEL builds only the programs for the tests of a label.
if(NOT SENNIT_BUILD_TESTS)
    return()
endif()
enable_testing()
find_package(GTest REQUIRED)

set(SENNIT_TEST_SKIPPED 77)
set(SENNIT_TEST_LABEL quick)
# SENNIT_TEST_PREFIX precedes the command of a test: the sanitizer's settings, or the emulator for another processor.
# SENNIT_TEST_EMULATOR also precedes the programs that the launcher starts.
set(SENNIT_TEST_EMULATOR "")
if(CMAKE_CROSSCOMPILING)
    set(SENNIT_TEST_EMULATOR ${CMAKE_CROSSCOMPILING_EMULATOR})
endif()
set(SENNIT_TEST_PREFIX ${SENNIT_TEST_EMULATOR})
if(SENNIT_SANITIZE)
    find_program(SENNIT_ENV env REQUIRED)
    mark_as_advanced(SENNIT_ENV)
    set(SENNIT_TEST_PREFIX "${SENNIT_ENV}")
endif()
if(SENNIT_SANITIZE MATCHES "thread")
    # The thread sanitizer of GCC 12 does not start if the kernel randomizes addresses widely, so switch that
    # off. Some containers forbid it; then nothing changes.
    find_program(SENNIT_SETARCH setarch REQUIRED)
    mark_as_advanced(SENNIT_SETARCH)
    set(fixed_addresses "${SENNIT_SETARCH}" "${CMAKE_SYSTEM_PROCESSOR}" -R)
    execute_process(COMMAND ${fixed_addresses} true RESULT_VARIABLE code ERROR_QUIET)
    if(NOT code EQUAL 0)
        set(fixed_addresses "")
    endif()
    set(options "halt_on_error=1:second_deadlock_stack=1")
    if(EXISTS "${PROJECT_SOURCE_DIR}/tests/tsan.supp")
        string(APPEND options ":suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")
    endif()
    list(APPEND SENNIT_TEST_PREFIX
        "TSAN_OPTIONS=${options}" ${fixed_addresses})
elseif(SENNIT_SANITIZE MATCHES "address")
    set(options "print_suppressions=0")
    if(EXISTS "${PROJECT_SOURCE_DIR}/tests/lsan.supp")
        string(APPEND options ":suppressions=${PROJECT_SOURCE_DIR}/tests/lsan.supp")
    endif()
    list(APPEND SENNIT_TEST_PREFIX
        "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
        "UBSAN_OPTIONS=print_stacktrace=1"
        "LSAN_OPTIONS=${options}")
endif()

# The launcher of the tests' ranks: this tree's program, or an existing one. Sanitizers find little in the launcher, and their
# trees build faster without it.
set(SENNIT_TEST_LAUNCHER "" CACHE FILEPATH "The program `sennit` that starts the ranks of tests; empty: the one of this tree")
set(SENNIT_RUN $<TARGET_FILE:sennit_cli>)
if(EXISTS "${SENNIT_TEST_LAUNCHER}")
    set(SENNIT_RUN "${SENNIT_TEST_LAUNCHER}")
endif()

# Sets `out` to whether test `name` with this NOT_UNDER list is left out of the current tree, and notes it for
# sennit_write_left_out().
function(sennit_test_left_out out name not_under)
    set(${out} OFF PARENT_SCOPE)
    if(not_under)
        list(JOIN not_under " " sanitizers)
        set_property(GLOBAL APPEND_STRING PROPERTY SENNIT_LEFT_OUT "${name} ${sanitizers}\n")
    endif()
    foreach(sanitizer IN LISTS not_under)
        if(SENNIT_SANITIZE MATCHES "${sanitizer}")
            set(${out} ON PARENT_SCOPE)
        endif()
    endforeach()
endfunction()

# Writes `name sanitizer...` for each test that has a NOT_UNDER list; after the last test was added.
function(sennit_write_left_out file)
    get_property(lines GLOBAL PROPERTY SENNIT_LEFT_OUT)
    file(WRITE "${file}" "${lines}")
endfunction()

# The targets that the tests of each label need; only these are built.
foreach(label quick full long)
    add_custom_target(sennit_tests_${label})
endforeach()

# Notes the targets of a test, and those named in the words of its command.
function(sennit_test_needs labels)
    foreach(word IN LISTS ARGN)
        # A word, such as a shell script, may name several targets.
        string(REGEX MATCHALL "TARGET_FILE(_DIR)?:[^>]+" names "${word}")
        list(TRANSFORM names REPLACE "^TARGET_FILE(_DIR)?:" "")
        foreach(name IN LISTS names ITEMS "${word}")
            if(TARGET "${name}")
                foreach(label IN LISTS labels)
                    if(TARGET sennit_tests_${label})
                        add_dependencies(sennit_tests_${label} "${name}")
                    endif()
                endforeach()
            endif()
        endforeach()
    endforeach()
endfunction()

# Sets `out` to the labels of a test with `ranks` ranks, one of several numbers `all`. In sanitizer trees most numbers are `long`. The
# thread sanitizer sees one process, so 2 ranks are enough. For the address sanitizer 2 and 3 are enough, and tests of ranks in one
# process have more.
function(sennit_test_labels_for_ranks out labels ranks all)
    set(${out} ${labels} PARENT_SCOPE)
    set(kept ${all})
    if(SENNIT_SANITIZE MATCHES "thread" AND 2 IN_LIST all)
        set(kept 2)
    elseif(SENNIT_SANITIZE AND 2 IN_LIST all)
        set(kept 2 3)
    endif()
    if(NOT ranks IN_LIST kept)
        set(${out} long PARENT_SCOPE)
    endif()
endfunction()

function(sennit_test_defaults)
    if(NOT ARG_LABELS)
        set(ARG_LABELS ${SENNIT_TEST_LABEL})
    endif()
    if(SENNIT_SANITIZE MATCHES "address" AND "full" IN_LIST ARG_LABELS AND "network" IN_LIST ARG_LABELS
            AND NOT "asan" IN_LIST ARG_LABELS)
        list(TRANSFORM ARG_LABELS REPLACE "^full$" "long")
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 60)
    endif()
    # Programs are slower under a sanitizer.
    if(SENNIT_SANITIZE)
        math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 3")
    endif()
    if(NOT ARG_PROCESSORS)
        set(ARG_PROCESSORS 1)
    endif()
    if(NOT ARG_RANKS)
        set(ARG_RANKS 2)
    endif()
    return(PROPAGATE ARG_LABELS ARG_TIMEOUT ARG_PROCESSORS ARG_RANKS)
endfunction()

# The number of processors that ctest counts for a test with so many ranks. More ranks than processors mostly wait for each
# other, so two such tests at the same time take little longer than one.
cmake_host_system_information(RESULT SENNIT_PROCESSORS QUERY NUMBER_OF_LOGICAL_CORES)
function(sennit_test_share out ranks)
    if(ranks GREATER SENNIT_PROCESSORS)
        set(ranks ${SENNIT_PROCESSORS})
    endif()
    set(${out} ${ranks} PARENT_SCOPE)
endfunction()

# Ranks of an MPI must yield while they wait: if they spin, tests that run at the same time take a hundred times as long. By
# default Open MPI binds two ranks to the first two cores, even if another job runs there, and refuses root and more ranks
# than cores.
set(SENNIT_TEST_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
    MPIR_CVAR_POLLS_BEFORE_YIELD=1)

# Sets the properties of a test; `extra` is a list of environment settings. Tests with long timeouts start first, so that no long
# test runs alone at the end.
function(sennit_test_properties name labels timeout processors extra)
    set_tests_properties(${name} PROPERTIES
        LABELS "${labels}" TIMEOUT ${timeout} COST ${timeout} PROCESSORS ${processors}
        SKIP_RETURN_CODE ${SENNIT_TEST_SKIPPED} ENVIRONMENT "${extra}")
endfunction()

# Tests measure no time, so compile them with little optimization: that takes half the time, under a sanitizer a third.
function(sennit_test_flags target)
    sennit_program_flags(${target})
    if(SENNIT_SANITIZE MATCHES "undefined")
        # Sanitize the library, but not the tests: there these checks are a third of the compilation.
        target_compile_options(${target} PRIVATE -O0 -fno-sanitize=undefined)
    elseif(SENNIT_SANITIZE)
        target_compile_options(${target} PRIVATE -O0)
    else()
        target_compile_options(${target} PRIVATE -O1)
    endif()
endfunction()

# Headers of all programs with GoogleTest, precompiled once.
if(SENNIT_COMPILES_FIRST)
    add_executable(sennit_test_headers "${PROJECT_SOURCE_DIR}/tests/support/headers.cpp")
    set_target_properties(sennit_test_headers PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    sennit_test_flags(sennit_test_headers)
    target_link_libraries(sennit_test_headers PRIVATE GTest::gtest GTest::gmock)
    sennit_compile_first(sennit_test_headers <gmock/gmock.h> <gtest/gtest.h>)
endif()

# A test program; it is not in the folder of the programs for users.
function(sennit_add_test_program name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LIBRARIES")
    add_executable(${name} ${ARG_SOURCES})
    sennit_test_flags(${name})
    target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
endfunction()

function(sennit_add_unit_test)
    cmake_parse_arguments(ARG "" "NAME;TIMEOUT;PROCESSORS" "SOURCES;LIBRARIES;LABELS;NOT_UNDER" ${ARGN})
    sennit_test_left_out(left_out "${ARG_NAME}" "${ARG_NOT_UNDER}")
    if(left_out)
        return()
    endif()
    sennit_test_defaults()
    if(NOT ARG_LIBRARIES)
        set(ARG_LIBRARIES sennit_internal)
    endif()
    sennit_add_test_program(${ARG_NAME} SOURCES ${ARG_SOURCES}
        LIBRARIES ${ARG_LIBRARIES} GTest::gtest GTest::gmock GTest::gtest_main)
    if(TARGET sennit_test_headers)
        target_precompile_headers(${ARG_NAME} REUSE_FROM sennit_test_headers)
    endif()
    if(SENNIT_TEST_PREFIX)
        set_target_properties(${ARG_NAME} PROPERTIES CROSSCOMPILING_EMULATOR "${SENNIT_TEST_PREFIX}")
    endif()
    sennit_test_needs("${ARG_LABELS}" ${ARG_NAME})
    sennit_test_share(share ${ARG_PROCESSORS})
    # gtest_discover_tests keeps only the first label of a list, so join all labels to one. ctest matches labels as
    # patterns: `-L network` finds "quick.network".
    list(JOIN ARG_LABELS "." label)
    gtest_discover_tests(${ARG_NAME}
        TEST_PREFIX "${ARG_NAME}."
        DISCOVERY_MODE PRE_TEST
        DISCOVERY_TIMEOUT 60
        PROPERTIES LABELS "${label}" TIMEOUT ${ARG_TIMEOUT} COST ${ARG_TIMEOUT} PROCESSORS ${share}
            SKIP_RETURN_CODE ${SENNIT_TEST_SKIPPED})
    # Also label the test that ctest shows for a program that was not built, so that `ctest -LE long` skips it.
    set(file "${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}_not_built.cmake")
    file(WRITE "${file}" "if(NOT EXISTS \"${PROJECT_BINARY_DIR}/tests/${ARG_NAME}\")
    set_tests_properties(${ARG_NAME}_NOT_BUILT PROPERTIES LABELS ${label})
endif()
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
endfunction()

# The watch for leftovers is not under test: it is built without sanitizers.
add_executable(sennit_leftovers "${PROJECT_SOURCE_DIR}/tests/support/leftovers.cpp")
sennit_program_flags(sennit_leftovers)
target_compile_options(sennit_leftovers PRIVATE -O1)
set_target_properties(sennit_leftovers PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
if(SENNIT_SANITIZE)
    target_compile_options(sennit_leftovers PRIVATE -fno-sanitize=all)
    target_link_options(sennit_leftovers PRIVATE -fno-sanitize=all)
endif()
foreach(label quick full long)
    add_dependencies(sennit_tests_${label} sennit_leftovers)
endforeach()

# Sets `out` to words before a command: with them its test fails if processes, files or sockets remain. `kind` is sennit
# or mpi; the command is ended after `timeout` seconds.
function(sennit_test_watch out kind timeout)
    # The watch makes system calls that emulators do not have.
    if(SENNIT_TEST_EMULATOR)
        set(${out} "" PARENT_SCOPE)
        return()
    endif()
    set(words $<TARGET_FILE:sennit_leftovers> --timeout ${timeout})
    if(kind STREQUAL "mpi")
        # Helpers of the launchers end later.
        list(APPEND words --within 5 --mpi)
    else()
        list(APPEND words --within 2)
    endif()
    set(${out} ${words} -- PARENT_SCOPE)
endfunction()

function(sennit_add_rank_test)
    cmake_parse_arguments(ARG "" "NAME;PROGRAM;TIMEOUT"
        "ARGS;RANKS;PATHS;LABELS;QUICK_RANKS;LONG_RANKS;RUN_ARGS;ENVIRONMENT;NOT_UNDER" ${ARGN})
    sennit_test_left_out(left_out "${ARG_NAME}" "${ARG_NOT_UNDER}")
    if(left_out)
        return()
    endif()
    if(NOT TARGET sennit_cli)
        message(STATUS "Test ${ARG_NAME} is left out: the launcher `sennit run` is not built")
        return()
    endif()
    sennit_test_defaults()
    if(NOT ARG_PATHS)
        set(ARG_PATHS default)
    endif()
    math(EXPR outer "${ARG_TIMEOUT} + 15")
    sennit_test_watch(watch sennit ${outer})
    foreach(path IN LISTS ARG_PATHS)
        foreach(ranks IN LISTS ARG_RANKS)
            set(name "${ARG_NAME}.${path}.${ranks}")
            set(environment ${ARG_ENVIRONMENT})
            if(NOT path STREQUAL "default")
                list(APPEND environment "SENNIT_PATHS=self,${path}")
            endif()
            set(labels ${ARG_LABELS})
            if(ARG_QUICK_RANKS AND NOT ranks IN_LIST ARG_QUICK_RANKS)
                set(labels full)
            endif()
            if(ranks IN_LIST ARG_LONG_RANKS)
                set(labels long)
            endif()
            sennit_test_labels_for_ranks(labels "${labels}" ${ranks} "${ARG_RANKS}")
            sennit_test_needs("${labels}" "${SENNIT_RUN}" ${ARG_PROGRAM} ${ARG_ARGS})
            add_test(NAME ${name} COMMAND ${watch} ${SENNIT_TEST_PREFIX} ${SENNIT_RUN} run -n ${ranks}
                --timeout ${ARG_TIMEOUT} ${ARG_RUN_ARGS} ${SENNIT_TEST_EMULATOR} $<TARGET_FILE:${ARG_PROGRAM}> ${ARG_ARGS})
            sennit_test_share(share ${ranks})
            sennit_test_properties(${name} "${labels}" ${outer} ${share} "${environment}")
        endforeach()
    endforeach()
endfunction()

function(sennit_add_mpi_test)
    cmake_parse_arguments(ARG "" "NAME;MPI;PROGRAM;TIMEOUT" "ARGS;RANKS;LABELS;NOT_UNDER" ${ARGN})
    sennit_test_left_out(left_out "${ARG_NAME}" "${ARG_NOT_UNDER}")
    string(TOUPPER "${ARG_MPI}" mpi)
    if(left_out OR NOT TARGET sennit::mpi_${ARG_MPI} OR NOT SENNIT_LAUNCH_${mpi})
        return()
    endif()
    sennit_test_defaults()
    math(EXPR outer "${ARG_TIMEOUT} + 15")
    sennit_test_watch(watch mpi ${ARG_TIMEOUT})
    sennit_test_needs("${ARG_LABELS}" ${ARG_PROGRAM} ${ARG_ARGS})
    foreach(ranks IN LISTS ARG_RANKS)
        set(name "${ARG_NAME}.${ARG_MPI}.${ranks}")
        add_test(NAME ${name} COMMAND ${watch} ${SENNIT_TEST_PREFIX} "${SENNIT_LAUNCH_${mpi}}" -n ${ranks}
            $<TARGET_FILE:${ARG_PROGRAM}> ${ARG_ARGS})
        sennit_test_share(share ${ranks})
        sennit_test_properties(${name} "${ARG_LABELS}" ${outer} ${share} "${SENNIT_TEST_MPI_ENVIRONMENT}")
    endforeach()
endfunction()

# Sets `out` to the cases in cases_*.py of the current folder, as GROUP.CASE. A case is a function whose name does not begin
# with an underscore.
function(sennit_python_cases out)
    set(cases "")
    file(GLOB files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cases_*.py")
    foreach(file IN LISTS files)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
        string(REGEX REPLACE ".*/cases_(.*)\\.py$" "\\1" group "${file}")
        file(STRINGS "${file}" lines REGEX "^def [a-z]")
        foreach(line IN LISTS lines)
            string(REGEX REPLACE "^def ([a-z0-9_]+).*" "\\1" case "${line}")
            list(APPEND cases "${group}.${case}")
        endforeach()
    endforeach()
    set(${out} "${cases}" PARENT_SCOPE)
endfunction()

function(sennit_add_script_test)
    cmake_parse_arguments(ARG "" "NAME;TIMEOUT;PROCESSORS;WATCH" "COMMAND;NEEDS;LABELS;NOT_UNDER" ${ARGN})
    sennit_test_left_out(left_out "${ARG_NAME}" "${ARG_NOT_UNDER}")
    if(left_out)
        return()
    endif()
    sennit_test_defaults()
    set(watch "")
    sennit_test_share(share ${ARG_PROCESSORS})
    if(ARG_WATCH)
        sennit_test_watch(watch ${ARG_WATCH} ${ARG_TIMEOUT})
        math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} + 15")
    endif()
    set(environment "")
    if(ARG_WATCH STREQUAL "mpi")
        set(environment "${SENNIT_TEST_MPI_ENVIRONMENT}")
        sennit_test_share(share ${SENNIT_PROCESSORS})
    endif()
    sennit_test_needs("${ARG_LABELS}" ${ARG_COMMAND} ${ARG_NEEDS})
    add_test(NAME ${ARG_NAME} COMMAND ${watch} ${ARG_COMMAND})
    sennit_test_properties(${ARG_NAME} "${ARG_LABELS}" ${ARG_TIMEOUT} ${share} "${environment}")
endfunction()
