// SPDX-License-Identifier: BSD-3-Clause
// Files with names chosen by the user, perhaps in a directory where others may write too. Such a
// file must belong to this user, be a regular file and have one name; nothing else is written or
// removed.
#pragma once

namespace sennit::runtime {

// The same as open(). -1 with errno: ELOOP for a symbolic link, EPERM for a file that is not the
// user's own.
int open_own_file(const char *name, int flags);
// Removes the file of an earlier job.
void remove_own_file(const char *name);
// The text of errno after these functions.
const char *file_error(int error);

}  // namespace sennit::runtime
