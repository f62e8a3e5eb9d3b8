#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/feedback/authenticator.hpp"
#include "control/feedback/codec.hpp"
#include "control/feedback/failure.hpp"
#include "control/feedback/replay.hpp"
#include "control/feedback/report.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control::feedback {

enum class Role : std::uint8_t {
  node_b,  ///< the Node-B's side: sends reports, accepts statuses
  proxy    ///< the proxy's side: sends statuses, accepts reports
};

struct SessionConfig {
  Role role = Role::proxy;
  std::uint64_t sender = 1;    ///< sender id of this program: stable over restarts, different from every peer's
  std::uint64_t epoch = 1;     ///< epoch of this run: greater than in every earlier run, see next_epoch()
  std::vector<Key> keys;       ///< all keys that may authenticate received datagrams
  std::uint32_t send_key = 0;  ///< id of the key that signs this side's datagrams

  /// Random number for this session, from the system's random source. Required if `send_key` is an AES-256-GMAC key,
  /// because two sessions with equal id, sender and epoch would reveal the key.
  SessionId session_id{};
  /// Largest UDP payload sent, 256 to largest_datagram bytes. Until Session::set_limit() is called, at most
  /// default_max_datagram bytes are sent.
  std::size_t max_datagram = default_max_datagram;
  Features features;  ///< optional features announced to peers; received datagrams may use them even if not announced

  /// Largest number of peers whose epoch and sequence numbers are stored. For a further peer, the one that was silent
  /// longest is discarded, or the new one is refused (ReplayGuard).
  std::size_t max_senders = 1024;
};

/// Returns the epoch of a sender that starts now: `wall_clock_ns`, the time in nanoseconds since 1970. If `previous`,
/// the epoch of the last run, is known and not smaller, returns `previous` plus one.
[[nodiscard]] std::uint64_t next_epoch(std::optional<std::uint64_t> previous, std::uint64_t wall_clock_ns);

/// Describes a refused datagram whose epoch is before the newest one of its sender. Either the datagram is a replayed
/// recording, or the sender's clock was set back before a restart. A datagram of a discarded sender also counts as
/// stale.
struct StaleSender {
  std::uint64_t sender = 0;
  std::uint64_t epoch = 0;   ///< epoch of the refused datagram
  std::uint64_t newest = 0;  ///< newest epoch of this sender, or of all discarded senders if `sender` is discarded
};
/// Returns a sentence that describes the stale epoch and what the operator should do.
[[nodiscard]] std::string to_string(const StaleSender& stale);

/// Receiver of encoded datagrams that are to be sent: a UDP socket, or a link of the emulator's virtual-time network.
class DatagramSink {
 public:
  /// Sends a datagram; the bytes are valid only during the call.
  virtual void send(std::span<const std::uint8_t> datagram) = 0;

 protected:
  ~DatagramSink() = default;
};

/// One side of the feedback protocol, without a transport. It encodes, signs, authenticates and decodes datagrams and
/// rejects replays. Has no clock and no socket. Not thread-safe.
class Session {
 public:
  /// Creates a session. Throws std::invalid_argument for an unusable configuration.
  explicit Session(SessionConfig config);

  /// Sends reports in as many datagrams as needed, each with its own sequence number. Without reports it sends one
  /// datagram without records. Returns the sequence number of the last one. `period` is the announced time until the
  /// next regular reports. If `poll` is true, an immediate status of all UEs is requested from the receiver. `refresh`
  /// is the longest interval between two reports of a UE if unchanged UEs are omitted; 0 if none is omitted.
  std::uint64_t send_reports(std::span<const BearerReport> reports, Duration now, Duration period, bool poll,
                             DatagramSink& sink, Duration refresh = {});
  std::uint64_t send_statuses(std::span<const BearerStatus> statuses, Duration now, Duration period, bool poll,
                              DatagramSink& sink);

  /// Checks a datagram received at the time `at`. If the whole datagram is valid, passes its header and then every
  /// record to the handler. Otherwise returns the reason of the refusal.
  Failure receive(std::span<const std::uint8_t> datagram, RecordHandler& handler, const ReceivedAt& at);
  /// Checks a datagram received at the time `at` and passes its records to the handler. Copies the header of an
  /// accepted datagram to `header`. Returns the reason if the datagram is refused, else `none`.
  Failure receive(std::span<const std::uint8_t> datagram, RecordHandler& handler, const ReceivedAt& at, Header& header);

