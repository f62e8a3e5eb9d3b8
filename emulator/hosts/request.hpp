#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/packet/build.hpp"
#include "emulator/hosts/payload_pattern.hpp"

namespace sluice::emulator {

/// What a built-in client asks of a built-in server; 16 bytes at the head of, or between, the payloads of a connection.
struct Request {
  enum class Verb : std::uint8_t {
    fetch = 1,  ///< send me `size` bytes of the pattern
    put = 2     ///< `size` bytes of the pattern follow; answer with a request of the same kind when they are in
  };
  static constexpr std::size_t length = 16;
  static constexpr std::uint64_t endless = UINT64_MAX;

  Verb verb = Verb::fetch;
  std::uint64_t size = 0;

  [[nodiscard]] std::array<std::uint8_t, length> encode() const;
  /// Nothing when the bytes are not a request.
  [[nodiscard]] static std::optional<Request> decode(std::span<const std::uint8_t, length> bytes);
};

/// The pattern of each direction of a connection: what the server sends and what the client sends.
[[nodiscard]] inline PayloadPattern server_pattern(std::uint16_t server_port, std::uint16_t client_port) {
  return PayloadPattern(std::uint64_t{server_port} << 17 | std::uint64_t{client_port} << 1);
}
[[nodiscard]] inline PayloadPattern client_pattern(std::uint16_t server_port, std::uint16_t client_port) {
  return PayloadPattern(std::uint64_t{server_port} << 17 | std::uint64_t{client_port} << 1 | 1);
}

}  // namespace sluice::emulator
