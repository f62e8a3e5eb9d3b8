#pragma once

#include <optional>
#include <string>

#include "proxy/yaml/section.hpp"

namespace sluice::config {

/// Returns the first line of the file `path`, which holds a secret. If the file cannot be read, reports an error at
/// `key` and returns nothing.
[[nodiscard]] std::optional<std::string> read_secret(Section& s, const std::string& key, const std::string& path);

/// True if users other than the owner and the group may read or write the file.
[[nodiscard]] bool open_to_others(const std::string& path);

}  // namespace sluice::config
