# Target `uninstall`: cmake -DTREE=build/release -P SennitUninstall.cmake.
# Removes the files listed in install_manifest.txt and install_manifest_COMPONENT.txt of the tree, and then Sennit's own folders if
# they are empty. Each `cmake --install` overwrites its list. DESTDIR has the same effect as for an installation.
file(GLOB lists "${TREE}/install_manifest*.txt")
set(files "")
foreach(list IN LISTS lists)
    file(STRINGS "${list}" lines)
    list(APPEND files ${lines})
endforeach()
list(REMOVE_DUPLICATES files)
# cpack leaves empty lists.
if(NOT files)
    message(FATAL_ERROR "${TREE} has no install_manifest.txt with files: nothing was installed from there, or it was removed already")
endif()

set(folders "")
set(is_elsewhere OFF)
set(is_removed OFF)
foreach(file IN LISTS files)
    # Folders that Sennit shares with others, such as lib and man3, stay.
    cmake_path(GET file PARENT_PATH folder)
    while(folder MATCHES "/(include|cmake|share|doc|libexec)/sennit[^/]*(/|$)")
        list(APPEND folders "${folder}")
        cmake_path(GET folder PARENT_PATH folder)
    endwhile()
    set(there "$ENV{DESTDIR}${file}")
    if(NOT "$ENV{DESTDIR}" STREQUAL "" AND EXISTS "${file}")
        set(is_elsewhere ON)
    endif()
    if(EXISTS "${there}" OR IS_SYMLINK "${there}")
        message("-- Removing: ${there}")
        file(REMOVE "${there}")
        if(EXISTS "${there}" OR IS_SYMLINK "${there}")
            message(FATAL_ERROR "${there} cannot be removed")
        endif()
        set(is_removed ON)
    else()
        message("-- Not there: ${there}")
    endif()
endforeach()

# Keep the lists if DESTDIR is wrong: they are the only record of the real installation.
if(NOT is_removed)
    message(FATAL_ERROR "none of the installed files is there: set DESTDIR as for the installation (now \"$ENV{DESTDIR}\"). "
        "If they were removed by hand, delete ${TREE}/install_manifest*.txt")
endif()

# Inner folders first.
list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING)
foreach(folder IN LISTS folders)
    set(there "$ENV{DESTDIR}${folder}")
    file(GLOB inside LIST_DIRECTORIES true "${there}/*" "${there}/.*")
    list(REMOVE_ITEM inside "${there}/." "${there}/..")
    if(IS_DIRECTORY "${there}" AND NOT inside)
        message("-- Removing: ${there}")
        file(REMOVE_RECURSE "${there}")
    endif()
endforeach()
# Keep the lists if an installation without DESTDIR exists: removing it needs them.
if(NOT is_elsewhere)
    file(REMOVE ${lists})
endif()
