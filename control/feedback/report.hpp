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

/// Price that the CLAMP algorithm at the Node-B computes from the length of the queue (Andrew, Hanly & Mukhtar, TMC
/// 2008). A higher price makes the windows of the flows smaller.
struct ClampPrice {
  Bytes mean_queue;  ///< q̄: mean queue length in bytes
  Duration price{};  ///< p: congestion price of the queue, which the CLAMP algorithm expresses as a time
};

/// Radio queue of one UE as the Node-B reports it. All counters are cumulative since the sender's epoch began.
struct BearerReport {
  IpAddress ue;
  RadioState state = RadioState::normal;
  Bytes queue;  ///< bytes that wait in the queue now; counted in whole frames if the cell queues frames
  std::uint32_t queue_frames = 0;
  Bytes buffer;                   ///< capacity of the queue in bytes; 0 = unlimited
  std::uint64_t arrived = 0;      ///< IP bytes that have arrived at the queue, including dropped ones
  std::uint64_t transmitted = 0;  ///< bytes that left the queue over the air
  std::uint64_t delivered = 0;    ///< bytes that the UE has received
  std::uint64_t dropped = 0;
  Rate service_rate;       ///< service rate over the last report period
  Rate mean_service_rate;  ///< running mean of the service rate, computed by the sender
  std::uint32_t active_flows = 0;
  std::uint32_t active_users = 0;
  std::optional<ClampPrice> clamp;
  std::optional<Bytes> gwa_window;  ///< φ in the GWA paper (Gerla et al., 2002): window that Generalized Window
                                    ///< Advertising offers to each flow, if the Node-B computes it

  /// bytes that the proxy may send in the next period, if the controller runs at the Node-B
  std::optional<Bytes> allowance;
};

/// True if two reports of a UE agree in all values of that UE, so that the second one may be omitted. The value
/// active_users describes the cell and is not compared. The allowance is not compared while the queue is empty; the
/// earlier allowance then remains valid until `arrived` shows that it is used up.
[[nodiscard]] inline bool is_omissible(const BearerReport& a, const BearerReport& b) {
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

/// Upper limit of valid amounts. It exceeds any radio queue, and sums and products of such values do not overflow.
inline constexpr Bytes max_plausible{1'000'000'000'000};
/// Upper limit of valid rates. It exceeds the rate of any radio link, and sums and products of such values do not
/// overflow.
inline constexpr Rate fastest_plausible = Rate::bits_per_second(1e15);

/// Limits the amounts and rates of a report to plausible values, because even an authenticated sender may be faulty.
/// Counters are not changed; they count modulo 2^64.
inline void bound(BearerReport& report) {
  for (Bytes* const amount : {&report.queue, &report.buffer}) *amount = std::min(*amount, max_plausible);
  for (Rate* const rate : {&report.service_rate, &report.mean_service_rate}) *rate = std::min(*rate, fastest_plausible);
  if (report.clamp) report.clamp->mean_queue = std::min(report.clamp->mean_queue, max_plausible);
  if (report.gwa_window) report.gwa_window = std::min(*report.gwa_window, max_plausible);
  if (report.allowance) report.allowance = std::min(*report.allowance, max_plausible);
}

/// Largest rate and queue that a UE's radio link can have, used to check reports.
struct CellRange {
  Rate rate = Rate::bits_per_second(20e9);  ///< peak rate of a 5G cell (3GPP TR 38.913 section 7.1)
  Bytes queue{std::int64_t{1} << 30};
};

/// Returns the IP bytes that wait in the queue according to the counters; 0 if the counters contradict each other.
[[nodiscard]] inline Bytes waiting(const BearerReport& report) {
  const std::uint64_t kept = report.arrived - std::min(report.transmitted, report.arrived);
  const std::uint64_t waits = kept - std::min(report.dropped, kept);
  return Bytes(static_cast<std::int64_t>(std::min<std::uint64_t>(waits, INT64_MAX)));
}

/// True if the values of a report that a controller uses are possible in a cell with the limits `cell`. `buffer` and
/// `gwa_window` may have any value, because an unlimited queue has a large one.
[[nodiscard]] inline bool plausible(const BearerReport& report, const CellRange& cell) {
  const auto fits = [&cell](Bytes amount) { return amount <= cell.queue; };
  return report.service_rate <= cell.rate && report.mean_service_rate <= cell.rate && fits(report.queue) &&
         fits(waiting(report)) && fits(report.allowance.value_or(Bytes{})) &&
         (!report.clamp || fits(report.clamp->mean_queue));
}

/// State of one UE's bearer at the proxy, as the proxy sends it to the Node-B.
struct BearerStatus {
  IpAddress ue;
  std::uint64_t injected = 0;  ///< IP bytes sent towards the radio, cumulative in the proxy's epoch
  /// sequence number of the newest report whose allowance (bytes to send) the proxy has applied; 0 = none
  std::uint64_t applied_sequence = 0;
  Bytes backlog;         ///< bytes that the proxy holds for the UE and has not sent yet
  Bytes allowance_left;  ///< bytes of the applied allowance that were unused when the status was sent
  std::uint32_t active_flows = 0;
  /// Sender id of the Node-B whose report has the sequence number in `applied_sequence`. Not set if the proxy has
  /// received no report, or does not send this field.
  std::optional<std::uint64_t> reporter = std::nullopt;
};

}  // namespace sluice::control::feedback
