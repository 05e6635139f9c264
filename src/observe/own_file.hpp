// SPDX-License-Identifier: BSD-3-Clause
// Files whose names the user chooses, perhaps in a directory in which others may write too. Such a
// file is written or removed only if it is a regular file of this user with a single link.
#pragma once

namespace sennit::runtime {

// Like open(). Also fails for a symbolic link (ELOOP), and for a file that does not meet these
// conditions (EPERM).
int open_own_file(const char *name, int flags);
// Removes the file if it meets these conditions.
void remove_own_file(const char *name);
// The text of errno after these functions.
const char *file_error(int error);

}  // namespace sennit::runtime
