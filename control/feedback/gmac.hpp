#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace sluice::control::feedback {

struct Key;

/// HMAC-SHA-256 truncated to 128 bits (RFC 2104 section 5, RFC 4868), or a whole tag of AES-256-GMAC.
inline constexpr std::size_t tag_size = 16;
using Tag = std::array<std::uint8_t, tag_size>;

/// 128 random bits that a sender draws when its session begins, and never uses again.
using SessionId = std::array<std::uint8_t, 16>;

/// Tags of AES-256-GMAC (NIST SP 800-38D) over whole datagrams, under one shared secret.
///
/// Two datagrams under the same key with the same nonce would give the key away. So nobody signs with the secret: each
/// session has a key of its own, by HKDF-SHA-256 (RFC 5869) from the secret, the session id in its header, and who says
/// what in which epoch; and a datagram's nonce is its sequence number. A number that is not greater than the last is
/// not signed. A sender that restarts draws another session id, so its numbers may begin anew, whatever its clock says.
///
/// Thread: one.
class GmacSessions {
 public:
  /// Keys of so many sessions are kept, of those that were heard last; others are derived again when they are heard.
  static constexpr std::size_t most_kept = 1024;

  /// Throws std::runtime_error when the cryptographic library refuses.
  explicit GmacSessions(const Key& key);
  ~GmacSessions();
  GmacSessions(const GmacSessions&) = delete;
  GmacSessions& operator=(const GmacSessions&) = delete;

  /// The tag over a datagram, whose header has a session id. Nothing when it has none, when its number is not greater
  /// than that of the last, of whichever session, or when the library is out of memory.
  [[nodiscard]] std::optional<Tag> sign(std::span<const std::uint8_t> datagram);
  /// Compares in constant time. What a forger says costs the derivation of a key and is forgotten.
  [[nodiscard]] bool verify(std::span<const std::uint8_t> datagram, std::span<const std::uint8_t, tag_size> tag);
  /// Sessions whose keys are kept.
  [[nodiscard]] std::size_t kept() const { return heard_.size(); }

 private:
  class Cipher;
  /// Whose key it is: what the header says of type, key id, sender, epoch and session.
  using Identity = std::array<std::uint8_t, 1 + 4 + 8 + 8 + sizeof(SessionId)>;
  struct HashOfIdentity {
    std::size_t operator()(const Identity& identity) const noexcept;
  };
  struct Heard {
    std::unique_ptr<Cipher> cipher;
    std::uint64_t at = 0;  ///< of all datagrams that were found right, the number of its last
  };

  [[nodiscard]] static std::optional<Identity> identity_of(std::span<const std::uint8_t> datagram);
  [[nodiscard]] std::unique_ptr<Cipher> derive(const Identity& identity) const;
  void keep(const Identity& identity, std::unique_ptr<Cipher> cipher);

  std::vector<std::uint8_t> secret_;
  std::unordered_map<Identity, Heard, HashOfIdentity> heard_;
  std::uint64_t heard_count_ = 0;
  std::optional<Identity> own_;  ///< of the last that was signed
  std::unique_ptr<Cipher> own_cipher_;
  std::uint64_t signed_ = 0;  ///< the last number
};

}  // namespace sluice::control::feedback
