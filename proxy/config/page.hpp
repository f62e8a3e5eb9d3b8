#pragma once

#include <string>
#include <vector>

#include "proxy/yaml/section.hpp"

namespace sluice::config {

/// The live page, of the proxy or of the Node-B.
struct PageConfig {
  std::string token_file;
  bool beyond_loopback = false;
  std::vector<std::string> names;
  std::string token;  ///< what the file holds
};

/// Its keys. A file that everybody can read, or that holds no token, is an error.
void describe(Section& s, PageConfig& page);

/// Refuses a page that nobody could see: `listen` is the key of the address where it is served.
void check_reach(Section& s, const PageConfig& page, const SocketAddress& listen, const std::string& key);

}  // namespace sluice::config
