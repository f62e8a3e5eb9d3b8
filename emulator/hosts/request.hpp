#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/packet/build.hpp"
#include "emulator/hosts/payload_pattern.hpp"

namespace sluice::emulator {

/// Request of a built-in client: 16 bytes at the start of a connection's payload, or after the payload of an earlier
/// request.
struct Request {
  enum class Verb : std::uint8_t {
    fetch = 1,  ///< requests that the server sends bytes of the pattern; Request::size is their number
    /// Announces that Request::size bytes of the client's payload pattern follow. Once they have arrived, the server
    /// confirms them: it sends this request back, without payload.
    put = 2
  };
  static constexpr std::size_t length = 16;
  static constexpr std::uint64_t endless = UINT64_MAX;

  Verb verb = Verb::fetch;
  std::uint64_t size = 0;

  [[nodiscard]] std::array<std::uint8_t, length> encode() const;
  /// Returns the request, or nothing if the bytes are no valid request.
  [[nodiscard]] static std::optional<Request> decode(std::span<const std::uint8_t, length> bytes);
};

/// Returns the payload pattern that the server sends on a connection.
[[nodiscard]] inline PayloadPattern server_pattern(std::uint16_t server_port, std::uint16_t client_port) {
  return PayloadPattern(std::uint64_t{server_port} << 17 | std::uint64_t{client_port} << 1);
}
/// Returns the payload pattern that the client sends on a connection.
[[nodiscard]] inline PayloadPattern client_pattern(std::uint16_t server_port, std::uint16_t client_port) {
  return PayloadPattern(std::uint64_t{server_port} << 17 | std::uint64_t{client_port} << 1 | 1);
}

}  // namespace sluice::emulator