  /// Sets the maximum length of datagrams sent from now on to `octets`, but at most to the configured maximum. Before
  /// the first call the limit is at most default_max_datagram, because only some peers accept longer datagrams.
  void set_limit(std::size_t octets) { limit_ = std::min(octets, config_.max_datagram); }
  [[nodiscard]] std::size_t limit() const { return limit_; }
  /// Returns the maximum length of datagrams that all current peers accept, at most the configured one. A peer is
  /// current if a datagram was received from it in the last two seconds.
  [[nodiscard]] std::size_t limit_of_peers(Instant now) const {
    return peer_features(now).large ? config_.max_datagram : std::min(config_.max_datagram, default_max_datagram);
  }
  /// Returns the bytes left for records in a datagram of `octets` bytes.
  [[nodiscard]] std::size_t record_room(std::size_t octets) const {
    return octets - header_size - extension().size() - tag_size;
  }
  /// Returns the optional features that all current senders have announced. A sender is current if a datagram was
  /// received from it in the last two seconds. Returns no feature if there is no current sender.
  [[nodiscard]] Features peer_features(Instant now) const;

  /// Skips `datagrams` sequence numbers, so that receivers count these datagrams as lost. Called if numbers were
  /// assigned to reports that could not be sent.
  void skip(std::uint64_t datagrams) { sequence_ += datagrams; }
  /// Returns the sequence number of the next datagram. By this number receivers distinguish a new allowance (bytes that
  /// the proxy may send) from the previous one.
  [[nodiscard]] std::uint64_t next_sequence() const { return sequence_ + 1; }
  [[nodiscard]] const FailureCounters& counters() const { return counters_; }
  /// Returns the last datagram that was refused with stale_epoch.
  [[nodiscard]] const std::optional<StaleSender>& stale() const { return stale_; }
  [[nodiscard]] const SessionConfig& config() const { return config_; }

 private:
  [[nodiscard]] std::span<const std::uint8_t> extension() const;

  /// Stores the records of the datagram that is being checked. All are of a kind that its message type may contain.
  struct Gathered final : RecordHandler {
    std::vector<BearerReport> reports;
    std::vector<BearerStatus> statuses;
    Duration refresh{};
    void on_omission(Duration shortest) override {
      refresh = refresh == Duration::zero() ? shortest : std::min(refresh, shortest);
    }
    void on_report(const Header&, const BearerReport& report) override { reports.push_back(report); }
    void on_status(const Header&, const BearerStatus& status) override { statuses.push_back(status); }
  };

  /// Times of one optional feature: when a message that announces it was last received, and when a message that does
  /// not announce it was last received.
  struct Claimed {
    std::optional<Instant> by;
    std::optional<Instant> not_by;
    void record(bool claimed, Instant now) { (claimed ? by : not_by) = now; }
    [[nodiscard]] bool holds(Instant now) const {
      const auto late = [now](const std::optional<Instant>& at) { return !at || now - *at >= ReplayGuard::active_for; };
      return !late(by) && late(not_by);
    }
  };

  template <typename Record>
  std::uint64_t send(Header header, std::span<const Record> records, DatagramSink& sink);
  [[nodiscard]] Header header_of(MessageType type, Duration now, Duration period, bool poll) const;
  void hand_over(const Header& header, RecordHandler& handler) const;
  void seal(DatagramWriter& writer, Header& header, DatagramSink& sink);
  [[nodiscard]] Failure authenticate(std::span<const std::uint8_t> datagram);
  [[nodiscard]] Failure judge(std::span<const std::uint8_t> datagram, RecordHandler& handler, const ReceivedAt& at,
                              Header& header);

  SessionConfig config_;
  Authenticator authenticator_;
  ReplayGuard replay_;
  std::vector<std::uint8_t> buffer_;
  std::size_t limit_;
  Claimed changes_;
  Claimed large_;
  Gathered gathered_;
  std::uint64_t sequence_ = 0;
  FailureCounters counters_{};
  std::optional<StaleSender> stale_;
};

}  // namespace sluice::control::feedback
