#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control::feedback {

enum class RadioState : std::uint8_t { normal = 0, outage = 1, handover = 2, released = 3 };

/// CLAMP's price agent (TMC 2008 section 3).
struct ClampPrice {
  Bytes mean_queue;  ///< q̄
  Duration price{};  ///< p, seconds in the paper
};

/// One UE's radio queue as the Node-B sees it. All counters are cumulative since the sender's epoch began.
struct BearerReport {
  IpAddress ue;
  RadioState state = RadioState::normal;
  Bytes queue;  ///< waiting now; in frame-sized units where the cell queues frames
  std::uint32_t queue_frames = 0;
  Bytes buffer;                   ///< the most the queue can hold; 0 = unlimited
  std::uint64_t arrived = 0;      ///< IP bytes that reached the queue, dropped ones included
  std::uint64_t transmitted = 0;  ///< bytes that left the queue over the air
  std::uint64_t delivered = 0;    ///< bytes that reached the UE
  std::uint64_t dropped = 0;
  Rate service_rate;       ///< over the last period
  Rate mean_service_rate;  ///< the sender's running mean
  std::uint32_t active_flows = 0;
  std::uint32_t active_users = 0;
  std::optional<ClampPrice> clamp;
  std::optional<Bytes> gwa_window;  ///< GWA φ
  std::optional<Bytes> allowance;   ///< what may be injected in the next period, where the Node-B computes the law
};

/// Whether a report says what the one before did, as far as it is of the UE: whoever has that one knows all. What is
/// not the UE's own (users of the cell) does not count, and of an empty queue that nothing has reached the allowance
/// does not: the one before stands until it is spent, which then shows.
[[nodiscard]] inline bool same_but_for_others(const BearerReport& a, const BearerReport& b) {
  const auto queue = [](const BearerReport& r) { return std::tie(r.state, r.queue, r.queue_frames, r.buffer); };
  const auto counters = [](const BearerReport& r) {
    return std::tie(r.arrived, r.transmitted, r.delivered, r.dropped, r.active_flows);
  };
  const auto clamp = [](const BearerReport& r) {
    return r.clamp ? std::optional(std::pair(r.clamp->mean_queue, r.clamp->price)) : std::nullopt;
  };
  const bool same_allowance = a.allowance == b.allowance || (a.allowance && b.allowance && a.queue == Bytes{});
  return queue(a) == queue(b) && counters(a) == counters(b) && same_allowance && clamp(a) == clamp(b) &&
         a.gwa_window == b.gwa_window && a.service_rate == b.service_rate && a.mean_service_rate == b.mean_service_rate;
}

/// Beyond any radio link and its queue; sums and products of such amounts stay defined.
inline constexpr Bytes most_plausible{1'000'000'000'000};
inline constexpr Rate fastest_plausible = Rate::bits_per_second(1e15);

/// Makes the amounts and rates of a report no more than plausible: its sender is authenticated, which does not make it
/// sane. Counters stay as they are; they count modulo 2^64.
inline void bound(BearerReport& report) {
  for (Bytes* const amount : {&report.queue, &report.buffer}) *amount = std::min(*amount, most_plausible);
  for (Rate* const rate : {&report.service_rate, &report.mean_service_rate}) *rate = std::min(*rate, fastest_plausible);
  if (report.clamp) report.clamp->mean_queue = std::min(report.clamp->mean_queue, most_plausible);
  if (report.gwa_window) report.gwa_window = std::min(*report.gwa_window, most_plausible);
  if (report.allowance) report.allowance = std::min(*report.allowance, most_plausible);
}

/// What a UE's radio link and its queue can be at most, where the report is used.
struct CellRange {
  Rate rate = Rate::bits_per_second(20e9);  ///< the peak of a 5G cell (3GPP TR 38.913 section 7.1)
  Bytes queue{std::int64_t{1} << 30};
};

/// IP bytes that wait in the queue by the report's counters; 0 where they contradict each other.
[[nodiscard]] inline Bytes waiting(const BearerReport& report) {
  const std::uint64_t kept = report.arrived - std::min(report.transmitted, report.arrived);
  const std::uint64_t waits = kept - std::min(report.dropped, kept);
  return Bytes(static_cast<std::int64_t>(std::min<std::uint64_t>(waits, INT64_MAX)));
}

/// Whether a report can be of such a cell, in everything that a law would go by. A buffer, and a window made of it, may
/// be anything: a queue without limit has a large one.
[[nodiscard]] inline bool plausible(const BearerReport& report, const CellRange& cell) {
  const auto fits = [&cell](Bytes amount) { return amount <= cell.queue; };
  return report.service_rate <= cell.rate && report.mean_service_rate <= cell.rate && fits(report.queue) &&
         fits(waiting(report)) && fits(report.allowance.value_or(Bytes{})) &&
         (!report.clamp || fits(report.clamp->mean_queue));
}

/// The proxy's side of one bearer, sent towards the Node-B.
struct BearerStatus {
  IpAddress ue;
  std::uint64_t injected = 0;          ///< IP bytes the proxy has sent towards the radio, cumulative in its epoch
  std::uint64_t applied_sequence = 0;  ///< sequence of the newest report whose allowance was taken up; 0 = none
  Bytes backlog;                       ///< bytes the proxy holds for this bearer and has not sent
  Bytes allowance_left;                ///< what of that allowance is still unused at the moment of sending
  std::uint32_t active_flows = 0;
  /// Sender id of the Node-B whose reports it answers, and whose sequence numbers applied_sequence is of. Absent: of a
  /// proxy that has heard none, or does not say.
  std::optional<std::uint64_t> reporter = std::nullopt;
};

}  // namespace sluice::control::feedback
