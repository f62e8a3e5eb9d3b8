#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::http {

/// Whom a request is for: the value of a header Host, or the authority of a URI (RFC 3986 section 3.2).
struct Authority {
  std::string
      host;  ///< a name or an IPv4 address in small letters, or an IPv6 address without its brackets; may be empty
  std::string port;  ///< its digits; may be empty
};

/// Reads a host and an optional port, and nothing else: no user, no zone of an IPv6 address, no octet that a name
/// cannot have. Returns nothing for any other text.
[[nodiscard]] std::optional<Authority> read_authority(std::string_view text);

/// What a request line asks for.
struct Target {
  std::string path;       ///< without what follows '?'; "*" for the whole server
  std::string authority;  ///< of the absolute form (RFC 9112 section 3.2.2); empty in others
};

/// Reads a target in origin form, in asterisk form, or in absolute form with the scheme http. Returns nothing for any
/// other text: an absolute form without a host or with a user, or a fragment.
[[nodiscard]] std::optional<Target> read_target(std::string_view text);

}  // namespace sluice::http
