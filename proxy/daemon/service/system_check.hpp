#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"

namespace sluice::proxy {

/// Selects how completely the machine is checked against a configuration.
enum class SystemScope : std::uint8_t {
  interfaces_present,  ///< checks only interfaces that exist; a missing one is no error, because the file may be meant
                       ///< for another machine
  whole                ///< checks everything that the configuration needs; a missing item is an error
};

/// Returns the errors that keep the configuration in `file` from running on this machine. Each error has the position
/// of the key that needs the item. Nothing is opened or changed. `root` is the folder that contains proc and sys.
[[nodiscard]] std::vector<config::Error> system_errors(const Config& config, const std::string& file, SystemScope scope,
                                                       const std::filesystem::path& root = "/");

/// Returns an error for each file (configuration, secrets) that the user cannot read, and for an admin.group that the
/// user is not a member of. Only root can become another user, so the result is empty for any other caller. For root
/// and for an unknown user the result is empty too.
[[nodiscard]] std::vector<config::Error> errors_of_user(const Config& config, const std::string& file,
                                                        const std::string& user);

}  // namespace sluice::proxy
