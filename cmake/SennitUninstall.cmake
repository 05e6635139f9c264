# Removes what was installed: cmake -DTREE=build/release -P SennitUninstall.cmake, which is target `uninstall`.
# The files that the lists in the tree name, and no others: each `cmake --install` writes install_manifest.txt, or
# install_manifest_COMPONENT.txt, over the one before. Then the folders that only Sennit has, where they are empty. DESTDIR counts as
# it does for an installation.
file(GLOB lists "${TREE}/install_manifest*.txt")
if(NOT lists)
    message(FATAL_ERROR "${TREE} has no install_manifest.txt: nothing was installed from there, or it was removed already")
endif()
set(files "")
foreach(list IN LISTS lists)
    file(STRINGS "${list}" lines)
    list(APPEND files ${lines})
endforeach()
list(REMOVE_DUPLICATES files)

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
            message(FATAL_ERROR "${there} can not be removed")
        endif()
        set(is_removed ON)
    else()
        message("-- Not there: ${there}")
    endif()
endforeach()

# A wrong DESTDIR must not cost the lists: they are the only record of the real installation.
if(files AND NOT is_removed)
    message(FATAL_ERROR "none of the installed files is there: set DESTDIR as for the installation (now \"$ENV{DESTDIR}\"). "
        "If they were removed by hand, delete ${TREE}/install_manifest*.txt")
endif()

# Inner folders before those around them.
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
# An installation without DESTDIR needs the lists to be removed later.
if(NOT is_elsewhere)
    file(REMOVE ${lists})
endif()
