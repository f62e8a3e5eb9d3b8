#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <vector>

#include "control/feedback/report.hpp"
#include "control/smvs/allowance.hpp"
#include "control/smvs/in_flight.hpp"
#include "control/smvs/outstanding_grants.hpp"
#include "control/smvs/smvs.hpp"

namespace sluice::control::test {

/// Figure 8 of the paper without TCP: a source with `demand`, a wire of τp each way, a queue, and a link whose
/// capacity changes every millisecond. Steps last one millisecond; the arguments alone decide everything.
struct IdealLink {
  enum class Law : std::uint8_t { at_proxy, at_node_b };

  SmvsParameters parameters;
  Law law = Law::at_proxy;
  Bytes packet{1500};
  /// Bytes the link could carry in this millisecond.
  std::function<double(std::int64_t)> capacity;
  /// Bytes the source produces in this millisecond; greedy when unset.
  std::function<double(std::int64_t)> demand;
  double report_loss = 0;  ///< share of reports that never arrive
  double packet_loss = 0;  ///< share of packets lost between proxy and Node-B
  std::uint64_t seed = 1;

  struct Result {
    double utilisation = 0;
    double delay_p50_ms = 0;  ///< per packet, in the radio queue
    double delay_p95_ms = 0;
    double mean_queue = 0;
    double capacity_bps = 0;
    std::uint64_t delivered = 0;
    std::vector<double> queue;  ///< each millisecond
  };
  [[nodiscard]] Result run(std::int64_t milliseconds);

 private:
  struct Packet {
    std::int64_t arrival = 0;
    double left = 0;
  };
  template <typename What>
  struct Wire {
    std::deque<std::pair<std::int64_t, What>> in_transit;
    bool take(std::int64_t now, What& what) {
      if (in_transit.empty() || in_transit.front().first > now) return false;
      what = in_transit.front().second;
      in_transit.pop_front();
      return true;
    }
  };
  struct Report {
    SmvsObservation seen;
    std::uint64_t sequence = 0;
    Bytes allowance;
  };

  void serve(std::int64_t now);
  void arrive(std::int64_t now);
  void report(std::int64_t now);
  [[nodiscard]] bool apply(std::int64_t now, Smvs& smvs);
  void answer(std::int64_t now);
  void inject(std::int64_t now);
  [[nodiscard]] static Instant at(std::int64_t ms) { return Instant(std::chrono::milliseconds(ms + 1000)); }

  std::mt19937_64 random_;
  std::deque<Packet> queue_;
  std::vector<double> delays_;
  double queued_ = 0, arrived_ = 0, served_ = 0, offered_ = 0, backlog_ = 0;
  Allowance allowance_;
  std::int64_t delay_ = 0, step_ = 0;
  std::uint64_t sequence_ = 0, applied_ = 0;
  Wire<double> down_;
  Wire<Report> reports_;
  Wire<feedback::BearerStatus> statuses_;
  InFlight in_flight_{Duration::zero()};
  OutstandingGrants outstanding_{Duration::zero()};
  Smvs* node_b_law_ = nullptr;
};

inline IdealLink::Result IdealLink::run(std::int64_t milliseconds) {
  Smvs smvs(parameters);
  random_.seed(seed);
  delay_ = parameters.one_way_delay / std::chrono::milliseconds(1);
  step_ = parameters.step / std::chrono::milliseconds(1);
  in_flight_ = InFlight(2 * parameters.one_way_delay);
  outstanding_ = OutstandingGrants(parameters.one_way_delay);
  allowance_ = Allowance(packet);
  node_b_law_ = law == Law::at_node_b ? &smvs : nullptr;
  Result result;
  for (std::int64_t now = 0; now < milliseconds; ++now) {
    serve(now);
    arrive(now);
    if (now % step_ == 0) report(now);
    const bool steered = apply(now, smvs);
    backlog_ += demand ? demand(now) : 0;
    inject(now);
    if (steered) answer(now);
    result.mean_queue += queued_ / static_cast<double>(milliseconds);
    result.queue.push_back(queued_);
  }
  std::sort(delays_.begin(), delays_.end());
  const auto part = [&](double share) {
    return delays_.empty() ? 0 : delays_[static_cast<std::size_t>(share * static_cast<double>(delays_.size() - 1))];
  };
  result.utilisation = served_ / offered_;
  result.delay_p50_ms = part(0.5);
  result.delay_p95_ms = part(0.95);
  result.capacity_bps = offered_ * 8000 / static_cast<double>(milliseconds);
  result.delivered = static_cast<std::uint64_t>(served_);
  return result;
}

inline void IdealLink::serve(std::int64_t now) {
  double room = capacity(now);
  offered_ += room;
  while (room > 1e-9 && !queue_.empty()) {
    Packet& first = queue_.front();
    const double part = std::min(room, first.left);
    first.left -= part;
    room -= part;
    queued_ -= part;
    served_ += part;
    if (first.left > 1e-9) return;
    delays_.push_back(static_cast<double>(now - first.arrival));
    queue_.pop_front();
  }
}

inline void IdealLink::arrive(std::int64_t now) {
  const auto limit = static_cast<double>(parameters.buffer.count());
  for (double size = 0; down_.take(now, size);) {
    arrived_ += size;
    if (limit > 0 && queued_ + size > limit) continue;
    queue_.push_back({now, size});
    queued_ += size;
  }
  for (feedback::BearerStatus status; statuses_.take(now, status);)
    outstanding_.on_status(at(now), status, static_cast<std::uint64_t>(arrived_));
}

inline void IdealLink::report(std::int64_t now) {
  Report report{
      {at(now), Bytes(queued_), static_cast<std::uint64_t>(arrived_), static_cast<std::uint64_t>(served_), {}},
      ++sequence_,
      {}};
  if (node_b_law_ != nullptr) {
    report.seen.in_flight = outstanding_.in_flight(at(now), report.seen.arrived);
    report.allowance = node_b_law_->step(report.seen);
    outstanding_.granted(at(now), report.sequence, report.allowance);
  }
  if (std::uniform_real_distribution<>()(random_) < report_loss) return;
  reports_.in_transit.emplace_back(now + delay_, report);
}

inline bool IdealLink::apply(std::int64_t now, Smvs& smvs) {
  bool steered = false;
  for (Report report; reports_.take(now, report); steered = true) {
    if (node_b_law_ == nullptr) {
      report.seen.in_flight = in_flight_.on_report(at(now), report.seen.arrived);
      report.allowance = smvs.step(report.seen);
    }
    allowance_.grant(report.allowance);
    applied_ = report.sequence;
  }
  return steered;
}

inline void IdealLink::answer(std::int64_t now) {
  feedback::BearerStatus status;
  status.injected = in_flight_.total();
  status.applied_sequence = applied_;
  status.allowance_left = allowance_.left();
  statuses_.in_transit.emplace_back(now + delay_, status);
}

inline void IdealLink::inject(std::int64_t now) {
  const auto size = static_cast<double>(packet.count());
  while ((!demand || backlog_ >= size) && allowance_.take(packet)) {
    if (demand) backlog_ -= size;
    in_flight_.on_sent(at(now), packet);
    if (std::uniform_real_distribution<>()(random_) >= packet_loss) down_.in_transit.emplace_back(now + delay_, size);
  }
}

}  // namespace sluice::control::test
