#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sluice::control::feedback {

/// HMAC-SHA-256 truncated to 128 bits (RFC 2104 section 5, RFC 4868).
inline constexpr std::size_t tag_size = 16;
using Tag = std::array<std::uint8_t, tag_size>;

/// A shared secret, named by a number so that keys can be rotated: give both sides the new key, switch the senders,
/// take the old key away.
struct Key {
  std::uint32_t id = 0;
  std::vector<std::uint8_t> secret;  ///< 16 bytes at least, 32 recommended

  /// Reads hexadecimal digits (an even number, 32 at least). Nothing when malformed or too short.
  [[nodiscard]] static std::optional<Key> from_hex(std::uint32_t id, std::string_view digits);
};

/// Computes and checks tags with a set of keys. Of each key both hashes are kept as they are behind it, so that a tag
/// costs the hash of the datagram and one block more. Thread: any number, it does not change.
class Authenticator {
 public:
  /// Throws std::invalid_argument when there is no key, a key is shorter than 16 bytes or an id repeats.
  explicit Authenticator(std::span<const Key> keys);
  ~Authenticator();
  Authenticator(Authenticator&&) noexcept;
  Authenticator& operator=(Authenticator&&) noexcept;

  [[nodiscard]] bool knows(std::uint32_t key_id) const;
  /// The tag over `data`; nothing when the key is unknown.
  [[nodiscard]] std::optional<Tag> sign(std::uint32_t key_id, std::span<const std::uint8_t> data) const;
  /// Compares in constant time. False when the key is unknown.
  [[nodiscard]] bool verify(std::uint32_t key_id, std::span<const std::uint8_t> data,
                            std::span<const std::uint8_t, tag_size> tag) const;

 private:
  struct Entry;
  [[nodiscard]] const Entry* find(std::uint32_t key_id) const;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace sluice::control::feedback
