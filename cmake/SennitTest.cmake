# How tests are added. One label says where a test runs; CONTRIBUTING.md has the time that each may take:
#   quick    `make test`, in the release tree
#   full     `.ci/run` adds these to quick; in the asan and tsan trees it runs quick and full
#   long     `make test-long` alone
# Tests of the network get the label `network` beside one of these, so that `ctest -L network` finds them. `full network` is
# `long` under the address sanitizer, which has seen what they call in those that are quick. The label `asan` marks the
# exceptions: tests that take in foreign bytes, combine all modes, or go ways of memory that no quick one goes.
# Every test has a timeout. A test that needs something this machine lacks exits with 77 and says what.
#
#   sennit_add_unit_test(NAME name SOURCES file... [LIBRARIES target...] [LABELS label...]
#                        [TIMEOUT seconds] [PROCESSORS n] [NOT_UNDER sanitizer...])
#       a GoogleTest program; each of its tests becomes a ctest test of its own
#   sennit_add_rank_test(NAME name PROGRAM target [ARGS word...] [RANKS n...] [PATHS path...]
#                        [LABELS label...] [QUICK_RANKS n...] [LONG_RANKS n...] [TIMEOUT seconds]
#                        [RUN_ARGS word...] [ENVIRONMENT K=V...] [NOT_UNDER sanitizer...])
#       one test for every number of ranks and every path, under `sennit run -n N`; with QUICK_RANKS the
#       other numbers of ranks are `full`, and LONG_RANKS are `long`; fails too when processes, files or sockets
#       are left behind
#   sennit_add_mpi_test(NAME name MPI openmpi|mpich PROGRAM target [ARGS ...] [RANKS n...] [LABELS ...]
#                       [TIMEOUT seconds] [NOT_UNDER sanitizer...])
#       the same under the launcher of that MPI
#   sennit_add_script_test(NAME name COMMAND word... [NEEDS target...] [LABELS ...] [TIMEOUT seconds] [PROCESSORS n]
#                          [WATCH sennit|mpi] [NOT_UNDER sanitizer...])
#       anything else; with WATCH it fails too when something is left behind (mpi: an MPI takes part, whose
#       own files do not count). NEEDS names targets that the command does not show as $<TARGET_FILE:target>
# LABELS defaults to SENNIT_TEST_LABEL, which a folder may set and is quick, TIMEOUT to 60 s. NOT_UNDER address or thread leaves the test out of that tree.
# Only the targets that tests of a label need are built for it: sennit_tests_LABEL.
if(NOT SENNIT_BUILD_TESTS)
    return()
endif()
enable_testing()
find_package(GTest REQUIRED)

set(SENNIT_TEST_SKIPPED 77)
set(SENNIT_TEST_LABEL quick)
# What stands before every test program: settings of the sanitizer, and what it needs to start. Of another processor's programs
# the emulator, also before those that the launcher starts.
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
    # The thread sanitizer of GCC 12 does not start where the kernel scatters addresses widely. Some
    # containers forbid to switch that off; there it stays as it is.
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

# What starts the ranks of tests: the program of this tree, or one that is there already. The sanitizers look into
# little of it, and building it takes a third of the time that `make test` has for their trees.
set(SENNIT_TEST_LAUNCHER "" CACHE FILEPATH "The program `sennit` that starts the ranks of tests; empty: the one of this tree")
set(SENNIT_RUN $<TARGET_FILE:sennit_cli>)
if(EXISTS "${SENNIT_TEST_LAUNCHER}")
    set(SENNIT_RUN "${SENNIT_TEST_LAUNCHER}")
endif()

# Sets `out` to whether test `name` with this NOT_UNDER list is left out of the present tree, and notes it for
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

# What the tests of each label need: no more than that is built for them.
foreach(label quick full long)
    add_custom_target(sennit_tests_${label})
endforeach()

# Notes the targets of a test, and those named in the words of its command.
function(sennit_test_needs labels)
    foreach(word IN LISTS ARGN)
        # A word may name several, as the script of a shell does.
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

# Sets `out` to the labels of a test with `ranks` ranks, one of several numbers `all`. The thread sanitizer sees one
# process: with two ranks it has seen what a rank does. The address sanitizer has seen it with two and three; more ranks run in
# one process there. The other numbers are `long` in those trees.
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
    # Everything is slower under a sanitizer; a limit that is right for release would only measure that.
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

