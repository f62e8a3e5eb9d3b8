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

/// Request to a shard to include lists of flows or bearers in its next snapshot. Id 0 means that nothing is requested.
/// The alignment lets every compiler read and write the struct as one word.
struct alignas(8) DetailRequest {
  std::uint32_t id = 0;
  std::uint16_t flows = 0;    ///< maximum number of flows in the list, ≤ max_details
  std::uint16_t bearers = 0;  ///< maximum number of bearers in the list, ≤ max_details
};
static_assert(std::atomic<DetailRequest>::is_always_lock_free);

/// Command of an operator to a shard. Id 0 means that there is no command.
struct ShardCommand {
  enum class Kind : std::uint8_t {
    /// counts the connections that are still split, by what prevents their handback to their hosts
    look,
    release_ue,      ///< hands the split connections of one UE back to their hosts
    release_all,     ///< hands all split connections back to their hosts
    drain,           ///< hands all split connections back to their hosts and splits no new ones
    resume,          ///< ends a drain (the handback of all connections to their hosts): splits new connections again
    abort_all,       ///< ends every split connection at once; resets those for which the proxy holds data
    split_again_ue,  ///< splits again those connections of one UE that are no longer split
    split_again_all  ///< splits again all connections that are no longer split
  };
  std::uint32_t id = 0;
  Kind kind = Kind::look;
  IpAddress ue;
};

/// State of a shard at one time. The shard publishes it for the control thread.
struct ShardSnapshot {
  Instant at{};
  Counters counters;
  GroupStatistics groups{};
  std::uint32_t flow_count = 0;
  std::uint32_t bearer_count = 0;
  std::uint32_t released_count = 0;
  std::uint64_t sleeps = 0;            ///< number of times that the poll thread has slept
  std::uint64_t statuses_lost = 0;     ///< status messages lost because the queue to the control thread was full
  std::uint32_t end_to_end_count = 0;  ///< number of end-to-end connections; flow_count includes them
  /// Numbers of flows and bearers by state. Counting many flows takes several snapshots, so the numbers can be older
  /// than this snapshot.
  FlowStateCounts flow_states;
  Times times;  ///< duration histograms of UEs that rate controllers may limit and of the control group, see GroupTimes
  /// histogram of the bytes acknowledged to one host but not by the other, see Shard::sample_exposure()
  Histogram exposure;
  /// id of the last completed command; a command is complete once the shard has also counted its split connections
  std::uint32_t command = 0;
  bool order_found = false;  ///< true if the shard had a connection of the UE that the last command names
  bool draining = false;
  StayingFlows staying;
  /// Id of the DetailRequest for which this snapshot contains lists of flows and bearers; 0 if the lists are empty.
  std::uint32_t details = 0;
  std::vector<FlowInfo> flows;
  std::vector<BearerInfo> bearers;
  /// flows with the most bytes among those that are forwarded without control, at most max_passing
  std::vector<PassingInfo> passing;
};

/// Queue of records of ended connections from the shard to the control thread, for their export.
class ConnectionRing final : public ConnectionSink {
 public:
  /// Adds a record, or counts it as lost if the queue is full. Thread: the shard's.
  void on_end(const ConnectionRecord& record) override {
    if (!ring_.push(record)) lost_.fetch_add(1, std::memory_order_relaxed);
  }
  /// Takes the oldest record out of the queue. Returns false if the queue is empty. Thread: the control thread.
  [[nodiscard]] bool pop(ConnectionRecord& record) { return ring_.pop(record); }
  /// Returns the number of records that were lost because the queue was full.
  [[nodiscard]] std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  boost::lockfree::spsc_queue<ConnectionRecord, boost::lockfree::capacity<4096>> ring_;
  std::atomic<std::uint64_t> lost_{0};
};

/// Data exchange between a shard's poll thread and the control thread: single-producer rings, a published snapshot and
/// flags. Neither thread waits for the other.
struct ShardChannel {
  ShardChannel() {
    snapshots.for_each_slot([](ShardSnapshot& slot) {
      slot.flows.reserve(max_details);
      slot.bearers.reserve(max_details);
      slot.passing.reserve(max_passing);
    });
  }

  /// Queue of Node-B reports from the control thread to the shard.
  boost::lockfree::spsc_queue<ReportArrival, boost::lockfree::capacity<8192>> reports;
  /// Queue of omission notices, by which Node-Bs state that they left out unchanged UEs, from the control thread to the
  /// shard. A notice is lost if the queue is full; a later notice then replaces it.
  boost::lockfree::spsc_queue<OmissionNotice, boost::lockfree::capacity<256>> omissions;
  /// Queue of bearer statuses from the shard to the control thread.
  boost::lockfree::spsc_queue<control::feedback::BearerStatus, boost::lockfree::capacity<8192>> statuses;
  /// Queue of operator commands from the control thread to the shard.
  boost::lockfree::spsc_queue<ShardCommand, boost::lockfree::capacity<16>> commands;
  /// Queue of records of ended connections; null unless they are exported. Created before the shard's thread.
  std::unique_ptr<ConnectionRing> records;
  /// Newest snapshot of the shard, which the control thread reads.
  TripleBuffer<ShardSnapshot> snapshots;
  /// Request for lists of flows or bearers in the next snapshot. The control thread sets it.
  std::atomic<DetailRequest> requested_details{DetailRequest{}};
  /// Policies that the shard must activate, which outlive the shard. Null until policies are changed for the first
  /// time.
  std::atomic<const Policies*> policies{nullptr};
  /// Maximum frame lengths of the ports, indexed by Side. The control thread sets them, and the shard applies them.
  std::atomic<std::array<packet::LinkLimit, 2>> ports{};
  /// Slot in which the control thread puts the captures that record the shard's frames.
  capture::TapSlot taps;
  /// Slot in which the control thread puts the decision log, which records the inputs and decisions of the shard's
  /// controllers.
  tracing::TraceSlot traces;
  /// True to request the status of every bearer, including bearers whose status has not changed.
  std::atomic<bool> all_statuses_requested{false};
  std::atomic<bool> stop{false};
};

}  // namespace sluice::proxy
