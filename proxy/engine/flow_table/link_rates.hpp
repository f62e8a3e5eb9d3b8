#pragma once

#include <cstdint>

#include "control/long_term_rate.hpp"
#include "dataplane/flow/lazy_array.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/report_arrival.hpp"
#include "proxy/engine/bearer/bearer.hpp"

namespace sluice::proxy {

/// Long-term rates of the UEs' radio links, one for each bearer. A policy that advises a share of the rate needs them
/// (scone_link_share). They come from Node-B reports, and from the ACK-based controller while reports are late.
///
/// Address space is reserved at construction, and memory is used from the first sample on. Thread: the shard's.
class LinkRates {
 public:
  /// Shortest time between two samples of the ACK-based controller's state. Times in which the link is the bottleneck
  /// are thus known to about 50 ms.
  static constexpr Duration min_interval = std::chrono::milliseconds(50);

  /// Reserves address space for `bearers` bearers. Throws std::bad_alloc.
  explicit LinkRates(std::uint32_t bearers) : rates_(bearers) {}

  /// Adds a sample from the ACK-based controller of the bearer, unless the last sample is recent. Has no effect while
  /// Node-B reports arrive in time, because they show the queue itself.
  void sample(const Bearer& bearer, Instant now);
  /// Call it before the bearer processes a Node-B report. If the report is from another Node-B or another run of it,
  /// its counters are not compared with those of earlier reports.
  void before_report(const Bearer& bearer, const ReportArrival& report);
  /// Adds a sample from a Node-B report that the bearer has applied.
  void on_report(const Bearer& bearer, const ReportArrival& report, Instant now);
  /// Returns the long-term rate of the link of a UE; zero while it is unknown. `bearer` is any bearer of the UE. Of its
  /// bearers, the one whose link was the bottleneck for the longest time decides.
  [[nodiscard]] Rate rate(const Bearer& bearer, Instant now) const;

  /// Returns the long-term rate that was measured for this bearer, without those for other bearers of its UE.
  [[nodiscard]] const control::LongTermRate& of(const Bearer& bearer) const { return rates_[bearer.id]; }

  /// Copies the rate of another bearer of the same UE to a new bearer.
  void inherit(const Bearer& bearer, const Bearer& before);
  /// Discards the rate of a bearer that ends, because another UE may get its place.
  void forget(const Bearer& bearer);

 private:
  flow::LazyArray<control::LongTermRate> rates_;  ///< long-term rates, by Bearer::id
  bool any_ = false;                              ///< true after the first sample
};

}  // namespace sluice::proxy
