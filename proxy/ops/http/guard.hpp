#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/ops/http/message.hpp"

namespace sluice::page {

/// Clients that may use the live page.
struct Access {
  std::string token;                 ///< secret that allows to view the page and to use its controls
  bool beyond_loopback = false;      ///< True to accept clients on other machines
  std::vector<std::string> names{};  ///< host names of this machine, besides its addresses and localhost
};

/// Rejects requests that do not come from the page itself or lack the token.
class Guard {
 public:
  explicit Guard(Access access);

  /// Returns the reason why not even the page may be shown, or nothing. The client is not on this machine, or Host is
  /// a foreign name, which DNS rebinding would use.
  [[nodiscard]] std::optional<http::Response> refuse_stranger(const http::Request& request) const;
  /// Returns the reason why a request of the page's script is rejected, or nothing. Besides the reasons of
  /// refuse_stranger(), another site's page sent it, or `Authorization: Bearer …` lacks the token. The time of the
  /// comparison does not depend on the token.
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
