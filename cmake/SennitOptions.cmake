# How things are compiled: the options a user may set, and the flags of the core and of programs.
#
# Four functions give the flags, so that no other CMakeLists.txt names a compiler flag:
#   sennit_core_flags(target)      the library: no exceptions, no RTTI, hidden symbols, strict warnings
#   sennit_program_flags(target)   benchmarks, applications, launcher, tests: ordinary C++20
#   sennit_plain_flags(target)     the same where it only reads options and prints
#   sennit_fortran_flags(target)   Fortran: the modules, and programs that use them, with parts in C
# Four more make a build of everything shorter:
#   sennit_compile_together(target)         its sources in few compilations
#   sennit_compile_folders_together(target) those of each folder in one
#   sennit_compile_first(target header...)  what most of its sources include, once
#   sennit_share_headers(target...)         what most programs include, once for all of them
# Sanitizers are set for the whole tree, because half a program under a sanitizer reports what is not there.
option(SENNIT_BUILD_PROGRAMS "Build the command line, benchmarks, applications and examples"
    ${PROJECT_IS_TOP_LEVEL})
option(SENNIT_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SENNIT_ADOPTION "Registered memory may be moved to where peers map it; OFF: the kernel copies it (or XPMEM maps it)" ON)
option(SENNIT_WERROR "Warnings are errors" OFF)
option(SENNIT_ASSERTIONS "Check the invariants of the library, keep assert(), and switch the checks of libstdc++ on" OFF)
option(SENNIT_SHORT_BUILD "Large headers of programs are read once for several sources: less for a build of everything, more for one source" ON)
set(SENNIT_SANITIZE "" CACHE STRING "Sanitizers of the whole tree: address,undefined or thread")
set(together OFF)
if(SENNIT_SANITIZE)
    set(together ON)
endif()
option(SENNIT_FOLDERS_TOGETHER "Each folder of the library is one compilation: where it is neither measured nor used" ${together})
unset(together)
set(SENNIT_PRESET "none" CACHE STRING "Name of the preset, for reports only")

# CMake takes any other word for OFF. sennit_report_optional() ends with all that are wrong.
function(sennit_check_switch switch)
    string(TOUPPER "${${switch}}" value)
    if(NOT value MATCHES "^(ON|OFF|TRUE|FALSE|YES|NO|1|0)$" AND NOT "${${switch}}" IN_LIST ARGN)
        list(JOIN ARGN ", " words)
        set_property(GLOBAL APPEND_STRING PROPERTY SENNIT_INSISTED "\n  ${switch}=${${switch}} is none of ${words}")
    endif()
endfunction()
foreach(switch BUILD_PROGRAMS BUILD_TESTS ADOPTION WERROR ASSERTIONS SHORT_BUILD FOLDERS_TOGETHER)
    sennit_check_switch(SENNIT_${switch} ON OFF)
endforeach()

# Sources of a folder may define the same names for themselves. What can be compiled together says so itself, below.
if(CMAKE_UNITY_BUILD)
    message(STATUS "Sennit: CMAKE_UNITY_BUILD is ignored; SENNIT_SHORT_BUILD and SENNIT_FOLDERS_TOGETHER join what can be joined")
    set(CMAKE_UNITY_BUILD OFF)
endif()

