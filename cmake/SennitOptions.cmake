# Compilation: the user's options, and the flags of the library and of programs.
#
# Four functions set the flags; no other CMakeLists.txt has compiler flags:
#   sennit_core_flags(target)      the library: no exceptions, no RTTI, hidden symbols, strict warnings
#   sennit_program_flags(target)   benchmarks, applications, launcher, tests: ordinary C++20
#   sennit_plain_flags(target)     the same for code that only reads options and prints
#   sennit_fortran_flags(target)   Fortran: the modules, and programs that use them, with parts in C
# Four functions shorten a build of everything:
#   sennit_compile_together(target)         compiles its sources in few translation units
#   sennit_compile_folders_together(target) compiles each folder as one translation unit
#   sennit_compile_first(target header...)  precompiles headers for the sources of a target
#   sennit_share_headers(target...)         shares precompiled headers between programs
# Sanitizers are set for the whole tree, because a program with only some sanitized parts gives false reports.
option(SENNIT_BUILD_PROGRAMS "Build the command line, benchmarks, applications and examples"
    ${PROJECT_IS_TOP_LEVEL})
option(SENNIT_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SENNIT_ADOPTION "Registered memory may be moved into memory that peers map; OFF: the kernel copies it, or XPMEM maps it" ON)
option(SENNIT_WERROR "Warnings are errors" OFF)
option(SENNIT_ASSERTIONS "Check the invariants of the library, and use assert() and the checks of libstdc++" OFF)
option(SENNIT_SHORT_BUILD "Compile several sources of programs together: a full build is faster, a build of one source slower" ON)
set(SENNIT_SANITIZE "" CACHE STRING "Sanitizers of the whole tree: address,undefined or thread")
set(together OFF)
if(SENNIT_SANITIZE)
    set(together ON)
endif()
option(SENNIT_FOLDERS_TOGETHER "Compile each folder of the library as one translation unit; not for measurements or production" ${together})
unset(together)
set(SENNIT_PRESET "none" CACHE STRING "Name of the preset, for reports only")

# CMake treats any unknown word as OFF. sennit_report_optional() fails with all wrong values.
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

# Sources of a folder may define the same local names. The functions below compile only suitable sources together.
if(CMAKE_UNITY_BUILD)
    message(STATUS "Sennit: CMAKE_UNITY_BUILD is ignored; SENNIT_SHORT_BUILD and SENNIT_FOLDERS_TOGETHER join what can be joined")
    set(CMAKE_UNITY_BUILD OFF)
endif()

# The flags of dpkg-buildflags, with hardening. They precede the flags of the build type, so -O3 stays in effect.
option(SENNIT_DEBIAN_FLAGS "Compile as Debian compiles packages" OFF)
sennit_check_switch(SENNIT_DEBIAN_FLAGS ON OFF)
if(SENNIT_DEBIAN_FLAGS)
    find_program(SENNIT_DPKG_BUILDFLAGS dpkg-buildflags REQUIRED)
    mark_as_advanced(SENNIT_DPKG_BUILDFLAGS)
    function(sennit_debian_flags name)
        set(flags "")
        foreach(kind IN LISTS ARGN)
            # Without -g: the archive is not stripped, and its debug information would contain paths of the build tree.
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

# Not an option(), which would write to the cache of a project that contains this one. OFF: programs link the archive, and no
# shared library is built.
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

# Output folders without a preset: bin/, lib/ and include/ of the build tree.
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
# Additional flags of the core; the last two are for C++ only.
set(SENNIT_CORE_WARNINGS -Wconversion -Wmissing-declarations -Wnon-virtual-dtor -Woverloaded-virtual)
set(SENNIT_CORE_FLAGS
    -fno-exceptions
    -fno-rtti
    -fvisibility=hidden
    -fvisibility-inlines-hidden
    "SHELL:-include base/exports.hpp"
    # Each put finds its rank through thread-local storage. The general TLS model would make a call for that.
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
        # The vptr check needs type information, and the core has none. The enum check reports the
        # library's own tests of values from C callers, which may pass any number.
        add_compile_options(-fno-sanitize-recover=undefined -fno-sanitize=vptr,enum)
    endif()
    if(SENNIT_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # GCC warns about each fence, because the thread sanitizer does not model fences. If a fence orders
        # plain data, the report is in the tests' suppression file with its reason.
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

# For code that reads options and prints: a whole target, or sources of the current folder. Its headers are large, and it needs
# neither speed nor shared memory, so optimization and sanitizers would only lengthen the build.
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

# Standard Fortran only, so that other compilers accept the sources. A call of the binding bypasses the procedure linkage table,
# which would cost as much as the binding's own instructions.
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

# A static library for this build only. It is not in the folder of the libraries that users link.
function(sennit_internal_archive target)
    set_target_properties(${target} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/internal")
endfunction()

# A large header included by every source takes most of the compilation. Sources that are compiled together must not define the
# same local names; sources that do are listed after ALONE. MOST limits how many are compiled together.
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

# The same for a library: one translation unit for each folder. Sources with the property SKIP_UNITY_BUILD_INCLUSION stay
# separate, because they define the same names differently.
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
    # GCC warns about types with members of anonymous-namespace types outside of the main file.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endfunction()

# Not with a compiler launcher: compiler caches do not see the contents of precompiled headers.
set(SENNIT_COMPILES_FIRST OFF)
if(SENNIT_SHORT_BUILD AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(SENNIT_COMPILES_FIRST ON)
endif()
function(sennit_compile_first target)
    if(SENNIT_COMPILES_FIRST)
        target_precompile_headers(${target} PRIVATE ${ARGN})
    endif()
endfunction()

# One precompiled header for programs, and one for objects and archives: the compiler uses it only with the options that it was made
# with, and position-independent code differs between them. Not for targets with C sources. Sources still include what they use; the
# preset dev checks that, because it compiles without precompiled headers.
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
