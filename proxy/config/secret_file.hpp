#pragma once

#include <optional>
#include <string>

#include "proxy/yaml/section.hpp"

namespace sluice::config {

/// The first line of a file that holds a secret; a file that cannot be read is an error at `key`, and nothing.
[[nodiscard]] std::optional<std::string> read_secret(Section& s, const std::string& key, const std::string& path);

/// Others than the owner and the group may read a file, or put something else into it.
[[nodiscard]] bool open_to_others(const std::string& path);

}  // namespace sluice::config
