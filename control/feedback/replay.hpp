#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "control/feedback/failure.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control::feedback {

/// Window of the newest sequence numbers received in one sender's epoch (anti-replay window of RFC 4303 section 3.4.3).
class ReplayWindow {
 public:
  static constexpr std::uint64_t size = 256;

  /// Records a received sequence number. Returns false if it was recorded before, is older than the window, or is zero,
  /// which is not a sequence number.
  bool take(std::uint64_t sequence);
  [[nodiscard]] std::uint64_t newest() const { return newest_; }

 private:
  static constexpr std::size_t words = size / 64;
  std::uint64_t newest_ = 0;
  std::array<std::uint64_t, words> seen_{};  ///< bit (sequence number mod size) is set if that number was received
};

/// Time of a datagram's reception on two clocks.
struct ReceivedAt {
  Instant now{};  ///< time of reception on the receiver's monotonic clock

  /// nanoseconds since 1970 on the receiver's wall clock; a valid epoch is at most slightly ahead of it
  std::uint64_t wall_clock_ns = 0;
};

/// Detects replayed datagrams. Keeps the newest epoch of every sender and the sequence numbers received in that epoch.
/// Only authenticated datagrams may be passed to it.
///
/// No datagram is accepted twice, so an attacker gains nothing by recording datagrams. But a holder of the key may
/// claim any epoch, and may act as any number of senders. Two rules ensure that it cannot exclude a legitimate sender
/// this way.
///
/// First rule: a newer epoch of a sender replaces the earlier one, and datagrams of the earlier epoch are refused from
/// then on. A forged epoch of 2^64 − 1 would thus exclude the sender forever. A legitimate epoch is the sender's clock
/// at its start, or its last epoch plus one. So it is not far ahead of the local clock. An epoch ahead by more than
/// `lead` (one day) is therefore kept separately. It replaces no other epoch, and is accepted only while the sender
/// uses no other. If the local clock is wrong and all epochs are ahead, newer ones replace earlier ones among them. An
/// epoch that is no longer ahead keeps its received sequence numbers.
///
/// Second rule: if there are more senders than `max_senders`, the sender with the longest time since its last datagram
/// is discarded. That time must be at least `min_idle_time`. From then on an unknown sender must have a greater epoch
/// than any discarded sender had. Recorded datagrams of the discarded senders have no such epoch.
class ReplayGuard {
 public:
  /// Largest time by which the epoch of a legitimate sender may be ahead of the local clock. Clocks of machines differ,
  /// and a machine's clock may wrongly be set to local time instead of UTC.
  static constexpr Duration lead = std::chrono::hours(24);
  /// A sender is active if a datagram was received from it within this time.
  static constexpr Duration active_for = std::chrono::seconds(2);
  /// Minimum time without a datagram after which a sender may be discarded.
  static constexpr Duration min_idle_time = std::chrono::minutes(1);

  explicit ReplayGuard(std::size_t max_senders) : max_senders_(max_senders) {}

  /// Returns Failure::none if this datagram is new, and otherwise the reason for refusing it: stale_epoch, epoch_ahead,
  /// replayed, too_many_senders or malformed_header (epoch or sequence zero). A datagram of a new sender may cost a
  /// scan of all known senders.
  [[nodiscard]] Failure take(std::uint64_t sender, std::uint64_t epoch, std::uint64_t sequence, const ReceivedAt& at);
  /// Returns the epoch that makes `epoch` of this sender stale: a newer epoch of the sender, or the greatest epoch of
  /// the discarded senders.
  [[nodiscard]] std::uint64_t newer_epoch(std::uint64_t sender, std::uint64_t epoch) const;
  [[nodiscard]] std::size_t senders() const { return senders_.size(); }

 private:
  /// Newest epoch of a sender, with the sequence numbers received in it. Two objects exist per sender: one for epochs
  /// that are ahead of the local clock by more than `lead`, and one for all others.
  struct Newest {
    std::uint64_t epoch = 0;
    ReplayWindow window;
    Instant last_rx{};
    [[nodiscard]] Failure take(std::uint64_t of_epoch, std::uint64_t sequence, Instant now);
  };
  struct Sender {
    Newest usual;
    Newest ahead;
    [[nodiscard]] Instant last_rx() const { return std::max(usual.last_rx, ahead.last_rx); }
  };
  using Senders = std::unordered_map<std::uint64_t, Sender>;

  [[nodiscard]] Failure take(Sender& known, std::uint64_t epoch, std::uint64_t sequence, const ReceivedAt& at) const;
  /// Discards the sender with the longest time since its last datagram. Returns false if that time is shorter than
  /// `min_idle_time` for each sender.
  bool make_room(Instant now);

  std::size_t max_senders_;
  Senders senders_;

  /// greatest epoch of the discarded senders, without epochs ahead of the local clock by more than `lead`
  std::uint64_t discarded_epoch_ = 0;
  std::uint64_t discarded_epoch_ahead_ = 0;
};

}  // namespace sluice::control::feedback
