#pragma once

#include <string>
#include <vector>

#include "proxy/config/config.hpp"

namespace sluice::proxy::test {

/// The two ports that every configuration needs, in three lines.
inline constexpr const char* ports = "ports:\n  radio: { device: net_null0 }\n  core: { device: net_null1 }\n";

inline config::Loaded<Config> parsed(const std::string& text) {
  return parse_config(text, "s.yaml");
}

inline std::vector<std::string> errors_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const config::Error& error : parsed(text).errors) lines.push_back(error.to_string());
  return lines;
}

}  // namespace sluice::proxy::test
