#pragma once

#include <string>

namespace sluice::proxy {

/// Creates the folder of the file, such as /run/sluice, if only the last level is missing. Errors appear when the
/// file is created.
void make_folder_of(const std::string& path);

/// Throws std::runtime_error unless the open file is regular, belongs to this user, and gives no other user access.
void require_private(int descriptor);

/// Returns the kernel's boot_id, which differs after each start of the machine; empty if it cannot be read.
[[nodiscard]] std::string boot_id();

}  // namespace sluice::proxy
