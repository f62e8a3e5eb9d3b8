#pragma once

#include <string>

namespace sluice::proxy {

/// Creates the folder of the file, such as /run/sluice, if its parent folder exists. Does not report errors, because
/// creating the file then fails with a message.
void make_folder_of(const std::string& path);

/// Throws std::runtime_error unless the open file is regular, belongs to this user, and gives no other user access.
void require_private(int descriptor);

/// Returns the kernel's boot_id, which is different after each boot; empty if it cannot be read.
[[nodiscard]] std::string boot_id();

}  // namespace sluice::proxy
