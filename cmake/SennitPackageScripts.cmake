# Run by cpack: removes the scripts that CPack adds to each package with a shared library. They call ldconfig, which the trigger of
# SennitPackage.cmake does already. CPack has no setting for that.
set(folder "${CPACK_TOPLEVEL_DIRECTORY}/without-scripts")
foreach(package IN LISTS CPACK_PACKAGE_FILES)
    if(NOT package MATCHES "\\.deb$")
        continue()
    endif()
    file(REMOVE_RECURSE "${folder}")
    execute_process(COMMAND dpkg-deb --raw-extract "${package}" "${folder}" COMMAND_ERROR_IS_FATAL ANY)
    if(EXISTS "${folder}/DEBIAN/postinst" OR EXISTS "${folder}/DEBIAN/postrm")
        file(REMOVE "${folder}/DEBIAN/postinst" "${folder}/DEBIAN/postrm")
        # Independent of the umask.
        set(all_read OWNER_READ GROUP_READ WORLD_READ)
        set(all_search ${all_read} OWNER_EXECUTE GROUP_EXECUTE WORLD_EXECUTE)
        file(CHMOD "${folder}" PERMISSIONS OWNER_WRITE ${all_search})
        file(CHMOD_RECURSE "${folder}/DEBIAN" FILE_PERMISSIONS OWNER_WRITE ${all_read} DIRECTORY_PERMISSIONS OWNER_WRITE ${all_search})
        execute_process(COMMAND dpkg-deb --root-owner-group --build "${folder}" "${package}"
            OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    endif()
endforeach()
file(REMOVE_RECURSE "${folder}")
