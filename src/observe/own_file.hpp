// SPDX-License-Identifier: BSD-3-Clause
// Files that a rank writes under names of the user's choice, perhaps in a folder where others may
// write too. Such a file belongs to this user, is a plain file and has one name; nothing else is
// written or removed.
#pragma once

namespace sennit::runtime {

// As open(). -1 with errno: ELOOP of a symbolic link, EPERM of what is not the user's own.
int open_own_file(const char *name, int flags);
// What an earlier job left under the name.
void remove_own_file(const char *name);
// What errno means after these, in words.
const char *file_error(int error);

}  // namespace sennit::runtime
