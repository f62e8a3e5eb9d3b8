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

/// Bytes of a tag: HMAC-SHA-256 truncated to 128 bits (RFC 2104 section 5, RFC 4868), or a whole AES-256-GMAC tag.
inline constexpr std::size_t tag_size = 16;
using Tag = std::array<std::uint8_t, tag_size>;

/// Session id: 128 random bits that a sender draws when its session begins and never reuses.
using SessionId = std::array<std::uint8_t, 16>;

/// Computes and verifies AES-256-GMAC tags (NIST SP 800-38D) of whole datagrams, with one shared secret.
///
/// Two datagrams with equal key and nonce would reveal the key, so the secret itself never signs. Each session has its
/// own key, derived by HKDF-SHA-256 (RFC 5869). Inputs of the derivation are the secret, the session id, and the type,
/// key id, sender and epoch of the header. The nonce of a datagram is its sequence number. A datagram is not signed if
/// its sequence number is not greater than the last signed one. A sender that restarts draws another session id, so its
/// sequence numbers may start again even if its clock was set back.
///
/// Not thread-safe.
class GmacSessions {
 public:
  /// Largest number of session keys that are cached. If the cache is full, the least recently used key is evicted, and
  /// derived again when needed.
  static constexpr std::size_t max_kept = 1024;

  /// Prepares the secret. Throws std::runtime_error if the cryptographic library fails.
  explicit GmacSessions(const Key& key);
  ~GmacSessions();
  GmacSessions(const GmacSessions&) = delete;
  GmacSessions& operator=(const GmacSessions&) = delete;

  /// Returns the tag of a datagram that this side sends. Returns nothing if the datagram's header has no session id, or
  /// if memory is exhausted. Also returns nothing if the sequence number is not greater than the last one that was
  /// signed.
  [[nodiscard]] std::optional<Tag> sign(std::span<const std::uint8_t> datagram);
  /// True if `tag` is the datagram's tag; compares in constant time. A forged datagram costs the derivation of one key,
  /// which is not cached.
  [[nodiscard]] bool verify(std::span<const std::uint8_t> datagram, std::span<const std::uint8_t, tag_size> tag);
  /// Returns the number of sessions whose keys are cached.
  [[nodiscard]] std::size_t kept() const { return sessions_.size(); }

 private:
  class Cipher;
  /// Key of the cache: type, key id, sender, epoch and session id from the header.
  using Identity = std::array<std::uint8_t, 1 + 4 + 8 + 8 + sizeof(SessionId)>;
  struct HashOfIdentity {
    std::size_t operator()(const Identity& identity) const noexcept;
  };
  struct Session {
    std::unique_ptr<Cipher> cipher;
    /// Value of use_count_ at the session's last valid datagram. When the cache is full, the session with the smallest
    /// value is evicted.
    std::uint64_t at = 0;
  };

  [[nodiscard]] static std::optional<Identity> identity_of(std::span<const std::uint8_t> datagram);
  [[nodiscard]] std::unique_ptr<Cipher> derive(const Identity& identity) const;
  void keep(const Identity& identity, std::unique_ptr<Cipher> cipher);

  std::vector<std::uint8_t> secret_;
  std::unordered_map<Identity, Session, HashOfIdentity> sessions_;
  std::uint64_t use_count_ = 0;
  std::optional<Identity> own_;  ///< header fields (Identity) of the last datagram that this side signed
  std::unique_ptr<Cipher> own_cipher_;
  std::uint64_t signed_ = 0;  ///< sequence number of the last datagram that this side signed
};

}  // namespace sluice::control::feedback
