#pragma once

#include <string>
#include <vector>

#include "proxy/yaml/section.hpp"

namespace sluice::config {

/// Settings of a live page, the web page that shows the state of the proxy or of the Node-B emulator.
struct PageConfig {
  std::string token_file;
  bool beyond_loopback = false;
  std::vector<std::string> names;
  std::string token;  ///< secret token, read from token_file
};

/// Declares the keys of a live page. A token file is an error if it contains no token or if every user can read it.
void describe(Section& s, PageConfig& page);

/// Reports an error if no client could reach the live page. `listen` is the configured address of the HTTP server, and
/// `key` is the name of its configuration key.
void check_reach(Section& s, const PageConfig& page, const SocketAddress& listen, const std::string& key);

}  // namespace sluice::config
