#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::http {

/// Host and port of a request. They come from the header Host, or from the authority of a URI (RFC 3986 section 3.2).
struct Authority {
  /// name or IPv4 address in lower case, or IPv6 address without brackets; may be empty
  std::string host;
  std::string port;  ///< digits of the port number; may be empty
};

/// Parses a host and an optional port. Returns nothing for other texts, for example with a user name, a zone of an IPv6
/// address, or a character that no name contains.
[[nodiscard]] std::optional<Authority> read_authority(std::string_view text);

/// Target of a request line, split into its parts.
struct Target {
  std::string path;       ///< path of the target without the query; "*" stands for the whole server
  std::string authority;  ///< authority if the target has absolute form (RFC 9112 section 3.2.2), else empty
};

/// Parses a target in origin form, in asterisk form, or in absolute form with the scheme http. Returns nothing for
/// other texts, for example with a fragment, or in absolute form without a host or with a user name.
[[nodiscard]] std::optional<Target> read_target(std::string_view text);

}  // namespace sluice::http
