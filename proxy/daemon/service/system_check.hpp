#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"

namespace sluice::proxy {

/// Selects which parts of a configuration are checked against the machine.
enum class SystemScope : std::uint8_t {
  /// checks only interfaces that exist; a missing interface is no error, because the file may be meant for another
  /// machine
  interfaces_present,
  whole  ///< checks everything that the configuration needs; anything missing is an error
};

/// Returns errors for everything that prevents the configuration from running on this machine. Each error has the
/// position of the key that cannot be satisfied. Opens and changes nothing. `root` is the folder that contains proc and
/// sys.
[[nodiscard]] std::vector<config::Error> system_errors(const Config& config, const std::string& file, SystemScope scope,
                                                       const std::filesystem::path& root = "/");

/// Checks that the user can read the configuration and its secrets, and is a member of admin.group. Returns an error
/// for each violation. The result is empty if the caller is not root, because only root can become another user. It is
/// also empty for user root and for an unknown user.
[[nodiscard]] std::vector<config::Error> errors_of_user(const Config& config, const std::string& file,
                                                        const std::string& user);

}  // namespace sluice::proxy
