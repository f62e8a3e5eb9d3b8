#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/http/message.hpp"

namespace sluice::page {

/// Settings that determine which clients may use the live page.
struct Access {
  std::string token;  ///< secret token that a client needs to see the data of the page and to use its controls
  bool beyond_loopback = false;  ///< true to accept clients on other machines too

  /// host names of this machine that the header Host of a request may contain; IP addresses and localhost are always
  /// allowed
  std::vector<std::string> names{};
};

/// Rejects HTTP requests that have no token or do not come from the live page itself.
class Guard {
 public:
  explicit Guard(Access access);

  /// Returns the response that rejects a request for the page, or nothing if the page may be sent. A request is
  /// rejected if the client is on another machine although only this machine is allowed. It is also rejected if Host is
  /// an unknown name, as with DNS rebinding.
  [[nodiscard]] std::optional<http::Response> refuse_stranger(const http::Request& request) const;
  /// Returns the response that rejects a request of the page's script, or nothing if the request may be answered. A
  /// request is rejected for the reasons of refuse_stranger(), or because a page of another site has sent it. It is
  /// also rejected if `Authorization: Bearer …` does not contain the token. The duration of the comparison does not
  /// depend on the token.
  [[nodiscard]] std::optional<http::Response> refuse(const http::Request& request) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  [[nodiscard]] static Digest digest_of(std::string_view text);
  [[nodiscard]] bool is_allowed_host(std::string_view host) const;
  [[nodiscard]] bool has_token(std::string_view authorization) const;

  Digest token_;
  bool beyond_loopback_;
  std::vector<std::string> names_;
};

}  // namespace sluice::page
