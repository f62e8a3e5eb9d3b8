#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator::link {

/// What RLC does about blocks that the layers below lost.
enum class RlcMode : std::uint8_t {
  unacknowledged,  ///< nothing: packets that miss a byte are lost
  acknowledged     ///< sends it again
};

struct RlcParameters {
  RlcMode mode = RlcMode::acknowledged;
  Duration status_delay = std::chrono::milliseconds(50);  ///< from noticing a loss to being able to send it again
  std::uint32_t retransmissions = 10;  ///< of one stretch, acknowledged mode: after that it is given up (MaxDAT)
};

/// A stretch of the stream of bytes on the air that a UE is sent: [from, to).
struct RlcRange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  [[nodiscard]] Bytes size() const { return Bytes(to - from); }
  [[nodiscard]] bool empty() const { return from == to; }
  bool operator==(const RlcRange&) const = default;
};

/// The book-keeping of RLC (3GPP TS 25.322) over a stream of bytes: which stretches are missing, when they may be sent
/// again, up to where everything is settled, and which packets will never be whole. Positions count the bytes on the
/// air in the order in which they left the radio queue for the first time. Pure: no packets, time is an argument.
class Rlc {
 public:
  explicit Rlc(const RlcParameters& parameters) : parameters_(parameters) {}

  /// A block was received; told in the order of transmission sequence numbers.
  void received(const RlcRange& range);
  /// A block was lost, noticed now; in the same order.
  void lost(const RlcRange& range, Instant now);

  /// Gives up all that is missing.
  void give_up();
  /// Bytes that may be sent again at `now`.
  [[nodiscard]] Bytes waiting(Instant now) const;
  /// When the next stretch may be sent again, however long ago; `never` when none waits.
  [[nodiscard]] Instant next_ready() const;
  /// Takes up to `most` bytes of the first stretch that may be sent again at `now`; empty when there is none.
  RlcRange take(Bytes most, Instant now);

  /// Everything below was received or given up: packets that end here or before can be settled.
  [[nodiscard]] std::uint64_t settled() const { return missing_.empty() ? highest_ : missing_.front().range.from; }
  /// Whether a byte of a settled packet was given up. Ask in order: what is below range.to is forgotten.
  [[nodiscard]] bool damaged(const RlcRange& range);

 private:
  struct Missing {
    RlcRange range;
    Instant ready = never;       ///< never: it is on its way
    std::uint32_t attempts = 0;  ///< retransmissions so far
  };
  /// Cuts [range) out of what is missing and returns how often it had been sent again.
  std::uint32_t cut(const RlcRange& range);
  void insert(const Missing& missing);
  void give_up(const RlcRange& range);

  RlcParameters parameters_;
  std::uint64_t highest_ = 0;      ///< position behind all that was decided on once
  std::vector<Missing> missing_;   ///< by position; short
  std::deque<RlcRange> given_up_;  ///< by position
};

}  // namespace sluice::emulator::link
