#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator::link {

/// Treatment of blocks that the layers below have lost.
enum class RlcMode : std::uint8_t {
  unacknowledged,  ///< unacknowledged mode: no retransmission, so packets with a missing byte are lost
  acknowledged     ///< lost ranges are retransmitted
};

/// Parameters of RLC.
struct RlcParameters {
  RlcMode mode = RlcMode::acknowledged;
  /// Time from the detection of a loss to the earliest retransmission.
  Duration status_delay = std::chrono::milliseconds(50);
  /// Largest number of retransmissions of a range in acknowledged mode; the range is then given up (MaxDAT).
  std::uint32_t retransmissions = 10;
};

/// A range [from, to) of the stream of bytes that are sent to a UE over the air, with padding of radio frames.
struct RlcRange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  [[nodiscard]] Bytes size() const { return Bytes(to - from); }
  [[nodiscard]] bool empty() const { return from == to; }
  bool operator==(const RlcRange&) const = default;
};

/// Records which ranges of a byte stream are missing, when they may be retransmitted, and which packets will never be
/// complete (RLC of TS 25.322). Positions count bytes (with padding of radio frames) in the order in which they first
/// left the radio queue. Pure: no packets, time is an argument.
class Rlc {
 public:
  explicit Rlc(const RlcParameters& parameters) : parameters_(parameters) {}

  /// Records that the bytes in `range` were received. Blocks must be reported in the order of transmission sequence
  /// numbers.
  void received(const RlcRange& range);
  /// Records that the block with the bytes in `range` is lost, which is detected at `now`. Blocks must be reported in
  /// the order of transmission sequence numbers.
  void lost(const RlcRange& range, Instant now);

  /// Gives up all missing ranges, because the link is abandoned.
  void give_up();
  /// Returns the bytes that may be retransmitted at `now`.
  [[nodiscard]] Bytes waiting(Instant now) const;
  /// Returns when the next range may be retransmitted, possibly in the past; `never` if none is missing.
  [[nodiscard]] Instant next_ready() const;
  /// Returns up to `most` bytes from the start of the first range that may be retransmitted at `now`. Until their loss
  /// is reported, the bytes count as in flight and are not returned again. The result is empty if there is no such
  /// range.
  RlcRange take(Bytes most, Instant now);

  /// Returns the position below which every byte is received or given up. Packets that end at this position or before
  /// it are delivered or lost.
  [[nodiscard]] std::uint64_t completed_until() const {
    return missing_.empty() ? highest_ : missing_.front().range.from;
  }
  /// True if a byte of the packet in `range` was given up. Call it in stream order, because data below range.from is
  /// discarded.
  [[nodiscard]] bool damaged(const RlcRange& range);

 private:
  /// A missing range and its retransmission state.
  struct Missing {
    RlcRange range;
    Instant ready = never;       ///< time of the earliest retransmission; `never` while one is in flight
    std::uint32_t attempts = 0;  ///< retransmissions so far
  };
  /// Removes the bytes of `range` from the missing ranges. Returns the largest number of retransmissions among the
  /// removed parts.
  std::uint32_t cut(const RlcRange& range);
  /// Inserts a missing range into `missing_`, which is sorted by position.
  void insert(const Missing& missing);
  void give_up(const RlcRange& range);

  RlcParameters parameters_;
  std::uint64_t highest_ = 0;      ///< position after the highest byte reported so far
  std::vector<Missing> missing_;   ///< missing ranges by position
  std::deque<RlcRange> given_up_;  ///< given-up ranges by position
};

}  // namespace sluice::emulator::link
