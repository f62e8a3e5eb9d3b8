#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"

namespace sluice::proxy {

/// How much of the machine a check looks at.
enum class SystemScope : std::uint8_t {
  interfaces_present,  ///< interfaces that exist; the file may be meant for another machine, so a missing one is right
  whole                ///< everything that the configuration needs: an item that is missing is an error
};

/// Returns what of this machine keeps the configuration in `file` from running. Each error has the place of the key
/// that needs the item. Nothing is opened or changed. `root` is where /proc and /sys are found.
[[nodiscard]] std::vector<config::Error> system_errors(const Config& config, const std::string& file, SystemScope scope,
                                                       const std::filesystem::path& root = "/");

/// Returns the configuration file and the files of secrets that the user cannot read, and an admin.group that the user
/// is not a member of. Only root can become another user, so the result is empty for any other caller. Neither root nor
/// an unknown name has errors.
[[nodiscard]] std::vector<config::Error> errors_of_user(const Config& config, const std::string& file,
                                                        const std::string& user);

}  // namespace sluice::proxy
