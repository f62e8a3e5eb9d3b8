#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/message.hpp"

namespace sluice::page {

/// Who may see the page.
struct Access {
  std::string token;                 ///< whoever has it may look, and change what the page changes
  bool beyond_loopback = false;      ///< clients on other machines, too
  std::vector<std::string> names{};  ///< under which browsers find this machine, besides its addresses and localhost
};

/// Refuses what did not come from the page itself, on behalf of somebody who may see it.
class Guard {
 public:
  explicit Guard(Access access);

  /// Why the page is not even shown, or nothing: a client that is too far away, or a name of the host that is not ours,
  /// by which another site's page could reach us (DNS rebinding).
  [[nodiscard]] std::optional<http::Response> refuse_stranger(const http::Request& request) const;
  /// Why a request of the page's script is refused, or nothing: all of the above; another site's page
  /// sent it; the token is not in `Authorization: Bearer …`. How long the comparison takes tells nothing of the token.
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
