#pragma once

#include "proxy/opening/openings.hpp"
#include "proxy/shard/arrival.hpp"
#include "proxy/shard/forwarder.hpp"
#include "proxy/split/split_flows.hpp"

namespace sluice::proxy {

/// Segments of connections that change hands: of those that are being handed back, of those that were released and may
/// be split again, of those that pass end to end only until they can be split, and segments that cannot be split.
/// Thread: the shard's.
class Changeover {
 public:
  /// What it is given outlives it.
  Changeover(const ShardContext& shard, SplitFlows& flows, EndToEndFlows& end_to_end, Forwarder& forwarder,
             Openings& openings)
      : shard_(shard), flows_(flows), end_to_end_(end_to_end), forwarder_(forwarder), openings_(openings) {}

  /// Of a connection that is being handed back.
  [[gnu::cold, gnu::noinline]] void pass_during_handback(Arrival& arrival, FlowId id);
  /// Of a connection that was released: passes, or is the first one of it that is split again. False when it is of
  /// none.
  [[nodiscard]] bool track_released(Arrival& arrival) {
    return flows_.handback().released().size() != 0 && track_if_released(arrival);
  }
  /// Of a connection that passes end to end although its policy splits: it is split when both directions are quiet.
  [[gnu::cold, gnu::noinline]] void pass_until_split(Arrival& arrival, EndToEndId id);
  /// A part of a segment, or one behind IP options, that cannot be split; it is still to pass. Where its numbers are
  /// those of a connection that is split, that one is handed back.
  [[gnu::cold, gnu::noinline]] void on_unsplittable(const Arrival& arrival);

 private:
  [[nodiscard, gnu::cold, gnu::noinline]] bool track_if_released(Arrival& arrival);
  [[nodiscard]] bool is_sound(TrackedConnection& connection, const Arrival& arrival) const;
  [[nodiscard]] bool split_again(const TrackedConnection& connection, PolicyIndex policy, const Arrival& arrival);
  [[nodiscard]] bool split_released(std::uint32_t released, const Arrival& arrival);

  const ShardContext shard_;
  SplitFlows& flows_;
  EndToEndFlows& end_to_end_;
  Forwarder& forwarder_;
  Openings& openings_;
};

}  // namespace sluice::proxy