# Hardening and the rest of what Debian compiles its packages with, by dpkg-buildflags. Before the type of build's own flags, so -O3 stays.
option(SENNIT_DEBIAN_FLAGS "Compile as Debian compiles packages" OFF)
sennit_check_switch(SENNIT_DEBIAN_FLAGS ON OFF)
if(SENNIT_DEBIAN_FLAGS)
    find_program(SENNIT_DPKG_BUILDFLAGS dpkg-buildflags REQUIRED)
    mark_as_advanced(SENNIT_DPKG_BUILDFLAGS)
    function(sennit_debian_flags name)
        set(flags "")
        foreach(kind IN LISTS ARGN)
            # Without -g: nobody strips the archive, and what it has for debuggers names the build tree.
            execute_process(COMMAND "${CMAKE_COMMAND}" -E env DEB_BUILD_MAINT_OPTIONS=hardening=+all "DEB_${kind}_MAINT_STRIP=-g"
                "${SENNIT_DPKG_BUILDFLAGS}" --get ${kind}
                WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
            string(APPEND flags " ${said}")
        endforeach()
        set(${name} "${${name}}${flags}" PARENT_SCOPE)
    endfunction()
    sennit_debian_flags(CMAKE_C_FLAGS CPPFLAGS CFLAGS)
    sennit_debian_flags(CMAKE_CXX_FLAGS CPPFLAGS CXXFLAGS)
    sennit_debian_flags(CMAKE_Fortran_FLAGS FCFLAGS)
    foreach(kind EXE SHARED MODULE)
        sennit_debian_flags(CMAKE_${kind}_LINKER_FLAGS LDFLAGS)
    endforeach()
endif()

# Not an option: the cache of a project that contains this one stays its own. OFF: programs link the archive, and no shared
# library is built.
if(NOT DEFINED BUILD_SHARED_LIBS)
    set(BUILD_SHARED_LIBS ON)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Where products go when no preset says it: bin/, lib/ and include/ of the build tree.
foreach(kind RUNTIME LIBRARY ARCHIVE)
    if(NOT DEFINED CMAKE_${kind}_OUTPUT_DIRECTORY)
        set(place lib)
        if(kind STREQUAL "RUNTIME")
            set(place bin)
        endif()
        set(CMAKE_${kind}_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${place}")
    endif()
endforeach()

if(NOT DEFINED SENNIT_HEADER_OUTPUT_DIRECTORY)
    set(SENNIT_HEADER_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/include")
endif()

set(SENNIT_WARNINGS -Wall -Wextra -Wshadow -Wundef)
# What the core adds; the last two are C++ only.
set(SENNIT_CORE_WARNINGS -Wconversion -Wmissing-declarations -Wnon-virtual-dtor -Woverloaded-virtual)
set(SENNIT_CORE_FLAGS
    -fno-exceptions
    -fno-rtti
    -fvisibility=hidden
    -fvisibility-inlines-hidden
    "SHELL:-include base/exports.hpp"
    # A put finds its rank through thread-local storage; the general model would cost a call each time.
    -ftls-model=initial-exec)

if(SENNIT_WERROR)
    list(APPEND SENNIT_WARNINGS -Werror)
endif()

if(SENNIT_ASSERTIONS)
    add_compile_definitions(_GLIBCXX_ASSERTIONS SENNIT_CHECKS_INVARIANTS)
    foreach(language C CXX)
        foreach(type RELEASE RELWITHDEBINFO MINSIZEREL)
            string(REGEX REPLACE "(^| )[-/]DNDEBUG( |$)" " "
                CMAKE_${language}_FLAGS_${type} "${CMAKE_${language}_FLAGS_${type}}")
        endforeach()
    endforeach()
endif()

if(SENNIT_SANITIZE)
    add_compile_options(-fsanitize=${SENNIT_SANITIZE} -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${SENNIT_SANITIZE})
    if(SENNIT_SANITIZE MATCHES "undefined")
        # The check of vptr reads type information, which the core does not have. That of enumerations
        # forbids to look whether a caller in C, which may pass any number, has passed one of them.
        add_compile_options(-fno-sanitize-recover=undefined -fno-sanitize=vptr,enum)
    endif()
    if(SENNIT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # GCC warns at every fence that the thread sanitizer does not model it. The fences stay; where one
        # orders plain data the tests list the report in a suppression file with the reason.
        add_compile_options(-Wno-tsan)
    endif()
endif()

find_package(Threads REQUIRED)

function(sennit_core_flags target)
    target_compile_options(${target} PRIVATE
        ${SENNIT_WARNINGS} "$<$<COMPILE_LANGUAGE:CXX>:${SENNIT_CORE_WARNINGS};${SENNIT_CORE_FLAGS}>")
endfunction()

function(sennit_program_flags target)
    target_compile_options(${target} PRIVATE ${SENNIT_WARNINGS})
endfunction()

# What reads options and prints. The headers for that are large, nothing there is fast or shares memory: sanitizers
# and optimisation would only take most of a build's time. For a whole target, or for sources of the present folder.
set(SENNIT_PLAIN_FLAGS -O0)
if(SENNIT_SANITIZE)
    list(APPEND SENNIT_PLAIN_FLAGS -g0 -fno-sanitize=all)
endif()

function(sennit_plain_flags target)
    target_compile_options(${target} PRIVATE ${SENNIT_WARNINGS} ${SENNIT_PLAIN_FLAGS})
endfunction()

function(sennit_plain_sources)
    set_source_files_properties(${ARGN} PROPERTIES
        COMPILE_OPTIONS "${SENNIT_PLAIN_FLAGS}" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# The standard and nothing beyond it, so that other compilers take the same sources. The binding is called as a put is: the
# detour through the linkage table would cost as much as its own instructions.
function(sennit_fortran_flags target)
    set(flags "")
    if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
        set(flags -std=f2018 -fimplicit-none -fno-plt -Wall -Wextra -Wno-function-elimination)
        if(SENNIT_WERROR)
            list(APPEND flags -Werror)
        endif()
    endif()
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:Fortran>:${flags}>"
        "$<$<COMPILE_LANGUAGE:C>:${SENNIT_WARNINGS}>")
endfunction()

# A static library that only parts of this build link: apart from the libraries that users link.
function(sennit_internal_archive target)
    set_target_properties(${target} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/internal")
endfunction()

# A large header that every source of a program reads takes most of its compilation. Sources that go together share
# the names that they define for themselves; those that do not are ALONE. With MOST, so many go together.
function(sennit_compile_together target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "MOST" "ALONE")
    if(SENNIT_SHORT_BUILD)
        if(NOT ARG_MOST)
            set(ARG_MOST 0)
        endif()
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ARG_MOST})
        set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
endfunction()

# The same for a library whose folders are such parts: one compilation for each. Sources with the property
# SKIP_UNITY_BUILD_INCLUSION stay alone: they define the same names, each in its own way.
function(sennit_compile_folders_together target)
    if(NOT SENNIT_SHORT_BUILD)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
        cmake_path(GET source PARENT_PATH folder)
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}")
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    # A source that is included is not the main file; only there may a type of its own have members of its own types.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endfunction()

# Without a compiler's launcher: caches do not know what a header that was read before has in it.
set(SENNIT_COMPILES_FIRST OFF)
if(SENNIT_SHORT_BUILD AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(SENNIT_COMPILES_FIRST ON)
endif()
function(sennit_compile_first target)
    if(SENNIT_COMPILES_FIRST)
        target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
endfunction()

# Programs on the one hand, objects and archives on the other: the compiler makes other code of each, and reads headers only
# where they were made for the same. Not for targets with parts in C. Each source still names what it needs: the preset dev,
# for changing Sennit, compiles without.
function(sennit_share_headers)
    if(NOT SENNIT_COMPILES_FIRST)
        return()
    endif()
    if(NOT TARGET sennit_headers_program)
        set(headers <fmt/format.h> <sennit/sennit.h> <algorithm> <array> <cmath> <cstdint> <cstdio> <cstdlib> <cstring>
            <functional> <memory> <stdexcept> <string> <vector>)
        set(nothing "${PROJECT_BINARY_DIR}/generated/nothing.cpp")
        file(CONFIGURE OUTPUT "${nothing}" CONTENT "int main() {}\n")
        add_executable(sennit_headers_program "${nothing}")
        set_target_properties(sennit_headers_program PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/internal")
        add_library(sennit_headers_part OBJECT "${nothing}")
        foreach(target sennit_headers_program sennit_headers_part)
            sennit_program_flags(${target})
            target_link_libraries(${target} PRIVATE sennit::sennit fmt::fmt)
            sennit_compile_first(${target} ${headers})
        endforeach()
    endif()
    foreach(target IN LISTS ARGN)
        get_target_property(sources ${target} SOURCES)
        if(sources MATCHES "\\.c(;|$)")
            continue()
        endif()
        get_target_property(type ${target} TYPE)
        set(kind part)
        if(type STREQUAL "EXECUTABLE")
            set(kind program)
        endif()
        target_precompile_headers(${target} REUSE_FROM sennit_headers_${kind})
    endforeach()
endfunction()
