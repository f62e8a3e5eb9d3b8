#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/feedback/authenticator.hpp"
#include "control/feedback/codec.hpp"
#include "control/feedback/report.hpp"
#include "control/feedback/report_sources.hpp"
#include "proxy/yaml/yaml.hpp"

namespace sluice::config {

/// Shared secret of the feedback protocol, given in the configuration or in a separate file.
struct KeyConfig {
  std::uint32_t id = 1;
  std::optional<std::string> secret;       ///< the secret in hexadecimal digits
  std::optional<std::string> secret_file;  ///< path of a file that holds the secret in hexadecimal digits
  std::vector<std::uint8_t> bytes;         ///< secret in binary form, set after it was read
  control::feedback::TagAlgorithm algorithm = control::feedback::TagAlgorithm::hmac_sha_256;
  /// Prefixes of addresses from which the proxy may learn new senders that sign with this key. The default is the
  /// loopback addresses.
  std::vector<IpPrefix> learn_from{{IpAddress::v4(127, 0, 0, 0), 104},
                                   {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}, 128}};
};
void describe(Section& s, KeyConfig& key);

/// Settings of the feedback protocol at the proxy or at the Node-B.
struct FeedbackConfig {
  SocketAddress listen{IpAddress::v4(127, 0, 0, 1), 0};
  std::vector<SocketAddress> peers;
  bool learn_peers = true;
  std::uint16_t most_learned = 64;
  std::uint64_t sender = 1;
  std::vector<KeyConfig> keys;

  /// id of the key that signs the datagrams sent by this program; if not set, the first configured key
  std::optional<std::uint32_t> send_key;
  Bytes max_datagram{static_cast<std::int64_t>(control::feedback::default_max_datagram)};

  /// path, as configured, of the file that stores the last epoch (number that increases with each start); if not set,
  /// the clock alone gives the epoch
  std::optional<std::string> epoch_file;
  std::string epoch_path;  ///< path of epoch_file, resolved against the configuration file's folder
  Duration status_period = std::chrono::milliseconds(5);
  control::feedback::CellRange largest;  ///< upper limits of the values that an accepted Node-B report may contain
  bool allow_readable_secrets = false;

  /// Returns the epoch of a feedback session that starts now. The epoch is a number that increases with each start of
  /// the program, so that peers detect replayed datagrams. Stores it in epoch_file if that is set. `wall_clock_ns` is
  /// the time since 1970. Throws std::runtime_error if the file cannot be read or written.
  [[nodiscard]] std::uint64_t session_epoch(std::uint64_t wall_clock_ns) const;
  /// Returns the configured keys in the form that a feedback session needs.
  [[nodiscard]] std::vector<control::feedback::Key> session_keys() const;
  [[nodiscard]] std::uint32_t session_send_key() const;
};
void describe(Section& s, FeedbackConfig& feedback);

/// Settings of the feedback protocol at the proxy. One of them selects the source of Node-B reports.
struct ProxyFeedbackConfig : FeedbackConfig {
  control::feedback::ReportSourceKind source = control::feedback::ReportSourceKind::sluice;
};
void describe(Section& s, ProxyFeedbackConfig& feedback);

}  // namespace sluice::config
