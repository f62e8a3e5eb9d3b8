#pragma once

#include <array>
#include <atomic>
#include <boost/lockfree/policies.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "control/feedback/report.hpp"
#include "dataplane/packet/link_limit.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/daemon/threads/triple_buffer.hpp"
#include "proxy/engine/base/counters.hpp"
#include "proxy/engine/base/histogram.hpp"
#include "proxy/engine/base/info.hpp"
#include "proxy/engine/base/report_arrival.hpp"
#include "proxy/engine/base/times.hpp"
#include "proxy/engine/flow_table/connection_records.hpp"
#include "proxy/engine/flow_table/flow_stats.hpp"
#include "proxy/engine/policy/policy.hpp"
#include "proxy/ops/capture/tap_slot.hpp"
#include "proxy/ops/decision_log/trace_slot.hpp"

namespace sluice::proxy {

/// Maximum number of flows or bearers in one snapshot.
inline constexpr std::uint16_t max_details = 1000;

/// Request for lists of flows or bearers in the shard's next snapshot. An id of 0 requests none. Aligned so that every
/// compiler reads and writes it as one word.
struct alignas(8) DetailRequest {
  std::uint32_t id = 0;
  std::uint16_t flows = 0;    ///< maximum number of flows in the list, ≤ max_details
  std::uint16_t bearers = 0;  ///< maximum number of bearers in the list, ≤ max_details
};
static_assert(std::atomic<DetailRequest>::is_always_lock_free);

/// Command of an operator to a shard. An id of 0 means none.
struct ShardCommand {
  enum class Kind : std::uint8_t {
    /// Counts the connections that are still split, and the reasons why each cannot be handed back to its hosts yet.
    look,
    release_ue,      ///< hands the split connections of one UE back to their hosts
    release_all,     ///< hands all split connections back to their hosts
    drain,           ///< hands all split connections back to their hosts and splits no new ones
    resume,          ///< ends a drain: splits new connections again
    abort_all,       ///< ends every split connection at once; those that hold data are reset
    split_again_ue,  ///< splits those connections of one UE again that are no longer split
    split_again_all  ///< splits all connections again that are no longer split
  };
  std::uint32_t id = 0;
  Kind kind = Kind::look;
  IpAddress ue;
};

/// State of a shard at one time, which the control thread reads.
struct ShardSnapshot {
  Instant at{};
  Counters counters;
  GroupStatistics groups{};
  std::uint32_t flow_count = 0;
  std::uint32_t bearer_count = 0;
  std::uint32_t released_count = 0;
  std::uint64_t sleeps = 0;            ///< number of times that the poll thread has slept
  std::uint64_t statuses_lost = 0;     ///< status messages lost because the queue to the control thread was full
  std::uint32_t end_to_end_count = 0;  ///< number of end-to-end connections, which flow_count contains
  FlowStateCounts flow_states;         ///< numbers of flows and bearers by state; a few snapshots old if there are many
  Times times;                         ///< duration histograms of both groups of UEs, see GroupTimes
  Histogram exposure;         ///< histogram of acknowledged and undelivered bytes, see Shard::sample_exposure()
  std::uint32_t command = 0;  ///< id of the last completed command; `staying` was counted when it was completed
  bool order_found = false;   ///< true if the shard had a connection of the UE that the last command named
  bool draining = false;
  StayingFlows staying;
  std::uint32_t details = 0;  ///< id of the request that the lists of flows and bearers answer; 0 if they are empty
  std::vector<FlowInfo> flows;
  std::vector<BearerInfo> bearers;
  std::vector<PassingInfo> passing;  ///< largest flows that are forwarded without control
};

/// Queue of records of ended connections from the shard to the control thread, for their export.
class ConnectionRing final : public ConnectionSink {
 public:
  /// Adds a record, or counts it as lost if the queue is full. Thread: the shard's.
  void on_end(const ConnectionRecord& record) override {
    if (!ring_.push(record)) lost_.fetch_add(1, std::memory_order_relaxed);
  }
  /// Takes the oldest record. Returns false if there is none. Thread: the control thread.
  [[nodiscard]] bool pop(ConnectionRecord& record) { return ring_.pop(record); }
  /// Returns the number of records that did not fit the queue.
  [[nodiscard]] std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  boost::lockfree::spsc_queue<ConnectionRecord, boost::lockfree::capacity<4096>> ring_;
  std::atomic<std::uint64_t> lost_{0};
};

/// Connection between one shard's poll thread and the control thread: single-producer rings, a published snapshot and
/// flags. Neither thread waits for the other.
struct ShardChannel {
  ShardChannel() {
    snapshots.for_each_slot([](ShardSnapshot& slot) {
      slot.flows.reserve(max_details);
      slot.bearers.reserve(max_details);
      slot.passing.reserve(max_passing);
    });
  }

  /// Queue of reports from the control thread to the shard.
  boost::lockfree::spsc_queue<ReportArrival, boost::lockfree::capacity<8192>> reports;
  /// Queue of omission notices from the control thread to the shard. If the queue is full, the notice is lost; later
  /// notices replace it.
  boost::lockfree::spsc_queue<OmissionNotice, boost::lockfree::capacity<256>> omissions;
  /// Queue of bearer statuses from the shard to the control thread.
  boost::lockfree::spsc_queue<control::feedback::BearerStatus, boost::lockfree::capacity<8192>> statuses;
  /// Queue of operator commands from the control thread to the shard.
  boost::lockfree::spsc_queue<ShardCommand, boost::lockfree::capacity<16>> commands;
  /// Queue of records of ended connections; null unless they are exported. Created before the shard's thread.
  std::unique_ptr<ConnectionRing> records;
  /// Newest snapshot of the shard for the control thread.
  TripleBuffer<ShardSnapshot> snapshots;
  /// Lists that the control thread requests in the next snapshot.
  std::atomic<DetailRequest> details_wanted{DetailRequest{}};
  /// Policies that the shard activates; null until the first change. They outlive the shard.
  std::atomic<const Policies*> policies{nullptr};
  /// Maximum frame lengths of the ports, indexed by Side, which the shard adopts.
  std::atomic<std::array<packet::LinkLimit, 2>> ports{};
  /// Slot with the captures that observe the shard's frames.
  capture::TapSlot taps;
  /// Slot with the decision log of the shard's controllers.
  tracing::TraceSlot traces;
  /// Set to request the status of every bearer, including unchanged ones.
  std::atomic<bool> all_statuses_wanted{false};
  std::atomic<bool> stop{false};
};

}  // namespace sluice::proxy
