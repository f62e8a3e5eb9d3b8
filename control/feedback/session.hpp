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
  /// Bytes of UDP payload, 256 … largest_datagram; see Session::set_limit().
  std::size_t max_datagram = default_max_datagram;
  Abilities takes;                 ///< what is said that this side takes; it takes all of it anyway
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
  /// sequence number. Returns the sequence number of the last. `refresh`: UEs are left out of which nothing has
  /// changed, and each is reported so often at least; 0 = all are there.
  std::uint64_t send_reports(std::span<const BearerReport> reports, Duration now, Duration period, bool poll,
                             DatagramSink& sink, Duration refresh = {});
  std::uint64_t send_statuses(std::span<const BearerStatus> statuses, Duration now, Duration period, bool poll,
                              DatagramSink& sink);

  /// Judges a datagram that was received `at` and, when all of it is good, hands its header and then every record to
  /// the handler.
  Failure receive(std::span<const std::uint8_t> datagram, RecordHandler& handler, const ReceivedAt& at);
  /// The same; `header` becomes that of an accepted datagram.
  Failure receive(std::span<const std::uint8_t> datagram, RecordHandler& handler, const ReceivedAt& at, Header& header);

  /// The longest datagram that is sent from now on: no longer than the configuration's. At first that, but not more
  /// than default_max_datagram: larger ones are for peers that take them.
  void set_limit(std::size_t octets) { limit_ = std::min(octets, config_.max_datagram); }
  [[nodiscard]] std::size_t limit() const { return limit_; }
  /// The longest that peers take now, within the configuration.
  [[nodiscard]] std::size_t limit_of_peers(Instant now) const {
    return peers_take(now).large ? config_.max_datagram : std::min(config_.max_datagram, default_max_datagram);
  }
  /// What a datagram of so many octets has room for in records.
  [[nodiscard]] std::size_t record_room(std::size_t octets) const {
    return octets - header_size - extension().size() - tag_size;
  }
  /// What all senders have said they take that were heard in the last two seconds; nothing where none was.
  [[nodiscard]] Abilities peers_take(Instant now) const;

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
    Duration refresh{};
    void on_omission(Duration shortest) override {
      refresh = refresh == Duration::zero() ? shortest : std::min(refresh, shortest);
    }
    void on_report(const Header&, const BearerReport& report) override { reports.push_back(report); }
    void on_status(const Header&, const BearerStatus& status) override { statuses.push_back(status); }
  };

  /// When an ability was last claimed, and when a message came without it.
  struct Claimed {
    std::optional<Instant> by;
    std::optional<Instant> not_by;
    void note(bool claimed, Instant now) { (claimed ? by : not_by) = now; }
    [[nodiscard]] bool holds(Instant now) const {
      const auto late = [now](const std::optional<Instant>& at) { return !at || now - *at >= ReplayGuard::speaking; };
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
