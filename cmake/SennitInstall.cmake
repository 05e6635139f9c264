# What `cmake --install` puts where: headers, both libraries, sennit.pc, the CMake package, the programs.
include(CMakePackageConfigHelpers)

# sennit.pc finds its prefix from its own place, so an installed tree may be moved.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
    OUTPUT_VARIABLE libdir)
file(RELATIVE_PATH SENNIT_PC_PREFIX "${libdir}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" SENNIT_PC_PREFIX "${SENNIT_PC_PREFIX}")
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}"
    OUTPUT_VARIABLE SENNIT_PC_INCLUDEDIR)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}"
    OUTPUT_VARIABLE SENNIT_PC_LIBDIR)
configure_file(cmake/sennit.pc.in "${PROJECT_BINARY_DIR}/sennit.pc" @ONLY)

set(SENNIT_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/sennit")
configure_package_config_file(cmake/sennitConfig.cmake.in "${PROJECT_BINARY_DIR}/sennitConfig.cmake"
    INSTALL_DESTINATION "${SENNIT_PACKAGE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sennitConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)

install(TARGETS sennit sennit_static EXPORT sennitTargets)
install(EXPORT sennitTargets NAMESPACE sennit:: DESTINATION "${SENNIT_PACKAGE_DIR}")
install(DIRECTORY include/sennit DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(FILES "${SENNIT_HEADER_OUTPUT_DIRECTORY}/sennit/version.h"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sennit")
install(FILES "${PROJECT_BINARY_DIR}/sennit.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES "${PROJECT_BINARY_DIR}/sennitConfig.cmake" "${PROJECT_BINARY_DIR}/sennitConfigVersion.cmake"
    DESTINATION "${SENNIT_PACKAGE_DIR}")
if(TARGET sennit_cli)
    install(TARGETS sennit_cli)
endif()
