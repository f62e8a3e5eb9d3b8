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

/// Which of the newest sequence numbers of one sender's epoch have been seen (the window of RFC 4303 section 3.4.3).
class ReplayWindow {
 public:
  static constexpr std::uint64_t size = 256;

  /// True, once, for each sequence number that is not older than the window. Zero is never a sequence number.
  bool take(std::uint64_t sequence);
  [[nodiscard]] std::uint64_t newest() const { return newest_; }

 private:
  static constexpr std::size_t words = size / 64;
  std::uint64_t newest_ = 0;
  std::array<std::uint64_t, words> seen_{};  ///< bit (sequence mod size)
};

/// When a datagram was received.
struct ReceivedAt {
  Instant now{};                    ///< this side's monotonic clock
  std::uint64_t wall_clock_ns = 0;  ///< since 1970: what a true epoch is hardly ahead of
};

/// The replay state of every sender that was heard, each with its newest epoch. Only authenticated datagrams may
/// reach it.
///
/// Nothing that it has taken is ever taken again, so a recording is worth nothing; yet no epoch and no number of
/// senders, which any holder of the key may claim, shuts a true sender out:
/// - A sender's newest epoch replaces the one before, whose datagrams are refused from then on. So an epoch of 2^64 − 1
///   would be the last. Epochs are the clock of a start, or one more than the last, so a true one is not far ahead of
///   the clock here. What is (by more than `lead`) is kept apart: it takes no other epoch's place, and is heard only
///   while the sender has been silent in any other. When the clock here is wrong and all are ahead, they are judged
///   among themselves as ever. An epoch that was ahead and no longer is keeps the numbers that were seen of it.
/// - Of more senders than there is room for, the one that was silent longest makes room when that was longer than
///   `forgettable`. From then on a sender that is not known must come with a greater epoch than any that was forgotten:
///   what was recorded of the forgotten ones has none.
class ReplayGuard {
 public:
  /// So far ahead of our clock an epoch may be that counts as any other: clocks of machines differ, and local time is
  /// taken for universal time.
  static constexpr Duration lead = std::chrono::hours(24);
  /// A sender that was heard so recently is speaking.
  static constexpr Duration speaking = std::chrono::seconds(2);
  /// A sender that was silent for so long may be forgotten.
  static constexpr Duration forgettable = std::chrono::minutes(1);

  explicit ReplayGuard(std::size_t max_senders) : max_senders_(max_senders) {}

  /// Failure::none when this datagram is new, else stale_epoch, epoch_ahead, replayed, too_many_senders or
  /// malformed_header (epoch or sequence zero). Room for a new sender may cost a walk over all that are known.
  [[nodiscard]] Failure take(std::uint64_t sender, std::uint64_t epoch, std::uint64_t sequence, const ReceivedAt& at);
  /// What a sender's epoch that was refused as stale is older than: another of its own, or one of the senders that were
  /// forgotten.
  [[nodiscard]] std::uint64_t newer_epoch(std::uint64_t sender, std::uint64_t epoch) const;
  [[nodiscard]] std::size_t senders() const { return senders_.size(); }

 private:
  /// The newest of a sender's epochs, of those that are ahead of our clock or of the others.
  struct Newest {
    std::uint64_t epoch = 0;
    ReplayWindow window;
    Instant heard{};
    [[nodiscard]] Failure take(std::uint64_t of_epoch, std::uint64_t sequence, Instant now);
  };
  struct Sender {
    Newest usual;
    Newest ahead;
    [[nodiscard]] Instant heard() const { return std::max(usual.heard, ahead.heard); }
  };
  using Senders = std::unordered_map<std::uint64_t, Sender>;

  [[nodiscard]] Failure take(Sender& known, std::uint64_t epoch, std::uint64_t sequence, const ReceivedAt& at) const;
  /// Forgets the sender that was silent longest; false when all have been heard of late.
  bool make_room(Instant now);

  std::size_t max_senders_;
  Senders senders_;
  std::uint64_t forgotten_usual_ = 0;  ///< the greatest epochs of senders that were forgotten
  std::uint64_t forgotten_ahead_ = 0;
};

}  // namespace sluice::control::feedback
