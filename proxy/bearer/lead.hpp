#pragma once

#include <cstdint>

#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/policy/treatment.hpp"

namespace sluice::proxy {

/// Who decides what the radio leg of a bearer sends: congestion control, what the Node-B reports, or what the UE
/// acknowledges. A pure state machine. What follows from its state is worked out when that changes: each segment asks.
class Lead {
 public:
  /// `ordinary`: the UE is of the control group, and nothing steers it.
  Lead(const Treatment& treatment, bool ordinary);

  /// Reports come in time from now on, or no longer do.
  void heed_reports(const Treatment& treatment, bool in_time);
  /// So soon the loop is closed by reports, and so soon by acknowledgements (zero: not known). Where no report is
  /// needed the sooner one leads. `doubted`: the acknowledgements contradict the reports.
  void compare(const Treatment& treatment, Duration by_reports, Duration by_acks, bool doubted);

  /// What the Node-B reports, or the UE acknowledges, may decide what is sent.
  [[nodiscard]] bool steerable() const { return steerable_; }
  /// Nothing but reports steers, or what stands in for them while they are late.
  [[nodiscard]] bool needs_reports() const { return needs_reports_; }
  /// Reports come in time.
  [[nodiscard]] bool heeds_reports() const { return heeds_reports_; }
  /// … and decide what is sent: they are needed, or they tell of the queue sooner than acknowledgements do.
  [[nodiscard]] bool led_by_reports() const { return led_by_reports_; }
  /// Reports come, or none are needed, and a law makes something of it.
  [[nodiscard]] bool has_feedback() const { return has_feedback_; }

  /// Feedback decides what the radio leg sends right now; never outside a mode that needs feedback.
  [[nodiscard]] bool steered() const { return steered_; }
  /// What stands in for the congestion window. A law of windows leaves it in force and bounds what is in flight
  /// besides, as the window of an ACK does in its paper.
  [[nodiscard]] tcp::WindowSource window_source() const {
    return steered_ && !windowed_ ? tcp::WindowSource::allowance : tcp::WindowSource::congestion_control;
  }
  /// A law listens to the acknowledgements of the UE.
  [[nodiscard]] bool listens() const { return listens_; }
  /// … and it decides what is sent now.
  [[nodiscard]] bool clocked() const { return clocked_; }
  /// Each flow has a window of its own instead of a part of an allowance, while there is feedback.
  [[nodiscard]] bool windowed() const { return windowed_; }
  /// … which goes into the ACKs towards the UE, too.
  [[nodiscard]] bool windowed_both_ways() const { return both_ways_; }
  /// … and it bounds what a split connection sends.
  [[nodiscard]] bool bounds() const { return bounds_; }

 private:
  void settle(const Treatment& treatment);

  bool steerable_ : 1;
  bool needs_reports_ : 1;
  bool heeds_reports_ : 1 = false;
  bool reports_sooner_ : 1 = false;  ///< where none is needed: they close the loop sooner than acknowledgements
  // What follows.
  bool led_by_reports_ : 1 = false;
  bool has_feedback_ : 1 = false;
  bool windowed_ : 1 = false;
  bool both_ways_ : 1 = false;
  // What each segment asks is a byte: it takes fewer instructions.
  bool listens_;
  bool steered_ = false;
  bool clocked_ = false;
  bool bounds_ = false;
};
static_assert(sizeof(Lead) == 5, "part of each bearer");

}  // namespace sluice::proxy
