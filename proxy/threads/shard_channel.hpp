#pragma once

#include <array>
#include <atomic>
#include <boost/lockfree/policies.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>
#include <vector>

#include "control/feedback/report.hpp"
#include "dataplane/packet/link_limit.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/capture/tap_slot.hpp"
#include "proxy/flows/census.hpp"
#include "proxy/flows/times.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/shard/counters.hpp"
#include "proxy/shard/histogram.hpp"
#include "proxy/shard/info.hpp"
#include "proxy/shard/report_arrival.hpp"
#include "proxy/threads/triple_buffer.hpp"
#include "proxy/trace/trace_slot.hpp"

namespace sluice::proxy {

/// Longest list of flows or bearers that a shard describes at once.
inline constexpr std::uint16_t most_details = 1000;

/// What an observer wants to see in the next snapshots besides counters. id 0: nothing. Aligned so that every compiler
/// reads and writes it as one word.
struct alignas(8) DetailRequest {
  std::uint32_t id = 0;
  std::uint16_t flows = 0;    ///< how many at most, ≤ most_details
  std::uint16_t bearers = 0;  ///< how many at most, ≤ most_details
};
static_assert(std::atomic<DetailRequest>::is_always_lock_free);

/// What an operator wants done. id 0: nothing.
struct ShardOrder {
  enum class Kind : std::uint8_t {
    look,            ///< only count what is still split, and why
    release_ue,      ///< hand one UE's connections back
    release_all,     ///< … all connections
    drain,           ///< … and split no more
    resume,          ///< split again
    abort_all,       ///< … and what is still split is reset
    split_again_ue,  ///< split those of one UE again that were handed back
    split_again_all  ///< … of all
  };
  std::uint32_t id = 0;
  Kind kind = Kind::look;
  IpAddress ue;
};

/// A shard as it was at one instant.
struct ShardSnapshot {
  Instant at{};
  Counters counters;
  GroupStatistics groups{};
  std::uint32_t flow_count = 0;
  std::uint32_t bearer_count = 0;
  std::uint32_t released_count = 0;
  std::uint64_t sleeps = 0;            ///< rests of the poll thread
  std::uint64_t statuses_lost = 0;     ///< for want of room in the queue to the control thread
  std::uint32_t end_to_end_count = 0;  ///< of flow_count
  CensusCounts census;                 ///< by states, as of a few snapshots ago where there are many
  Times times;                         ///< see GroupTimes
  Histogram exposure;                  ///< bytes acknowledged and not delivered, see Shard::sample_exposure()
  std::uint32_t order = 0;             ///< id of the last order carried out; `staying` is as it was then
  bool draining = false;
  StayingFlows staying;
  std::uint32_t details = 0;  ///< id of the request that the lists answer; 0 = they are empty
  std::vector<FlowInfo> flows;
  std::vector<BearerInfo> bearers;
};

/// Where one shard's poll thread and the control thread meet: single-producer rings, a published snapshot and flags.
/// Neither side ever waits for the other.
struct ShardChannel {
  ShardChannel() {
    snapshots.for_each_slot([](ShardSnapshot& slot) {
      slot.flows.reserve(most_details);
      slot.bearers.reserve(most_details);
    });
  }

  /// Control thread → shard.
  boost::lockfree::spsc_queue<ReportArrival, boost::lockfree::capacity<8192>> reports;
  /// Control thread → shard. One that finds no room is followed by others.
  boost::lockfree::spsc_queue<SenderWord, boost::lockfree::capacity<256>> words;
  /// Shard → control thread.
  boost::lockfree::spsc_queue<control::feedback::BearerStatus, boost::lockfree::capacity<8192>> statuses;
  /// Control thread → shard.
  boost::lockfree::spsc_queue<ShardOrder, boost::lockfree::capacity<16>> orders;
  TripleBuffer<ShardSnapshot> snapshots;
  std::atomic<DetailRequest> details_wanted{DetailRequest{}};
  /// What the shard is to put in force; null: what it began with. Outlives the shard.
  std::atomic<const Policies*> policies{nullptr};
  /// What its ports carry, by Side.
  std::atomic<std::array<packet::LinkLimit, 2>> ports{};
  /// Who looks at its frames.
  capture::TapSlot taps;
  /// Whom its laws tell what they decide.
  tracing::TraceSlot traces;
  std::atomic<bool> all_statuses_wanted{false};
  std::atomic<bool> stop{false};
};

}  // namespace sluice::proxy