# How much of the machine tests with so many ranks take, as ctest counts it with `-j`. More ranks than processors wait
# for each other most of the time, so two such tests side by side take little more than one.
cmake_host_system_information(RESULT SENNIT_PROCESSORS QUERY NUMBER_OF_LOGICAL_CORES)
function(sennit_test_share out ranks)
    if(ranks GREATER SENNIT_PROCESSORS)
        set(ranks ${SENNIT_PROCESSORS})
    endif()
    set(${out} ${ranks} PARENT_SCOPE)
endfunction()

# The ranks of an MPI spin when they wait, unless they are told to yield: side by side with others they would take a hundred
# times as long. Open MPI binds two ranks to the first two cores, also when another job is there already. It refuses root
# and more ranks than cores unless it is asked.
set(SENNIT_TEST_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
    MPIR_CVAR_POLLS_BEFORE_YIELD=1)

# The properties that every test has; `extra` is a list of environment settings. The timeout is a rough measure of how long
# a test takes: those that may take longest start first, so that none of them runs alone at the end.
function(sennit_test_properties name labels timeout processors extra)
    set_tests_properties(${name} PROPERTIES
        LABELS "${labels}" TIMEOUT ${timeout} COST ${timeout} PROCESSORS ${processors}
        SKIP_RETURN_CODE ${SENNIT_TEST_SKIPPED} ENVIRONMENT "${extra}")
endfunction()

# Tests measure nothing, and compile in half the time; under a sanitizer, which triples that, in a third.
function(sennit_test_flags target)
    sennit_program_flags(${target})
    if(SENNIT_SANITIZE MATCHES "undefined")
        # The library is what is looked at; in the tests themselves these checks are a third of the compilation.
        target_compile_options(${target} PRIVATE -O0 -fno-sanitize=undefined)
    elseif(SENNIT_SANITIZE)
        target_compile_options(${target} PRIVATE -O0)
    else()
        target_compile_options(${target} PRIVATE -O1)
    endif()
endfunction()

# What every program with GoogleTest includes, compiled once for all of them.
if(SENNIT_COMPILES_FIRST)
    add_executable(sennit_test_headers "${PROJECT_SOURCE_DIR}/tests/support/headers.cpp")
    set_target_properties(sennit_test_headers PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    sennit_test_flags(sennit_test_headers)
    target_link_libraries(sennit_test_headers PRIVATE GTest::gtest GTest::gmock)
    sennit_compile_first(sennit_test_headers <gmock/gmock.h> <gtest/gtest.h>)
endif()

# A test program, put apart from the programs that users run.
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
    # gtest_discover_tests drops all labels but the first from a list, so one label carries them all: ctest
    # matches labels as patterns, `-L network` finds "quick.network".
    list(JOIN ARG_LABELS "." label)
    gtest_discover_tests(${ARG_NAME}
        TEST_PREFIX "${ARG_NAME}."
        DISCOVERY_MODE PRE_TEST
        DISCOVERY_TIMEOUT 60
        PROPERTIES LABELS "${label}" TIMEOUT ${ARG_TIMEOUT} COST ${ARG_TIMEOUT} PROCESSORS ${share}
            SKIP_RETURN_CODE ${SENNIT_TEST_SKIPPED})
    # Label what stands for a program that was not built, too: `ctest -LE long` leaves it out then.
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

# Sets `out` to the words that stand before a command so that its test fails when processes, files or
# sockets are left of it. `kind` is sennit or mpi; the command is ended after `timeout` seconds.
function(sennit_test_watch out kind timeout)
    # The watch makes system calls that emulators do not have.
    if(SENNIT_TEST_EMULATOR)
        set(${out} "" PARENT_SCOPE)
        return()
    endif()
    set(words $<TARGET_FILE:sennit_leftovers> --timeout ${timeout})
    if(kind STREQUAL "mpi")
        # The launchers' own helpers take their time.
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

# Sets `out` to the cases in cases_*.py of the present folder, as GROUP.CASE: each function is one, whose name does not
# begin with an underscore.
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
