#pragma once

#include <string>
#include <vector>

#include "proxy/yaml/section.hpp"

namespace sluice::config {

/// Settings of a live page, of the proxy or of the Node-B.
struct PageConfig {
  std::string token_file;
  bool beyond_loopback = false;
  std::vector<std::string> names;
  std::string token;  ///< secret token, read from token_file
};

/// Declares the keys of a live page. A token file that everybody can read, or that holds no token, is an error.
void describe(Section& s, PageConfig& page);

/// Refuses a live page that no client can reach. `key` is the name of the configured address `listen` of its HTTP
/// server.
void check_reach(Section& s, const PageConfig& page, const SocketAddress& listen, const std::string& key);

}  // namespace sluice::config
