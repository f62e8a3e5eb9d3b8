#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/http/message.hpp"

namespace sluice::page {

/// States which clients may use the live page.
struct Access {
  std::string token;             ///< secret with which a client may view the page and use its controls
  bool beyond_loopback = false;  ///< true to accept clients on other machines

  /// host names of this machine that requests may contain, besides its addresses and localhost
  std::vector<std::string> names{};
};

/// Rejects HTTP requests that do not come from the live page itself or lack its token.
class Guard {
 public:
  explicit Guard(Access access);

  /// Returns the response that rejects a request for the page itself, or nothing if the page may be shown. Reasons: the
  /// client is not on this machine, or Host is a foreign name, which DNS rebinding would use.
  [[nodiscard]] std::optional<http::Response> refuse_stranger(const http::Request& request) const;
  /// Returns the response that rejects a request of the page's script, or nothing if it may be answered. Reasons
  /// besides those of refuse_stranger(): a page of another site sent it, or `Authorization: Bearer …` lacks the token.
  /// The time of the comparison does not depend on the token.
  [[nodiscard]] std::optional<http::Response> refuse(const http::Request& request) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  [[nodiscard]] static Digest digest_of(std::string_view text);
  [[nodiscard]] bool knows_host(std::string_view host) const;
  [[nodiscard]] bool has_token(std::string_view authorization) const;

  Digest token_;
  bool beyond_loopback_;
  std::vector<std::string> names_;
};

}  // namespace sluice::page
