#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::http {

/// Host and port of a request: the value of a header Host, or the authority of a URI (RFC 3986 section 3.2).
struct Authority {
  /// Name or IPv4 address in lower case, or an IPv6 address without brackets; may be empty.
  std::string host;
  std::string port;  ///< digits of the port number; may be empty
};

/// Parses a host and an optional port. Returns nothing for any other text, such as a user, a zone of an IPv6 address,
/// or a character that names cannot have.
[[nodiscard]] std::optional<Authority> read_authority(std::string_view text);

/// Target of a request line in its parts.
struct Target {
  std::string path;       ///< path of the target without the query; "*" for the whole server
  std::string authority;  ///< authority in the absolute form of a target (RFC 9112 section 3.2.2); else empty
};

/// Parses a target in origin form, asterisk form, or absolute form with the scheme http. Returns nothing for any
/// other text: an absolute form without a host or with a user, or a fragment.
[[nodiscard]] std::optional<Target> read_target(std::string_view text);

}  // namespace sluice::http
