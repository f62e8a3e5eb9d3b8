#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/flow/flow_key.hpp"
#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/base/info.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"

namespace sluice::proxy {

/// Finds the flows that cause most of the bytes forwarded without control. Bytes are counted in steps: one frame in
/// each step is sampled and stands for all bytes of the step. Other frames cost only a subtraction. A step is 1/64 of
/// all bytes so far, between 2 KiB and 64 KiB.
///
/// A fixed table holds the largest flows (Space-Saving: Metwally, Agrawal, El Abbadi 2005). A hash of the flow selects
/// a set of eight entries. A new flow replaces the smallest flow of its set and inherits that flow's bytes. Its own
/// count may therefore be too high by these bytes. A flow with more than an eighth of its set's sampled bytes is always
/// in the table. Thread: the shard's.
class PassingTraffic {
 public:
  static constexpr std::size_t capacity = max_passing;
  /// Time after which the table entry of a flow is free if none of the flow's frames was sampled.
  static constexpr Duration keep = std::chrono::minutes(1);

  /// Counts a frame that is forwarded without control for `reason`. Samples the frame if it contains the byte at which
  /// the next sample is due; there is one such byte in each step.
  void count(const RxPacket& rx, Counter reason, std::uint16_t bytes) {
    if (count_bytes(bytes)) [[unlikely]]
      sample(rx, reason);
  }
  /// True if a frame of this length reaches the byte at which the next sample is due, so that count() would sample this
  /// frame.
  [[nodiscard]] bool samples(std::uint16_t bytes) const { return until_sample_ < bytes; }
  /// Counts a frame like count(), without a sample. Requires !samples(bytes).
  void skip(std::uint16_t bytes) { until_sample_ -= bytes; }
  /// Counts the bytes of a frame. Returns true if the frame is a sample; sample() must then be called.
  [[nodiscard]] bool count_bytes(std::uint16_t bytes) {
    until_sample_ -= bytes;
    return until_sample_ < 0;
  }
  /// Adds the frame that count_bytes() has selected to its flow. `reason` is the counter of the reason why the frame is
  /// forwarded without control.
  [[gnu::cold, gnu::noinline]] void sample(const RxPacket& rx, Counter reason);
  /// Appends the flows of which a frame was sampled in the last minute (PassingTraffic::keep) before `now`, in no
  /// particular order.
  void describe(std::vector<PassingInfo>& out, Instant now) const;

 private:
  static constexpr std::int64_t min_step = 2048;
  static constexpr std::int64_t max_step = 64 * 1024;
  static constexpr std::size_t set_size = 8;

  /// Entry of one flow in the table of the largest flows; free if it has no bytes.
  struct Entry {
    flow::FlowKey key;
    std::uint64_t bytes = 0;  ///< sampled bytes, including those inherited from the flow that used this entry before
    /// part of the sampled bytes that was inherited from the flow that used this entry before
    std::uint64_t inherited = 0;
    Instant first{};            ///< time of the flow's first sampled frame
    Instant last{};             ///< time of the flow's newest sampled frame
    Counter reason{};           ///< reason why the newest sampled frame was forwarded without control
    std::uint8_t protocol = 0;  ///< number of the IP protocol
  };

  /// Returns the entry of the flow in its set of eight, or else the entry that it replaces: a free one, else that with
  /// the fewest bytes.
  [[nodiscard]] Entry& entry_for(const flow::FlowKey& key, std::uint8_t protocol, Instant now);

  std::int64_t until_sample_ = min_step;  ///< number of bytes until the next frame is sampled
  std::int64_t step_ = min_step;          ///< number of bytes for which each sample stands
  /// random distance in bytes from the start of the current step (`step_` bytes) to its sample
  std::int64_t offset_ = 0;
  /// State of the linear congruential generator that selects the distances in `offset_`.
  std::uint64_t phase_ = 0;
  std::uint64_t sampled_ = 0;  ///< bytes of all samples
  std::array<std::array<Entry, set_size>, capacity / set_size> sets_{};
};

}  // namespace sluice::proxy
