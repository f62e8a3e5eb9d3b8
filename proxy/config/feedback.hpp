#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/feedback/authenticator.hpp"
#include "control/feedback/codec.hpp"
#include "control/feedback/report.hpp"
#include "proxy/yaml/yaml.hpp"

namespace sluice::config {

/// One shared secret of a file: given in place, or in a file of its own.
struct KeyConfig {
  std::uint32_t id = 1;
  std::optional<std::string> secret;       ///< secret in hexadecimal digits
  std::optional<std::string> secret_file;  ///< file that holds the hexadecimal digits
  std::vector<std::uint8_t> bytes;         ///< secret in octets, once read
  control::feedback::TagAlgorithm algorithm = control::feedback::TagAlgorithm::hmac_sha_256;
  /// Addresses at which senders that sign with this key may be learned; by default this machine only.
  std::vector<IpPrefix> learn_from{{IpAddress::v4(127, 0, 0, 0), 104},
                                   {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}, 128}};
};
void describe(Section& s, KeyConfig& key);

/// Settings of one end of the feedback protocol, at the proxy or at the Node-B.
struct FeedbackConfig {
  SocketAddress listen{IpAddress::v4(127, 0, 0, 1), 0};
  std::vector<SocketAddress> peers;
  bool learn_peers = true;
  std::uint16_t most_learned = 64;
  std::uint64_t sender = 1;
  std::vector<KeyConfig> keys;
  std::optional<std::uint32_t> send_key;  ///< key that this end signs with; if not set, the first of `keys`
  Bytes max_datagram{static_cast<std::int64_t>(control::feedback::default_max_datagram)};
  std::optional<std::string> epoch_file;  ///< file that keeps the last epoch
  std::string epoch_path;                 ///< path of epoch_file, once resolved
  Duration status_period = std::chrono::milliseconds(5);
  control::feedback::CellRange largest;  ///< largest values that a report may state
  bool allow_readable_secrets = false;

  /// Returns the epoch of a feedback session that starts now, and stores it in epoch_file if one is set. Throws
  /// std::runtime_error if that fails.
  [[nodiscard]] std::uint64_t session_epoch(std::uint64_t wall_clock_ns) const;
  /// Returns the keys for a feedback session.
  [[nodiscard]] std::vector<control::feedback::Key> session_keys() const;
  [[nodiscard]] std::uint32_t session_send_key() const;
};
void describe(Section& s, FeedbackConfig& feedback);

}  // namespace sluice::config
