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

/// One shared secret as a file states it: in place, or in a file of its own.
struct KeyConfig {
  std::uint32_t id = 1;
  std::optional<std::string> secret;       ///< hexadecimal digits
  std::optional<std::string> secret_file;  ///< holds them
  std::vector<std::uint8_t> bytes;         ///< the secret, once read
  control::feedback::TagAlgorithm algorithm = control::feedback::TagAlgorithm::hmac_sha_256;
  /// Where senders that sign with it may be learned: on this machine, where nothing else is said.
  std::vector<IpPrefix> learn_from{{IpAddress::v4(127, 0, 0, 0), 104},
                                   {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}, 128}};
};
void describe(Section& s, KeyConfig& key);

/// One side of the feedback protocol, of the proxy or of the Node-B.
struct FeedbackConfig {
  SocketAddress listen{IpAddress::v4(127, 0, 0, 1), 0};
  std::vector<SocketAddress> peers;
  bool learn_peers = true;
  std::uint16_t most_learned = 64;
  std::uint64_t sender = 1;
  std::vector<KeyConfig> keys;
  std::optional<std::uint32_t> send_key;  ///< default: the first of `keys`
  Bytes max_datagram{static_cast<std::int64_t>(control::feedback::default_max_datagram)};
  std::optional<std::string> epoch_file;  ///< where the last epoch is kept
  std::string epoch_path;                 ///< the same, once read: relative to the working directory or absolute
  Duration status_period = std::chrono::milliseconds(5);
  control::feedback::CellRange largest;  ///< what a report may say
  bool allow_readable_secrets = false;

  /// For a feedback session that starts now: kept in epoch_file where there is one. Throws std::runtime_error when that
  /// fails.
  [[nodiscard]] std::uint64_t session_epoch(std::uint64_t wall_clock_ns) const;
  /// For a feedback session.
  [[nodiscard]] std::vector<control::feedback::Key> session_keys() const;
  [[nodiscard]] std::uint32_t session_send_key() const;
};
void describe(Section& s, FeedbackConfig& feedback);

}  // namespace sluice::config
