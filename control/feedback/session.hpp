#pragma once

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
  node_b,  ///< sends reports, takes statuses
  proxy    ///< sends statuses, takes reports
};

struct SessionConfig {
  Role role = Role::proxy;
  std::uint64_t sender = 1;    ///< this program's id: stable over restarts, different from every peer's
  std::uint64_t epoch = 1;     ///< greater than in every run before: see next_epoch()
  std::vector<Key> keys;       ///< all that are accepted
  std::uint32_t send_key = 0;  ///< the one this side signs with
  /// Drawn at random for this very session, from the system's own source. Needed where `send_key` is one of
  /// AES-256-GMAC: two sessions with the same id, sender and epoch would give their key away.
  SessionId session_id{};
  std::size_t max_datagram = default_max_datagram;  ///< bytes of UDP payload, 256 … 1400
  std::size_t max_senders = 1024;  ///< peers whose replay state is kept; see ReplayGuard for more of them
};

/// The epoch for a sender that starts now: the wall clock in nanoseconds, or one more than the last run's where that
/// was kept and the clock has gone back since.
[[nodiscard]] std::uint64_t next_epoch(std::optional<std::uint64_t> previous, std::uint64_t wall_clock_ns);

/// An authenticated datagram of an epoch before its sender's newest: a recording that somebody plays back, or a sender
/// that has restarted with its clock gone back, whose datagrams are refused until it is told; or one that was not heard
/// for long, and forgotten.
struct StaleSender {
  std::uint64_t sender = 0;
  std::uint64_t epoch = 0;   ///< the datagram's
  std::uint64_t newest = 0;  ///< of this sender, or of all that were forgotten
};
/// One sentence that says so, and what to do.
[[nodiscard]] std::string to_string(const StaleSender& stale);

/// Where encoded datagrams go: a socket, or a wire of the virtual-time network.
class DatagramSink {
 public:
  /// The bytes are valid during the call.
  virtual void send(std::span<const std::uint8_t> datagram) = 0;

 protected:
  ~DatagramSink() = default;
};

/// One side of the protocol without a transport: encodes, signs, authenticates, guards against replay, decodes. No
/// clock, no socket. Thread: one.
class Session {
 public:
  /// Throws std::invalid_argument for a configuration that cannot work.
  explicit Session(SessionConfig config);

  /// Sends reports in as many datagrams as they need (one without records when there are none), each with its own
  /// sequence number. Returns the sequence number of the last.
  std::uint64_t send_reports(std::span<const BearerReport> reports, Duration now, Duration period, bool poll,
                             DatagramSink& sink);
  std::uint64_t send_statuses(std::span<const BearerStatus> statuses, Duration now, Duration period, bool poll,
                              DatagramSink& sink);

  /// Judges a datagram that was received `at` and, when all of it is good, hands its header and then every record to
  /// the handler.
  Failure receive(std::span<const std::uint8_t> datagram, RecordHandler& handler, const ReceivedAt& at);
  /// The same; `header` becomes that of an accepted datagram.
  Failure receive(std::span<const std::uint8_t> datagram, RecordHandler& handler, const ReceivedAt& at, Header& header);

  /// So many numbers are passed over, as if datagrams had been lost: where numbers were given to reports that could not
  /// be sent.
  void skip(std::uint64_t datagrams) { sequence_ += datagrams; }
  /// The sequence number of the datagram sent next. Reports carry theirs so that an allowance can be told from the one
  /// before it.
  [[nodiscard]] std::uint64_t next_sequence() const { return sequence_ + 1; }
  [[nodiscard]] const FailureCounters& counters() const { return counters_; }
  /// The last datagram that was refused with stale_epoch.
  [[nodiscard]] const std::optional<StaleSender>& stale() const { return stale_; }
  [[nodiscard]] const SessionConfig& config() const { return config_; }

 private:
  [[nodiscard]] std::span<const std::uint8_t> extension() const;

  /// The records of the datagram that is being judged; of one kind, its message's.
  struct Gathered final : RecordHandler {
    std::vector<BearerReport> reports;
    std::vector<BearerStatus> statuses;
    void on_report(const Header&, const BearerReport& report) override { reports.push_back(report); }
    void on_status(const Header&, const BearerStatus& status) override { statuses.push_back(status); }
  };

  template <typename Record>
  std::uint64_t send(MessageType type, std::span<const Record> records, Duration now, Duration period, bool poll,
                     DatagramSink& sink);
  void seal(DatagramWriter& writer, Header& header, DatagramSink& sink);
  [[nodiscard]] Failure authenticate(std::span<const std::uint8_t> datagram);
  [[nodiscard]] Failure judge(std::span<const std::uint8_t> datagram, RecordHandler& handler, const ReceivedAt& at,
                              Header& header);

  SessionConfig config_;
  Authenticator authenticator_;
  ReplayGuard replay_;
  std::vector<std::uint8_t> buffer_;
  Gathered gathered_;
  std::uint64_t sequence_ = 0;
  FailureCounters counters_{};
  std::optional<StaleSender> stale_;
};

}  // namespace sluice::control::feedback
